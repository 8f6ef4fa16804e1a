"""How an answer of any interface reaches the client, with the fault that met the request, if any."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone

from sms.simulator.panel import Taken
from sms.simulator.plan import GARBAGE
from sms.simulator.wire import ENDINGS, HttpAnswer

MAX_LISTED = 100
JSON = "application/json; charset=utf-8"
TEHRAN = timezone(timedelta(hours=3, minutes=30))
FAILED_CODES = ("2", "3", "16", "35", "300", "500")


def on_the_wire(right: bytes, taken: Taken, content_type: str = JSON, *, status: int = 200) -> HttpAnswer:
    """`right` is what a working provider would answer."""
    fault, delay = taken.fault, taken.latency_s
    plain = HttpAnswer(body=right, delay_s=delay, content_type=content_type, status=status)
    if fault is None:
        return plain
    match fault.do:
        case "http":
            return HttpAnswer(
                status=fault.status,
                headers=fault.headers,
                body=GARBAGE.encode(),
                delay_s=delay,
                content_type="text/html",
            )
        case "body":
            body = fault.body.encode(fault.encoding, "replace")
            return HttpAnswer(body=body, delay_s=delay, content_type=content_type)
        case "slow":
            late = delay + fault.ms / 1000
            return HttpAnswer(body=right, delay_s=late, content_type=content_type, status=status)
        case ending if ending in ENDINGS:
            return HttpAnswer(
                body=right,
                ending=ending,
                delay_s=delay,
                drip_s=fault.ms / 1000,
                content_type=content_type,
                status=status,
            )
    return plain


def json_bytes(document: object) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")


def json_answer(document: object) -> HttpAnswer:
    return HttpAnswer(body=json_bytes(document))


def message(status: int, text: str) -> HttpAnswer:
    """An error page of the framework the real panel is built with."""
    return HttpAnswer(status=status, body=json_bytes({"Message": text}))


def tehran(moment: datetime) -> str:
    """A moment as the panel writes it: local, to the second, without its zone."""
    return moment.astimezone(TEHRAN).strftime("%Y-%m-%dT%H:%M:%S")


def page_of(fields: Mapping[str, str]) -> tuple[int, int]:
    """The first row and the number of rows that a list was asked for."""
    return _number(fields.get("index"), 0), min(_number(fields.get("count"), MAX_LISTED), MAX_LISTED)


def _number(text: str | None, default: int) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 9 else default
