"""People and the messages they send: whose number it is, what to call them, and what they answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django.urls import reverse

from automation.known_events import SMS_RECEIVED
from core.tenancy import current_workspace_id
from sms.inbound.hooks import Inbound, Label, Subject
from sms.inbound.processing import SAID_NO
from sms.inbound.words import LONGEST, word_key
from targets import events, queries

TARGET = "target"
SOURCE = "sms"
FIRST_WORD_WITHIN = 200  # characters


def match(number: str) -> Subject | None:
    """`sms.inbound.hooks.Matcher`: the person of the active workspace with this canonical number."""
    target_id = queries.id_by_number(number)
    return None if target_id is None else Subject(TARGET, target_id)


def labels(subjects: Iterable[Subject]) -> Mapping[Subject, Label]:
    """`sms.inbound.hooks.Labels`: names and pages of people. One query."""
    wanted = [subject.subject_id for subject in subjects if subject.subject_type == TARGET]
    return {
        Subject(TARGET, pk): Label(name=name, url=reverse("targets:detail", kwargs={"target_id": pk}))
        for pk, name in queries.names_for(wanted).items()
    }


def record_answer(message: Inbound) -> bool:
    """`sms.inbound.hooks.Handler`: what a person of the workspace wrote is an event of theirs.

    A no is not: whoever asked a question must not take it for an answer. Recording is not acting, so the
    message stays an ordinary one: the answer is False.
    """
    if message.effect in SAID_NO or message.subject is None or message.subject.subject_type != TARGET:
        return False
    event = events.NewEvent(
        target_id=message.subject.subject_id, name=SMS_RECEIVED, key=event_key(message.id), source=SOURCE,
        occurred_at=message.received_at, properties=_said(message),
    )  # fmt: skip
    events.record(current_workspace_id(), [event])
    return False


def event_key(inbound_id: int) -> str:
    """The key of the event that a message is."""
    return f"{SOURCE}:{inbound_id}"


def _said(message: Inbound) -> dict[str, str]:
    """The whole text as a keyword while it is short enough for one, its first word, and our line."""
    words = (word_key(word) for word in message.text[:FIRST_WORD_WITHIN].split())
    first = next((word for word in words if word), "")
    said = {"line": message.line}
    if 0 < len(message.key) <= LONGEST:
        said["keyword"] = message.key
    if 0 < len(first) <= LONGEST:
        said["first_word"] = first
    return said
