"""A stand-in for an SMS panel: one process on loopback that accepts every message after a set delay.

    python bench/provider.py PORT

It answers as the Melipayamak panel does over REST. `/counts` tells what it accepted, `/delay?ms=50` sets
the delay of the answers that follow. Standard library only; with uvloop installed it is faster.
"""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from contextlib import suppress
from importlib import import_module
from typing import cast
from urllib.parse import parse_qs, urlsplit

FIRST_ID = 5_243_690_627_088_685_351
HEADER_END = b"\r\n\r\n"
LENGTH = b"content-length:"


class Panel:
    """What was accepted so far."""

    def __init__(self) -> None:
        self.messages = 0
        self.numbers: set[str] = set()
        self.delay_s = 0.0

    def answer(self, target: str, body: bytes) -> bytes:
        if target.startswith("/api/"):
            return self._accept(body)
        if target.startswith("/delay"):
            self.delay_s = int(parse_qs(urlsplit(target).query)["ms"][0]) / 1000
        return json.dumps({"messages": self.messages, "numbers": len(self.numbers)}).encode()

    def _accept(self, body: bytes) -> bytes:
        """One id for each number; a number asked for twice shows as more messages than numbers."""
        start = body.index(b"to=") + 3
        end = body.find(b"&", start)
        numbers = body[start : end if end > 0 else len(body)].decode().replace("%2C", ",").split(",")
        ids = []
        for number in numbers:
            self.messages += 1
            self.numbers.add(number)
            ids.append(str(FIRST_ID + self.messages))
        return b'{"Value":"%s","RetStatus":1,"StrRetStatus":"Ok"}' % ",".join(ids).encode()


class Http(asyncio.Protocol):
    """Kept-alive HTTP/1.1, one request at a time on a connection; no more than the bench needs."""

    def __init__(self, panel: Panel) -> None:
        self.panel = panel
        self.waiting = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)  # uvloop's own is none by its class
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def data_received(self, data: bytes) -> None:
        self.waiting += data
        while (cut := self.waiting.find(HEADER_END)) >= 0:
            head, begin = self.waiting[:cut], cut + len(HEADER_END)
            end = begin + _length(head)
            if len(self.waiting) < end:
                return
            body, self.waiting = self.waiting[begin:end], self.waiting[end:]
            self._reply(self.panel.answer(head.split(b" ", 2)[1].decode(), body), is_message=bool(body))

    def _reply(self, body: bytes, *, is_message: bool) -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
        if is_message and self.panel.delay_s:
            asyncio.get_running_loop().call_later(self.panel.delay_s, self._write, head + body)
        else:
            self._write(head + body)

    def _write(self, data: bytes) -> None:
        if not self.transport.is_closing():
            self.transport.write(data)


def _length(head: bytes) -> int:
    lower = head.lower()
    at = lower.find(LENGTH)
    return int(lower[at + len(LENGTH) :].split(b"\r\n", 1)[0]) if at >= 0 else 0


async def serve(port: int) -> None:
    panel = Panel()
    server = await asyncio.get_running_loop().create_server(
        lambda: Http(panel), "127.0.0.1", port, backlog=1024
    )
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    with suppress(ImportError):
        import_module("uvloop").install()
    asyncio.run(serve(int(sys.argv[1])))
