"""One request and its answer on a kept-alive connection: one write, and a parser in C for what comes back.

The parser is llhttp's (`httptools`). It is told to bear what clients commonly bear of a careless server (a
bare line feed, blanks after the size of a chunk): an answer that is read is better than a message in doubt.
"""

from __future__ import annotations

import http.client
import re
import socket
import time
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple
from urllib.parse import quote

from httptools import HttpParserError, HttpResponseParser

CHUNK: Final = 64 * 1024
MAX_HEAD_BYTES: Final = 64 * 1024
SLACK_S: Final = 0.02
_TARGET_SAFE: Final = "-._~:/?[]@!$&'()*+,;=%"
_target: Final = re.compile(rf"/[A-Za-z0-9{re.escape(_TARGET_SAFE)}]*", re.ASCII).fullmatch
_field: Final = re.compile(r"[\t -~\x80-\xff]*").fullmatch
_token: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", re.ASCII).fullmatch


class TooLong(Exception):
    """The answer is longer than the caller takes."""


class Answer(NamedTuple):
    """A complete answer; `reusable`: another request may follow on the connection."""

    status: int
    body: bytes
    retry_after: str | None
    reusable: bool


class Reader:
    """Puts the answers of one connection together, one after another."""

    def __init__(self) -> None:
        self._parser = HttpResponseParser(self)
        self._parser.set_dangerous_leniencies(
            lenient_headers=True, lenient_chunked_length=True, lenient_data_after_close=True,
            lenient_optional_lf_after_cr=True, lenient_optional_cr_before_lf=True,
            lenient_optional_crlf_after_chunk=True, lenient_spaces_after_chunk_size=True,
        )  # fmt: skip
        self._begin(0)

    def read(self, sock: socket.socket, *, max_bytes: int, deadline: float) -> Answer:
        """The next answer, whole by `deadline` (a `time.monotonic()` moment).

        Raises TimeoutError, TooLong, OSError for a connection that broke, and HttpParserError or
        http.client.HTTPException for what is no answer. After any of them the connection is of no use.
        """
        self._begin(max_bytes)
        while not self._done:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError("deadline")
            bound(sock, left)
            data = sock.recv(CHUNK)
            if not data:
                return self._ended()
            self._feed(data)
        reusable = not self._extra and self._keep_alive
        return Answer(self._status, b"".join(self._pieces), self._retry_after, reusable)

    def _begin(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._done = self._extra = self._in_body = self._is_bounded = self._keep_alive = False
        self._pieces: list[bytes] = []
        self._size = self._head = self._status = 0
        self._retry_after: str | None = None

    def _feed(self, data: bytes) -> None:
        if not self._in_body:
            self._head += len(data)
            if self._head > MAX_HEAD_BYTES + self._max_bytes + CHUNK:
                raise http.client.LineTooLong("header")
        try:
            self._parser.feed_data(data)
        except HttpParserError:
            if not self._done:
                raise
            self._extra = True  # the answer is whole; what follows it is nobody's
        if self._size > self._max_bytes:
            raise TooLong

    def _ended(self) -> Answer:
        """The other side closed: an answer of unknown length is whole then, any other is cut short."""
        if not self._status and not self._head:
            raise http.client.RemoteDisconnected("closed without an answer")
        if not self._in_body or self._is_bounded:
            raise http.client.IncompleteRead(b"")
        return Answer(self._parser.get_status_code(), b"".join(self._pieces), self._retry_after, False)

    def on_message_begin(self) -> None:
        if self._done:
            self._extra = True

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._done:
            return
        name = name.lower()
        if name == b"retry-after":
            self._retry_after = value.decode("latin-1")
        elif name in (b"content-length", b"transfer-encoding"):
            self._is_bounded = True

    def on_headers_complete(self) -> None:
        self._in_body = True

    def on_body(self, data: bytes) -> None:
        if self._done:
            return
        self._size += len(data)
        if self._size <= self._max_bytes:
            self._pieces.append(data)

    def on_message_complete(self) -> None:
        if self._done:
            return
        status = self._parser.get_status_code()
        if 100 <= status < 200:  # the answer is still to come
            self._begin(self._max_bytes)
            return
        self._status, self._done, self._keep_alive = status, True, self._parser.should_keep_alive()


def request_bytes(verb: str, host: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> bytes:
    """The whole request. Raises ValueError for a header or verb that would break out of its line; a path is
    written so that it can not."""
    head = _head(verb, host, tuple(headers.items()))
    if not _target(path):
        path = quote(path, safe=_TARGET_SAFE)
    length = b"" if body is None else b"Content-Length: %d\r\n" % len(body)
    return b"%s %s%s%s\r\n%s" % (verb.encode(), path.encode(), head, length, body or b"")


@lru_cache(maxsize=256)
def _head(verb: str, host: str, headers: tuple[tuple[str, str], ...]) -> bytes:
    if not _token(verb) or any(not _token(name) or not _field(value) for name, value in headers):
        raise ValueError("a header of more than one line")
    lines = [
        "",
        f"Host: {host}",
        "Accept-Encoding: identity",
        *(f"{name}: {value}" for name, value in headers),
    ]
    return (" HTTP/1.1" + "\r\n".join(lines) + "\r\n").encode("latin-1")


def bound(sock: socket.socket, left: float) -> None:
    """Let the next read or write take no longer than `left`, give or take `SLACK_S`.

    Setting a timeout lets other threads in; with many of them the way back costs more than the call.
    """
    current = sock.gettimeout()
    if current is None or not -SLACK_S <= current - left <= SLACK_S:
        sock.settimeout(left)
