"""The queue in the hands of a soak: what waits in it is seen, lost and put back."""

from __future__ import annotations

from typing import Any, Protocol

from django.utils import timezone
from django_q.models import OrmQ

from tests.faults.servers import RedisServer, Servers

LIST = "automation"


class Broker(Protocol):
    """`kind` is the product's name for it."""

    kind: str

    def waiting(self) -> list[bytes]: ...
    def put(self, message: bytes) -> None: ...
    def lose(self) -> None: ...


class Embedded:
    """The table of django-q2."""

    kind = "django_q"

    def waiting(self) -> list[bytes]:
        return [payload.encode() for payload in OrmQ.objects.values_list("payload", flat=True)]

    def put(self, message: bytes) -> None:
        OrmQ.objects.create(key="peyk", payload=message.decode(), lock=timezone.localtime())

    def lose(self) -> None:
        OrmQ.objects.all().delete()


class OnRedis:
    """Celery's list of what nobody has taken yet."""

    kind = "celery"

    def __init__(self, server: RedisServer) -> None:
        self._server = server

    def waiting(self) -> list[bytes]:
        found: Any = self._server.client().lrange(LIST, 0, -1)
        return list(found)

    def put(self, message: bytes) -> None:
        self._server.client().lpush(LIST, message)

    def lose(self) -> None:
        self._server.client().delete(LIST)


def broker_of(queue: str, servers: Servers | None) -> Broker:
    """The broker behind one of QUEUES."""
    if queue != "celery":
        return Embedded()
    if servers is None:
        raise ValueError("Celery needs a Redis of one's own")
    return OnRedis(servers.redis)
