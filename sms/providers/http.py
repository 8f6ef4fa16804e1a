"""One POST to a provider, and an honest answer to the only question that matters: was it written?

A request of which no byte was handed to the socket can not have been accepted, and may be tried
again. From the first byte on, everything that is not an answer leaves the message in doubt. So the
line is drawn where the bytes go out (`_Guarded.send`), not by guessing from the kind of error.

One pool of kept-alive connections per process and origin; no retries, no redirects, no proxy from
the environment, a total deadline that a slowly dripping answer can not stretch, a bounded answer.
"""

from __future__ import annotations

import http.client
import io
import os
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any, Protocol
from urllib.parse import urlencode, urlsplit

import urllib3
from urllib3 import exceptions as faults
from urllib3.connection import HTTPConnection, HTTPSConnection

MAX_CONNECTIONS = 64
MAX_ANSWER_BYTES = 64 * 1024
CONNECT_TIMEOUT_S = 5.0


@dataclass(frozen=True, slots=True)
class Reply:
    """A complete answer. `body` is raw: no character set, no compression undone."""

    status: int
    body: bytes = field(repr=False)
    retry_after_s: int | None = None


@dataclass(frozen=True, slots=True)
class CallFault:
    """No usable answer. `code` is a word of `sms.providers.codes.CALL_FAULTS`, which says whether
    anything can have been sent; `detail` names the kind of error, never its text."""

    code: str
    detail: str = ""


@dataclass(slots=True)
class _Call:
    """The one call this thread is making. `written`: a byte has gone, or may have gone, to the socket."""

    deadline: float
    written: bool = False

    def left(self) -> float:
        return self.deadline - time.monotonic()


class _Current(threading.local):
    call: _Call


_current = _Current()


class _TooLate(Exception):
    """The deadline was over before the first byte."""


class _Connection(Protocol):
    sock: socket.socket | None

    def connect(self) -> None: ...
    def send(self, data: Any) -> None: ...


class _DeadlineReader(io.RawIOBase):
    """Reads an answer, giving each read only the time that is left of the whole call."""

    def __init__(self, raw: io.RawIOBase, sock: socket.socket, call: _Call) -> None:
        self._raw, self._sock, self._call = raw, sock, call

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._call.left()
        if left <= 0:
            raise TimeoutError("deadline")
        self._sock.settimeout(left)
        count: int | None = self._raw.readinto(buffer)
        return count

    def close(self) -> None:
        self._raw.close()
        super().close()


class _DeadlineResponse(http.client.HTTPResponse):
    def __init__(self, sock: socket.socket, *args: Any, **options: Any) -> None:
        super().__init__(sock, *args, **options)
        raw = self.fp.detach()
        self.fp = io.BufferedReader(_DeadlineReader(raw, sock, _current.call))


def _note_writing(connection: _Connection) -> None:
    """Connect if need be; then mark the call as written, unless its time is over."""
    if connection.sock is None:
        connection.connect()
    call = _current.call
    if not call.written:
        if call.left() <= 0:
            raise _TooLate
        call.written = True
    if connection.sock is not None:
        connection.sock.settimeout(max(call.left(), 0.001))


class _Http(HTTPConnection):
    response_class = _DeadlineResponse

    def send(self, data: Any) -> None:
        _note_writing(self)
        super().send(data)


class _Https(HTTPSConnection):
    response_class = _DeadlineResponse

    def send(self, data: Any) -> None:
        _note_writing(self)
        super().send(data)


class _HttpPool(urllib3.HTTPConnectionPool):
    ConnectionCls = _Http


class _HttpsPool(urllib3.HTTPSConnectionPool):
    ConnectionCls = _Https


_pools: dict[tuple[str, str, int], urllib3.HTTPConnectionPool] = {}
_pools_lock = threading.Lock()


def _forget_pools() -> None:
    """A forked child must not talk over its parent's sockets."""
    global _pools_lock
    _pools_lock = threading.Lock()
    _pools.clear()


os.register_at_fork(after_in_child=_forget_pools)


def is_loopback(host: str) -> bool:
    """Whether `host` can only be this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Channel:
    """The way to one origin, such as `https://rest.example.com`. Cheap to make; the pool is shared."""

    def __init__(self, base_url: str) -> None:
        """Raises ValueError unless `base_url` is https, or http to this machine, without credentials."""
        parts = urlsplit(base_url)
        host = parts.hostname or ""
        if parts.scheme not in ("https", "http") or not host or "@" in parts.netloc:
            raise ValueError("a provider's address is https://host[:port][/path]")
        if parts.scheme == "http" and not is_loopback(host):
            raise ValueError("a password is not sent over plain http")
        port = parts.port or (443 if parts.scheme == "https" else 80)
        self._origin = (parts.scheme, host, port)
        self._prefix = parts.path.rstrip("/")

    def post(self, path: str, form: Mapping[str, str], *, deadline_s: float) -> Reply | CallFault:
        """One POST of a form to `path`, done within `deadline_s` or given up."""
        _current.call = call = _Call(deadline=time.monotonic() + deadline_s)
        body = urlencode(form, errors="replace").encode()
        try:
            return self._exchange(self._prefix + path, body, call)
        except (faults.HTTPError, http.client.HTTPException, OSError, ValueError, _TooLate) as exc:
            return CallFault(_fault_code(exc, written=call.written), type(exc).__name__)

    def _exchange(self, path: str, body: bytes, call: _Call) -> Reply | CallFault:
        left = max(call.left(), 0.001)
        response = _pool(self._origin).urlopen(
            "POST",
            path,
            body=body,
            headers={"Content-Type": "application/x-www-form-urlencoded", "User-Agent": "Peyk"},
            retries=False,
            redirect=False,
            timeout=urllib3.Timeout(connect=min(left, CONNECT_TIMEOUT_S), read=left),
            pool_timeout=left,  # type: ignore[arg-type]  # the queue below takes fractions too
            preload_content=False,
            decode_content=False,
        )
        answer = response.read(MAX_ANSWER_BYTES + 1)
        if len(answer) > MAX_ANSWER_BYTES:
            response.close()
            return CallFault("unreadable_answer", "TooLong")
        response.release_conn()
        return Reply(response.status, answer, _retry_after(response.headers.get("Retry-After")))


def _pool(origin: tuple[str, str, int]) -> urllib3.HTTPConnectionPool:
    with _pools_lock:
        if origin not in _pools:
            scheme, host, port = origin
            options: dict[str, Any] = {"maxsize": MAX_CONNECTIONS, "block": True, "retries": False}
            _pools[origin] = (
                _HttpsPool(host, port, ssl_context=ssl.create_default_context(), **options)
                if scheme == "https"
                else _HttpPool(host, port, **options)
            )
        return _pools[origin]


def _fault_code(exc: Exception, *, written: bool) -> str:
    if written:
        late = isinstance(exc, (faults.TimeoutError, TimeoutError))
        return "answer_timeout" if late else "connection_lost"
    match exc:
        case _TooLate():
            return "too_late"
        case faults.EmptyPoolError():
            return "no_free_connection"
        case faults.NameResolutionError():
            return "dns_failed"
        case faults.SSLError():
            return "tls_failed"
        case faults.NewConnectionError():
            return "connection_refused"
        case faults.TimeoutError() | TimeoutError():
            return "connect_timeout"
    return "connection_refused"


def _retry_after(value: str | None) -> int | None:
    """Seconds, when the header is a sane number of them; a date or nonsense is None."""
    text = (value or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 5 else None
