FROM python:3.11-slim-bookworm

WORKDIR /srv/peyk
RUN useradd --create-home --uid 1000 peyk && chown peyk:peyk /srv/peyk
USER peyk

# The packages first: they change less often than the code.
COPY --chown=peyk:peyk script/ script/
COPY --chown=peyk:peyk requirements.lock requirements.lock
RUN python -m script.bootstrap demo

COPY --chown=peyk:peyk . .
EXPOSE 8000
CMD ["script/server"]
