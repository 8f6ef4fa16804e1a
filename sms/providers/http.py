"""One request to a provider, and an honest answer to the only question that matters: was it written?

A request of which no byte was handed to the socket can not have been accepted, and may be tried
again. From the first byte on, everything that is not an answer leaves the message in doubt. So the
line is drawn where the bytes go out (`_note_writing`), not by guessing from the kind of error.

One pool of kept-alive connections per process and origin; no retries, no redirects, no proxy from
the environment, a total deadline that a slowly dripping answer can not stretch, a bounded answer.
"""

from __future__ import annotations

import http.client
import io
import logging
import os
import re
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Protocol
from urllib.parse import quote_plus, urlsplit

import urllib3
from urllib3 import exceptions as faults
from urllib3.connection import HTTPConnection, HTTPSConnection

from sms.providers.addresses import AddressRefused, is_loopback, public_address

# Its debug lines hold the address of each call, where some providers want their key.
logging.getLogger("urllib3.connectionpool").setLevel(logging.INFO)

MAX_CONNECTIONS = 64
MAX_ANSWER_BYTES = 64 * 1024
MAX_LIST_BYTES = 1024 * 1024  # a page of a hundred long messages
CONNECT_TIMEOUT_S = 5.0
SLACK_S = 0.02


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
        _bound(self._sock, left)
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
        _bound(connection.sock, max(call.left(), 0.001))


def _bound(sock: socket.socket, left: float) -> None:
    """Let the next read or write take no longer than `left`, give or take `SLACK_S`.

    Setting a timeout lets other threads in; with many of them the way back costs more than the call.
    """
    current = sock.gettimeout()
    if current is None or current - left > SLACK_S:
        sock.settimeout(left)


class _OneWrite:
    """Headers and body leave in one write: half the system calls, and one segment on the wire.

    Mixed into a connection. The headers are held back until the body that is known to follow comes.
    """

    _headers: bytes | None = None
    _body_follows = False

    def request(self, method: str, url: str, body: Any = None, *args: Any, **options: Any) -> None:
        self._headers, self._body_follows = None, isinstance(body, bytes) and bool(body)
        super().request(method, url, body, *args, **options)  # type: ignore[misc]  # the connection's

    def send(self, data: Any) -> None:
        if self._body_follows:
            self._headers, self._body_follows = data, False
            return
        if self._headers is not None:
            data, self._headers = self._headers + data, None
        _note_writing(self)  # type: ignore[arg-type]  # the connection it is mixed into
        super().send(data)  # type: ignore[misc]  # the connection's


class _Http(_OneWrite, HTTPConnection):
    response_class = _DeadlineResponse


class _Https(_OneWrite, HTTPSConnection):
    response_class = _DeadlineResponse


class _PublicHttps(_Https):
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


class _HttpPool(urllib3.HTTPConnectionPool):
    ConnectionCls = _Http


class _HttpsPool(urllib3.HTTPSConnectionPool):
    ConnectionCls = _Https


class _PublicHttpsPool(urllib3.HTTPSConnectionPool):
    ConnectionCls = _PublicHttps


Origin = tuple[str, str, int, bool]  # scheme, host, port, and whether only public addresses will do
_pools: dict[Origin, urllib3.HTTPConnectionPool] = {}
_pools_lock = threading.Lock()


def _forget_pools() -> None:
    """A forked child must not talk over its parent's sockets."""
    global _pools_lock
    _pools_lock = threading.Lock()
    _pools.clear()


os.register_at_fork(after_in_child=_forget_pools)


_ADDRESS = re.compile(r"https?://[A-Za-z0-9.:\[\]_-]+(?:/[!-\[\]-~]*)?", re.ASCII)
FORM = {"Content-Type": "application/x-www-form-urlencoded", "User-Agent": "Peyk"}


class Channel:
    """The way to one origin, such as `https://rest.example.com`. Cheap to make; the pool is shared."""

    def __init__(self, base_url: str, *, public_only: bool = False) -> None:
        """`public_only`: for an address that a customer typed. It leads to the public internet, by https
        and its usual port, or nowhere.

        Raises ValueError unless `base_url` is https, or http to this machine, without credentials.
        """
        parts = urlsplit(base_url)
        host = parts.hostname or ""
        if not _ADDRESS.fullmatch(base_url) or not host:
            raise ValueError("a provider's address is https://host[:port][/path]")
        if parts.scheme == "http" and not is_loopback(host):
            raise ValueError("a password is not sent over plain http")
        port = parts.port or (443 if parts.scheme == "https" else 80)
        if public_only and (parts.scheme, port) != ("https", 443):
            raise ValueError("a public address is https on its usual port")
        self._origin = (parts.scheme, host, port, public_only)
        self._prefix = parts.path.rstrip("/")

    def post(
        self, path: str, form: Mapping[str, str], *, deadline_s: float, max_bytes: int = MAX_ANSWER_BYTES
    ) -> Reply | CallFault:
        """One POST of a form to `path`, done within `deadline_s` or given up."""
        body = "&".join([f"{_name(name)}={_quoted(value)}" for name, value in form.items()]).encode()
        return self.request("POST", path, body, FORM, deadline_s=deadline_s, max_bytes=max_bytes)

    def request(
        self,
        verb: str,
        path: str,
        body: bytes | None,
        headers: Mapping[str, str],
        *,
        deadline_s: float,
        max_bytes: int = MAX_ANSWER_BYTES,
    ) -> Reply | CallFault:
        """One request, done within `deadline_s` or given up. An answer beyond `max_bytes` is unreadable."""
        _current.call = call = _Call(deadline=time.monotonic() + deadline_s)
        try:
            return self._exchange(verb, self._prefix + path, body, headers, call, max_bytes)
        except (faults.HTTPError, http.client.HTTPException, OSError, ValueError, _TooLate) as exc:
            return CallFault(_fault_code(exc, written=call.written), type(exc).__name__)
        except AddressRefused as exc:
            return CallFault("address_refused", type(exc).__name__)

    def _exchange(
        self,
        verb: str,
        path: str,
        body: bytes | None,
        headers: Mapping[str, str],
        call: _Call,
        max_bytes: int,
    ) -> Reply | CallFault:
        left = max(call.left(), 0.001)
        response = _pool(self._origin).urlopen(
            verb,
            path,
            body=body,
            headers=headers,
            retries=False,
            redirect=False,
            timeout=urllib3.Timeout(connect=min(left, CONNECT_TIMEOUT_S), read=left),
            pool_timeout=left,  # type: ignore[arg-type]  # the queue below takes fractions too
            preload_content=False,
            decode_content=False,
        )
        answer = _read(response, max_bytes)
        if len(answer) > max_bytes:
            response.close()
            return CallFault("unreadable_answer", "TooLong")
        response.release_conn()
        return Reply(response.status, answer, _retry_after(response.headers.get("Retry-After")))


def _read(response: urllib3.BaseHTTPResponse, max_bytes: int) -> bytes:
    """The answer, at most a byte more than it may have. One whose length was told is read in one piece,
    without a buffer of pieces."""
    known = response.length_remaining
    is_short = known is not None and known <= max_bytes
    return response.read() if is_short else response.read(max_bytes + 1)


_name = lru_cache(maxsize=64)(quote_plus)  # the same few names with every message


def _quoted(value: str) -> str:
    """A form's value. Where a text is not Latin every byte is written in hexadecimal, which is as right as
    leaving some as they are, and many times faster: the standard library looks at each byte by itself."""
    if value.isascii():
        return quote_plus(value)
    return "%" + value.encode("utf-8", "replace").hex("%")


def _pool(origin: Origin) -> urllib3.HTTPConnectionPool:
    with _pools_lock:
        if origin not in _pools:
            _pools[origin] = _new_pool(origin)
        return _pools[origin]


def _new_pool(origin: Origin) -> urllib3.HTTPConnectionPool:
    scheme, host, port, public_only = origin
    options: dict[str, Any] = {"maxsize": MAX_CONNECTIONS, "block": True, "retries": False}
    if scheme == "http":
        return _HttpPool(host, port, **options)
    kind = _PublicHttpsPool if public_only else _HttpsPool
    return kind(host, port, ssl_context=ssl.create_default_context(), **options)


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
