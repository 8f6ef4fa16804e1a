"""One answer off the wire, and one request onto it. Both ends are in this process."""

from __future__ import annotations

import http.client
import socket
import time
from collections.abc import Iterator

import pytest
from httptools import HttpParserError

from sms.providers.exchange import Answer, Reader, TooLong, request_bytes


@pytest.fixture
def wire() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def answer_to(
    wire: tuple[socket.socket, socket.socket], said: bytes, *, closes: bool = False, max_bytes: int = 100
) -> Answer:
    ours, theirs = wire
    theirs.sendall(said)
    if closes:
        theirs.shutdown(socket.SHUT_WR)
    return Reader().read(ours, max_bytes=max_bytes, deadline=time.monotonic() + 5)


@pytest.mark.parametrize(
    "said",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r\n1\r\nk\r\n0\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok",
    ],
    ids=["length", "chunks", "continue", "bare line feeds"],
)
def test_a_whole_answer_leaves_the_connection_to_the_next_request(
    wire: tuple[socket.socket, socket.socket], said: bytes
) -> None:
    assert answer_to(wire, said) == Answer(200, b"ok", None, reusable=True)


@pytest.mark.parametrize(
    ("said", "closes"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\nok", True),
        (b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", False),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", False),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n", False),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok and more", False),
    ],
    ids=["until it closes", "says it closes", "old", "a second answer", "something after it"],
)
def test_an_answer_that_ends_its_connection(
    wire: tuple[socket.socket, socket.socket], said: bytes, closes: bool
) -> None:
    assert answer_to(wire, said, closes=closes) == Answer(200, b"ok", None, reusable=False)


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nok",
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b"good day",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 300_000,
    ],
    ids=["nothing", "cut short", "cut in a chunk", "cut in a header", "no answer", "endless header"],
)
def test_what_is_no_whole_answer_is_none(wire: tuple[socket.socket, socket.socket], said: bytes) -> None:
    wire[1].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1_000_000)

    with pytest.raises((HttpParserError, OSError, http.client.HTTPException)):
        answer_to(wire, said, closes=True)


def test_an_answer_is_read_no_further_than_it_may_be_long(wire: tuple[socket.socket, socket.socket]) -> None:
    with pytest.raises(TooLong):
        answer_to(wire, b"HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n" + b"x" * 101)


def test_one_reader_reads_one_answer_after_another(wire: tuple[socket.socket, socket.socket]) -> None:
    reader, (ours, theirs) = Reader(), wire
    bodies = []
    for body in (b"one", b"three"):
        theirs.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        bodies.append(reader.read(ours, max_bytes=9, deadline=time.monotonic() + 5).body)

    assert bodies == [b"one", b"three"]


def test_a_path_is_written_so_that_it_stays_in_its_line() -> None:
    assert request_bytes("GET", "x.ir", "/سلام b\r\nA: b", None, {}).startswith(
        b"GET /%D8%B3%D9%84%D8%A7%D9%85%20b%0D%0AA:%20b HTTP/1.1\r\nHost: x.ir\r\n"
    )


@pytest.mark.parametrize("header", [{"A": "b\r\nC: d"}, {"A\r\n": "b"}, {"A:": "b"}, {"A": "b\x00"}])
def test_a_header_of_more_than_one_line_is_not_written(header: dict[str, str]) -> None:
    with pytest.raises(ValueError):
        request_bytes("POST", "x.ir", "/", b"", header)


def test_a_body_follows_the_blank_line() -> None:
    written = request_bytes("POST", "x.ir:8001", "/a?b=c", b"text", {"User-Agent": "Peyk"})

    assert written == (
        b"POST /a?b=c HTTP/1.1\r\nHost: x.ir:8001\r\nAccept-Encoding: identity\r\n"
        b"User-Agent: Peyk\r\nContent-Length: 4\r\n\r\ntext"
    )
