"""Melipayamak's list of sent messages (`GetMessages`, location 2), read as evidence.

The list is trusted only as far as it proves itself: newest first, every page joined to the one before it
by a shared line, every time readable. Where that breaks, what was read is kept, but nothing may be
concluded from what is missing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Final
from zoneinfo import ZoneInfo

from sms.providers.codes import http_code
from sms.providers.http import CallFault, Reply
from sms.types import Outbox, OutboxEntry, Outcome

PAGE: Final = 100  # the most that one answer holds
TEHRAN: Final = ZoneInfo("Asia/Tehran")
SLACK: Final = timedelta(minutes=1)  # the panel's times have whole seconds, and lines may swap within one
BEGINNING: Final = datetime(1970, 1, 1, tzinfo=UTC)
_ID = re.compile(r"[0-9]{10,32}")
_DOT_NET = re.compile(r"/Date\((-?[0-9]{1,15})(?:[+-][0-9]{4})?\)/")

# `(first, count)` -> the rows of one page, or the code of what went wrong.
AskPage = Callable[[int, int], "Sequence[Mapping[str, str]] | str"]


@dataclass(frozen=True, slots=True)
class _Page:
    entries: list[OutboxEntry]
    sound: bool  # every row could be read


def collect(ask: AskPage, *, since: datetime, max_pages: int) -> Outbox:
    """Read back to `since`. Pages overlap by one line: messages that come meanwhile push lines down,
    so a page that does not hold the last line of the one before it has left a gap. A short page is not the
    end: the panel may give less than it is asked for."""
    found: dict[str, OutboxEntry] = {}
    first, last = 0, ""
    for _ in range(max_pages):
        rows = ask(first, PAGE)
        if isinstance(rows, str):
            outcome = Outcome.ACCEPTED if found else Outcome.UNAVAILABLE
            return Outbox(outcome=outcome, entries=tuple(found.values()), code=rows)
        page = _read(rows)
        if not page.sound or not _in_order(page.entries):
            found |= {entry.reference: entry for entry in page.entries}
            return _without_proof(found, "outbox_unreadable")
        if last and last not in {entry.reference for entry in page.entries}:
            return _without_proof(found, "outbox_gap")
        found |= {entry.reference: entry for entry in page.entries}
        if len(rows) < 2:
            return Outbox(outcome=Outcome.ACCEPTED, entries=tuple(found.values()), covers_since=BEGINNING)
        oldest = page.entries[-1]
        if len(rows) == PAGE and oldest.sent_at < since - SLACK:
            return _back_to(found, oldest, "")
        first, last = first + len(rows) - 1, oldest.reference
    return _back_to(found, oldest, "outbox_long") if found else _without_proof(found, "outbox_long")


def rows_of(reply: Reply | CallFault) -> Sequence[Mapping[str, str]] | str:
    """The rows of one answer, numbers as text; a code for anything that is no list of messages."""
    if isinstance(reply, CallFault):
        return reply.code
    if reply.status != 200:
        return http_code(reply.status)
    try:
        document = json.loads(reply.body.decode("utf-8-sig"), parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return "unreadable_answer"
    if not isinstance(document, dict):
        return "unreadable_answer"
    base, rows = document.get("MyBase"), document.get("Data")
    status = base.get("RetStatus") if isinstance(base, dict) else None
    if status != "1":
        return "0" if status == "0" else "unlisted"
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        return "unreadable_answer"
    return [{str(name).lower(): _word(value) for name, value in row.items()} for row in rows]


def _word(value: object) -> str:
    return value if isinstance(value, str) else ""


def _read(rows: Sequence[Mapping[str, str]]) -> _Page:
    entries = [entry for row in rows if (entry := _entry(row)) is not None]
    return _Page(entries, sound=len(entries) == len(rows))


def _entry(row: Mapping[str, str]) -> OutboxEntry | None:
    at, reference = moment(row.get("senddate", "")), row.get("msgid", "").strip()
    if at is None or not reference:
        return None
    own = row.get("recid", "").strip() or reference
    is_single = row.get("reccount", "").strip() in ("", "1")
    return OutboxEntry(
        reference=reference,
        message_id=own if _ID.fullmatch(own) else "",
        to=row.get("receiver", "") if is_single else "",
        text=row.get("body", ""),
        sender=row.get("sender", "").strip(),
        sent_at=at,
    )


def moment(text: str) -> datetime | None:
    """A time of the panel: ISO 8601 on Tehran's clock, or .NET's milliseconds. None: neither."""
    dot_net = _DOT_NET.fullmatch(text.strip())
    try:
        if dot_net:
            return datetime.fromtimestamp(int(dot_net.group(1)) / 1000, UTC)
        at = datetime.fromisoformat(text.strip())
    except (ValueError, OverflowError, OSError):
        return None
    return (at if at.tzinfo else at.replace(tzinfo=TEHRAN)).astimezone(UTC)


def _in_order(entries: Sequence[OutboxEntry]) -> bool:
    return all(later.sent_at + SLACK >= earlier.sent_at for later, earlier in pairwise(entries))


def _back_to(found: Mapping[str, OutboxEntry], oldest: OutboxEntry, code: str) -> Outbox:
    """All there is from a little after the oldest line on: others of its second may lie on the next page."""
    covers = oldest.sent_at + SLACK
    return Outbox(outcome=Outcome.ACCEPTED, entries=tuple(found.values()), covers_since=covers, code=code)


def _without_proof(found: Mapping[str, OutboxEntry], code: str) -> Outbox:
    return Outbox(outcome=Outcome.ACCEPTED, entries=tuple(found.values()), code=code)
