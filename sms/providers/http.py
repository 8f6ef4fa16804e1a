"""One request to a provider, and an honest answer to the only question that matters: was it written?

A request of which no byte was handed to the socket can not have been accepted, and may be tried
again. From the first byte on, everything that is not an answer leaves the message in doubt. So the
line is drawn where the bytes go out (`_exchanged`), not by guessing from the kind of error.

One pool of kept-alive connections per process and origin; no retries, no redirects, no proxy from
the environment, a total deadline that a slowly dripping answer can not stretch, a bounded answer.
"""

from __future__ import annotations

import http.client
import os
import re
import ssl
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import quote_plus, urlsplit

from httptools import HttpParserError
from urllib3 import exceptions as faults
from urllib3.connection import HTTPConnection, HTTPSConnection

from sms.providers.addresses import AddressRefused, is_loopback
from sms.providers.connections import Connection, NoneFree, Pool, PublicHttps
from sms.providers.exchange import TooLong, bound, request_bytes

MAX_CONNECTIONS = 64
MAX_ANSWER_BYTES = 64 * 1024
MAX_LIST_BYTES = 1024 * 1024  # a page of a hundred long messages
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


class _TooLate(Exception):
    """The deadline was over before the first byte."""


Origin = tuple[str, str, int, bool]  # scheme, host, port, and whether only public addresses will do
_pools: dict[Origin, Pool] = {}
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
        self._host = parts.netloc.removesuffix(":443" if parts.scheme == "https" else ":80")
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
        deadline = time.monotonic() + deadline_s
        pool = _pool(self._origin)
        try:
            message = request_bytes(verb, self._host, self._prefix + path, body, headers)
            connection = pool.take(deadline=deadline, connect_s=CONNECT_TIMEOUT_S)
        except AddressRefused as exc:
            return CallFault("address_refused", type(exc).__name__)
        except (faults.HTTPError, OSError, ValueError, NoneFree) as exc:
            return CallFault(_fault_before_writing(exc), type(exc).__name__)
        return _exchanged(pool, connection, message, deadline, max_bytes)


def _exchanged(
    pool: Pool, connection: Connection, message: bytes, deadline: float, max_bytes: int
) -> Reply | CallFault:
    """The request on a connection that is ours: from `sendall` on, only an answer leaves no doubt."""
    left = deadline - time.monotonic()
    if left <= 0:
        pool.give_back(connection)
        return CallFault("too_late", _TooLate.__name__)
    try:
        bound(connection.sock, left)
        connection.sock.sendall(message)
        answer = connection.reader.read(connection.sock, max_bytes=max_bytes, deadline=deadline)
    except TooLong as exc:
        pool.drop(connection)
        return CallFault("unreadable_answer", type(exc).__name__)
    except (HttpParserError, http.client.HTTPException, OSError, ValueError) as exc:
        pool.drop(connection)
        late = isinstance(exc, TimeoutError)
        return CallFault("answer_timeout" if late else "connection_lost", type(exc).__name__)
    except BaseException:
        pool.drop(connection)
        raise
    (pool.give_back if answer.reusable else pool.drop)(connection)
    return Reply(answer.status, answer.body, _retry_after(answer.retry_after))


_name = lru_cache(maxsize=64)(quote_plus)  # the same few names with every message


def _quoted(value: str) -> str:
    """A form's value. Where a text is not Latin every byte is written in hexadecimal, which is as right as
    leaving some as they are, and many times faster: the standard library looks at each byte by itself."""
    if value.isascii():
        return quote_plus(value)
    return "%" + value.encode("utf-8", "replace").hex("%")


def _pool(origin: Origin) -> Pool:
    with _pools_lock:
        if origin not in _pools:
            _pools[origin] = _new_pool(origin)
        return _pools[origin]


def _new_pool(origin: Origin) -> Pool:
    scheme, host, port, public_only = origin
    if scheme == "http":
        return Pool(lambda seconds: HTTPConnection(host, port, timeout=seconds), MAX_CONNECTIONS)
    kind = PublicHttps if public_only else HTTPSConnection
    context = ssl.create_default_context()
    return Pool(lambda seconds: kind(host, port, timeout=seconds, ssl_context=context), MAX_CONNECTIONS)


def _fault_before_writing(exc: Exception) -> str:
    match exc:
        case NoneFree():
            return "no_free_connection"
        case faults.NameResolutionError():
            return "dns_failed"
        case faults.SSLError() | ssl.SSLError():
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
