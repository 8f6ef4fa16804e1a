"""Numbers for a monitoring system. Apps above register sources; nothing here knows what they count.

Every number is read from the database when it is asked for, so it is the same whichever web
process answers, and it is right after any restart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import structlog
from django.db import DatabaseError
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from core import health
from core.queue import queue

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Gauge:
    """One number with its labels; all of one name have the same `help` and the same label names."""

    name: str
    help: str
    value: float
    labels: Mapping[str, str] = field(default_factory=dict)


Source = Callable[[], Iterable[Gauge]]
_sources: dict[str, Source] = {}


def register(name: str, source: Source) -> None:
    """Add a source. It must be cheap at any number of rows: it runs for every scrape."""
    _sources[name] = source


def _signs_of_life() -> Iterator[Gauge]:
    state = health.look()
    yield Gauge("peyk_database_up", "1 when the database answers.", float(state.database))
    for name, age in state.ages.items():
        if age is not None:
            yield Gauge(
                "peyk_heartbeat_age_seconds",
                "Seconds since this part last gave a sign of life.",
                age,
                {"part": name},
            )


def _queue_depth() -> Iterator[Gauge]:
    yield Gauge("peyk_queue_messages", "Queue messages that no worker has taken yet.", queue().depth())


def gauges() -> Iterator[Gauge]:
    """Every number of every source; a source that fails is left out and named in the log."""
    for name, source in {"life": _signs_of_life, "queue": _queue_depth, **_sources}.items():
        try:
            yield from list(source())
        except (DatabaseError, OSError):  # the database or the broker is away: the others still count
            log.exception("metric_source_failed", source=name)


class _Families(Collector):
    """Gauges of one name become one family, as the text format wants it."""

    def __init__(self, values: Iterable[Gauge]) -> None:
        self.values = values

    def collect(self) -> Iterable[Metric]:
        families: dict[str, GaugeMetricFamily] = {}
        for gauge in self.values:
            family = families.setdefault(
                gauge.name, GaugeMetricFamily(gauge.name, gauge.help, labels=list(gauge.labels))
            )
            family.add_metric(list(gauge.labels.values()), gauge.value)
        return families.values()


def as_text() -> bytes:
    """All numbers in the Prometheus text format."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Families(list(gauges())))
    return bytes(generate_latest(registry))
