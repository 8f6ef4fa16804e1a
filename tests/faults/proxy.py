"""A wire to PostgreSQL that can be cut where it hurts: after the server committed, before we hear of it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any


class Proxy:
    """Forwards bytes. `lose_commit(n)` swallows the answer to the n-th COMMIT from now and hangs up."""

    def __init__(self, host: str, port: int) -> None:
        self._upstream = (host, port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self._left = 0
        self._lock = threading.Lock()
        self.lost = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def lose_commit(self, nth: int) -> None:
        with self._lock:
            self._left = nth

    def close(self) -> None:
        """Nobody comes in any more; who is in stays."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits in accept()
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(self._upstream)
            doomed = threading.Event()
            threading.Thread(target=self._forth, args=(client, server, doomed), daemon=True).start()
            threading.Thread(target=self._back, args=(client, server, doomed), daemon=True).start()

    def _forth(self, client: socket.socket, server: socket.socket, doomed: threading.Event) -> None:
        with suppress(OSError):
            while data := client.recv(65536):
                if b"COMMIT" in data and self._is_the_one():
                    doomed.set()
                server.sendall(data)
        _hang_up(server)

    def _back(self, client: socket.socket, server: socket.socket, doomed: threading.Event) -> None:
        with suppress(OSError):
            while data := server.recv(65536):
                if doomed.is_set():
                    self.lost += 1
                    break
                client.sendall(data)
        _hang_up(client)
        _hang_up(server)

    def _is_the_one(self) -> bool:
        with self._lock:
            self._left -= 1
            return self._left == 0


def _hang_up(end: socket.socket) -> None:
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()


@contextmanager
def proxy_to(entry: Mapping[str, Any]) -> Iterator[Proxy]:
    """A proxy in front of the server of a Django database entry."""
    wire = Proxy(entry["HOST"] or "127.0.0.1", int(entry["PORT"] or 5432))
    try:
        yield wire
    finally:
        wire.close()
