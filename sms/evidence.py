"""What the provider's list of sent messages proves of one message whose outcome is unknown. Pure.

A wrong "it is not there" sends a person the same text twice, a wrong "it is there" loses a message nobody
misses. So presence needs exactly one line that can only be this message, and absence needs a list that
shows itself complete for the whole time in which the message could have been taken. Everything between
is undecided.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from core.text import normalize_text
from sms.types import Outbox, OutboxEntry

TOLERANCE: Final = timedelta(minutes=10)  # the provider's clock and ours differ by less, or nothing is proven
NEARBY: Final = timedelta(hours=12)  # a line so far away may still be this message on a wrong clock
_NUMBER: Final = re.compile(r"\+?[0-9]{10,14}")


class Verdict(StrEnum):
    ACCEPTED = "accepted"
    ABSENT = "absent"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The verdict with its reason (a stable word) and the line that proves it, if there is one."""

    verdict: Verdict
    why: str
    entry: OutboxEntry | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ours:
    """One of our own messages. `is_open`: nobody knows whether it went out."""

    log_id: int
    to: str = field(repr=False)
    text: str = field(repr=False)
    sender: str = ""
    message_id: str = ""
    requested_at: datetime
    is_open: bool = False

    @property
    def key(self) -> tuple[str, str]:
        return short(self.to), plain(self.text)


def short(number: str) -> str:
    """Providers write numbers with and without country code: the last ten digits tell them apart."""
    return "".join(char for char in number if char.isdigit())[-10:]


def plain(text: str) -> str:
    """A text as both sides have it, whatever happened to its line ends and letter forms on the way."""
    return normalize_text(text.replace("\r\n", "\n").replace("\r", "\n")).strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One question: the message, our other messages to its number, and ours that went out about then.

    `taken_within`: how long after the request the provider can still have taken it.
    `absent_after`: only a list read so long after the request can show that it is not there.
    """

    message: Ours
    others: Sequence[Ours] = ()
    witnesses: Sequence[Ours] = ()
    taken_within: timedelta
    absent_after: timedelta


def judge(case: Case, outbox: Outbox, read_at: datetime) -> Finding:
    """What `outbox`, read at `read_at`, proves of the case's message."""
    message = case.message
    begin = message.requested_at - TOLERANCE
    end = message.requested_at + case.taken_within + TOLERANCE
    if outbox.covers_since is None or outbox.covers_since > begin:
        return _undecided(outbox.code or "not_covered")
    to_number = [
        entry
        for entry in outbox.entries
        if short(entry.to) == short(message.to) and begin - NEARBY <= entry.sent_at <= end + NEARBY
    ]
    left, twins, missing = _without_others(to_number, case)
    same = [e for e in left if plain(e.text) == plain(message.text) and _line_fits(e, message)]
    in_time = [entry for entry in same if begin <= entry.sent_at <= end]
    if len(same) > 1 or (same and (twins or missing)):
        return _undecided("equal_texts")
    if in_time:
        return Finding(verdict=Verdict.ACCEPTED, why="listed", entry=in_time[0])
    if left or any(begin - NEARBY <= e.sent_at <= end + NEARBY and not _names_one(e) for e in outbox.entries):
        return _undecided("listed_otherwise")
    if missing:
        return _undecided("list_incomplete")
    if doubt := _doubt(case, outbox):
        return _undecided(doubt)
    if read_at < message.requested_at + case.absent_after:
        return _undecided("too_early")
    return Finding(verdict=Verdict.ABSENT, why="not_listed")


def _without_others(
    entries: Iterable[OutboxEntry], case: Case
) -> tuple[list[OutboxEntry], list[Ours], list[Ours]]:
    """The lines that are not another message of ours; open ones with the same text; known ones of the
    same text that are not listed under their own id."""
    left = list(entries)
    twins: list[Ours] = []
    missing: list[Ours] = []
    for other in case.others:
        listed = next((e for e in left if other.message_id and e.message_id == other.message_id), None)
        if listed is not None:
            left.remove(listed)
        elif other.key == case.message.key:
            if _near(other, case.message):
                (twins if other.is_open else missing).append(other)
        else:
            named = next((e for e in left if plain(e.text) == plain(other.text)), None)
            if named is not None:
                left.remove(named)
    return left, twins, missing


def _near(other: Ours, message: Ours) -> bool:
    return abs(other.requested_at - message.requested_at) <= NEARBY


def _line_fits(entry: OutboxEntry, message: Ours) -> bool:
    return not entry.sender or not message.sender or short(entry.sender) == short(message.sender)


def _names_one(entry: OutboxEntry) -> bool:
    """Whether its number can be read. One for several people, or with a hidden number, may be anybody's."""
    return _NUMBER.fullmatch(entry.to.strip()) is not None


def _is_fresh(case: Case, outbox: Outbox) -> bool:
    """Whether the list shows something of the same line that was sent after the message at the latest: it
    may be a copy that lags behind, or one that leaves such a line out."""
    message = case.message
    latest = message.requested_at + case.taken_within
    return any(
        entry.sent_at >= latest and (not message.sender or short(entry.sender) == short(message.sender))
        for entry in outbox.entries
    )


def _doubt(case: Case, outbox: Outbox) -> str:
    """Why the list proves no absence: our messages that the provider surely took vouch for it. "" if none.

    Without such witnesses it must reach far enough back to show the message on a wrong clock too. A line
    that is newer than the message must be there in any case.
    """
    assert outbox.covers_since is not None
    begin = outbox.covers_since + TOLERANCE
    witnesses = [one for one in case.witnesses if one.requested_at >= begin]
    if not witnesses:
        deep = outbox.covers_since <= case.message.requested_at - TOLERANCE - NEARBY
        if not deep:
            return "clock_not_checked"
    by_id = {entry.message_id: entry for entry in outbox.entries if entry.message_id}
    by_key = {(short(entry.to), plain(entry.text)): entry for entry in outbox.entries}
    for witness in witnesses:
        entry = by_id.get(witness.message_id) or by_key.get(witness.key)
        if entry is None or short(entry.to) != short(witness.to):
            return "list_incomplete"
        if abs(entry.sent_at - witness.requested_at) > TOLERANCE:
            return "clocks_differ"
    return "" if _is_fresh(case, outbox) else "list_not_fresh"


def _undecided(why: str) -> Finding:
    return Finding(verdict=Verdict.UNDECIDED, why=why)
