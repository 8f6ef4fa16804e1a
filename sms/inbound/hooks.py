"""Who else wants to know of a message. Upper apps register here; this app imports none of them.

register_inbound_handler("journeys", start_by_keyword)
register_matcher(subject_of_number)
register_subject_labels(names_of)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple


class Subject(NamedTuple):
    """Somebody in the workspace, as executions and messages name them."""

    subject_type: str
    subject_id: int


class Label(NamedTuple):
    """How a page shows somebody; `url` is empty where there is no page of theirs."""

    name: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbound:
    """One message with what was understood of it.

    `key` is the text's `word_key`, for keyword rules: all spellings of a word share it. `effect` is what the
    message did already (`InboundEffect`): a handler that sends something must leave opt-outs alone.
    """

    id: int
    workspace_id: int
    number: str = field(repr=False)
    line: str
    text: str = field(repr=False)
    key: str = field(repr=False)
    effect: str
    subject: Subject | None
    received_at: datetime


Handler = Callable[[Inbound], bool]
Matcher = Callable[[str], Subject | None]
Labels = Callable[[Iterable[Subject]], Mapping[Subject, Label]]

_handlers: dict[str, Handler] = {}
_matchers: list[Matcher] = []
_labels: list[Labels] = []


def register_inbound_handler(key: str, handler: Handler) -> None:
    """Show every message to `handler` once, in the transaction that decides about it; True: it used it.

    What it raises is logged and undone, and stops neither the message nor other handlers. Only a database
    that is too busy (OperationalError) has the message, unless it is a no, worked on again later. Replaces a
    handler of the same key.
    """
    _handlers[key] = handler


def unregister_inbound_handler(key: str) -> None:
    _handlers.pop(key, None)


def handlers() -> Mapping[str, Handler]:
    return dict(_handlers)


def register_matcher(matcher: Matcher) -> None:
    """`matcher(number)`: whose canonical number it is, in the active workspace."""
    if matcher not in _matchers:
        _matchers.append(matcher)


def subject_of(number: str) -> Subject | None:
    """The first match of the registered matchers."""
    return next((found for matcher in _matchers if (found := matcher(number)) is not None), None)


def register_subject_labels(labels: Labels) -> None:
    """`labels(subjects)`: the names of those it knows, in one query."""
    if labels not in _labels:
        _labels.append(labels)


def labels_of(subjects: Iterable[Subject]) -> dict[Subject, Label]:
    """Names of these, as far as somebody knows them."""
    wanted = set(subjects)
    found: dict[Subject, Label] = {}
    for labels in _labels if wanted else ():
        found.update(labels(wanted))
    return found
