"""HTTP/1.1 for the simulator: kept-alive connections, and every way in which a wire can fail."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl, urlsplit

MAX_REQUEST_BYTES = 1024 * 1024

_SEND, _CLOSE, _RESET, _HANG, _DRIP, _CLOSE_AFTER = "send", "close", "reset", "hang", "drip", "close_after"
ENDINGS = frozenset({_SEND, _CLOSE, _RESET, _HANG, _DRIP, _CLOSE_AFTER})


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """One complete request. `fields` are the form or JSON body with lower-case names, `query_text` is
    the query as it was written."""

    verb: str
    path: str
    query: Mapping[str, str]
    query_text: str
    host: str
    body: bytes = field(repr=False)
    fields: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAnswer:
    """What to answer, and how the connection ends: `ending` is one of `ENDINGS`."""

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json; charset=utf-8"
    headers: tuple[tuple[str, str], ...] = ()
    delay_s: float = 0
    ending: str = _SEND
    drip_s: float = 1.0


Handler = Callable[[HttpRequest], HttpAnswer]


class Connection(asyncio.Protocol):
    """One client. Requests are answered one after another, in order."""

    def __init__(self, handler: Handler, open_connections: set[Connection]) -> None:
        self._handler, self._open = handler, open_connections
        self._buffer = bytearray()
        self._busy = False
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._open.add(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  # asyncio's shape
        self._transport = None
        self._open.discard(self)

    def abort(self) -> None:
        if self._transport:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        self._next()

    def _next(self) -> None:
        if self._busy or self._transport is None:
            return
        try:
            request, keep = _take_request(self._buffer)
            answer = self._handler(request) if request is not None else None
        except ValueError:
            self._write(HttpAnswer(status=400), keep=False)
            return
        if answer is not None:
            self._busy = True
            asyncio.get_running_loop().call_later(answer.delay_s, self._end, answer, keep)

    def _end(self, answer: HttpAnswer, keep: bool) -> None:
        if self._transport is None or answer.ending == _HANG:
            return
        if answer.ending == _CLOSE:
            self._transport.close()
        elif answer.ending == _RESET:
            _reset(self._transport)
        elif answer.ending == _DRIP:
            self._drip(_encode(answer, keep), 0, answer.drip_s, keep)
        else:
            self._write(answer, keep, close=answer.ending == _CLOSE_AFTER)

    def _write(self, answer: HttpAnswer, keep: bool, *, close: bool = False) -> None:
        if self._transport is None:
            return
        self._transport.write(_encode(answer, keep))
        self._done(keep and not close)

    def _drip(self, data: bytes, at: int, every_s: float, keep: bool) -> None:
        if self._transport is None:
            return
        self._transport.write(data[at : at + 1])
        if at + 1 < len(data):
            asyncio.get_running_loop().call_later(every_s, self._drip, data, at + 1, every_s, keep)
        else:
            self._done(keep)

    def _done(self, keep: bool) -> None:
        self._busy = False
        if not keep and self._transport:
            self._transport.close()
        elif self._buffer:
            self._next()


def _reset(transport: asyncio.Transport) -> None:
    """Close so that the client sees a reset, not an orderly end."""
    sock = transport.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()


def _take_request(buffer: bytearray) -> tuple[HttpRequest | None, bool]:
    """Cut one complete request off `buffer`: it and whether the connection stays; None if more is to come."""
    end = buffer.find(b"\r\n\r\n")
    if end < 0:
        if len(buffer) > MAX_REQUEST_BYTES:
            raise ValueError("no end of the headers")
        return None, True
    first, *lines = buffer[:end].decode("latin-1").split("\r\n")
    headers = {
        name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
    }
    length = headers.get("content-length", "0")
    if "transfer-encoding" in headers or not length.isdigit() or int(length) > MAX_REQUEST_BYTES:
        raise ValueError("a body without a sane length")
    total = end + 4 + int(length)
    if len(buffer) < total:
        return None, True
    body = bytes(buffer[end + 4 : total])
    del buffer[:total]
    verb, target, version = first.split(" ")
    keep = headers.get("connection", "").lower() != "close" and version == "HTTP/1.1"
    return _request(verb, target, headers, body), keep


def _request(verb: str, target: str, headers: Mapping[str, str], body: bytes) -> HttpRequest:
    url = urlsplit(target)
    return HttpRequest(
        verb=verb,
        path=url.path,
        query=dict(parse_qsl(url.query)),
        query_text=url.query,
        host=urlsplit("//" + headers.get("host", "")).hostname or "",
        body=body,
        fields=_fields(headers.get("content-type", ""), body),
    )


def _fields(content_type: str, body: bytes) -> dict[str, str]:
    if "json" in content_type:
        document = json.loads(body.decode("utf-8-sig"))
        if not isinstance(document, dict):
            raise ValueError("a JSON body is an object")
        return {str(name).lower(): _text(value) for name, value in document.items()}
    pairs = parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True)
    return {name.lower(): value for name, value in pairs}


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def _encode(answer: HttpAnswer, keep: bool) -> bytes:
    known = answer.status in HTTPStatus._value2member_map_
    reason = HTTPStatus(answer.status).phrase if known else "Unknown"
    lines = [f"HTTP/1.1 {answer.status} {reason}", f"Content-Length: {len(answer.body)}"]
    if answer.body:
        lines.append(f"Content-Type: {answer.content_type}")
    if not keep:
        lines.append("Connection: close")
    lines.extend(f"{name}: {value}" for name, value in answer.headers)
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + answer.body
