"""Kept-alive connections to one origin: made by urllib3 (names, certificates, time to connect), kept here.

So many at a time and no more; the last one used is the first one used again.
"""

from __future__ import annotations

import socket
import threading
import time
from collections import deque
from collections.abc import Callable

from urllib3 import exceptions as faults
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.util.wait import wait_for_read

from sms.providers.addresses import public_address
from sms.providers.exchange import Reader


class NoneFree(Exception):
    """All connections stayed in use for as long as the caller could wait."""


class PublicHttps(HTTPSConnection):
    """Connects to the very address that was found to be public; the certificate is still the name's."""

    def _new_conn(self) -> socket.socket:
        name = self._dns_host
        try:
            self._dns_host = public_address(name, self.port)
            return super()._new_conn()
        except socket.gaierror as exc:
            raise faults.NameResolutionError(name, self, exc) from exc
        finally:
            self._dns_host = name


class Connection:
    """One connection, and the reader of its answers."""

    def __init__(self, dialled: HTTPConnection) -> None:
        """`dialled` is connected."""
        if dialled.sock is None:
            raise OSError(0, "not connected")
        self._dialled, self.sock, self.reader = dialled, dialled.sock, Reader()

    def is_fresh(self) -> bool:
        """Whether it can take a request: nothing has come that nobody asked for, no end of it either."""
        return not wait_for_read(self.sock, timeout=0.0)

    def close(self) -> None:
        self._dialled.close()


class Pool:
    """At most `size` connections at a time; safe to share between threads."""

    def __init__(self, dial: Callable[[float], HTTPConnection], size: int) -> None:
        """`dial(seconds)` makes a connection that is to be connected within so many seconds."""
        self._dial = dial
        self._idle: deque[Connection] = deque()
        self._room = threading.BoundedSemaphore(size)

    def take(self, *, deadline: float, connect_s: float) -> Connection:
        """A connection for one request, to be handed back by `give_back` or `drop`.

        Raises NoneFree when `deadline` passes first, and whatever connecting raises.
        """
        if not self._room.acquire(blocking=False):
            left = deadline - time.monotonic()
            if not self._room.acquire(timeout=max(left, 0.001)):
                raise NoneFree
        try:
            return self._idle_one() or self._new(deadline, connect_s)
        except BaseException:
            self._room.release()
            raise

    def give_back(self, connection: Connection) -> None:
        self._idle.append(connection)
        self._room.release()

    def drop(self, connection: Connection) -> None:
        connection.close()
        self._room.release()

    def _idle_one(self) -> Connection | None:
        while True:
            try:
                connection = self._idle.pop()
            except IndexError:
                return None
            if connection.is_fresh():
                return connection
            connection.close()

    def _new(self, deadline: float, connect_s: float) -> Connection:
        left = max(deadline - time.monotonic(), 0.001)
        dialled = self._dial(min(left, connect_s))
        try:
            dialled.connect()
            return Connection(dialled)
        except BaseException:
            dialled.close()
            raise
