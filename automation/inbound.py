"""People and the messages they send: whose number it is, and what to call them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django.urls import reverse

from sms.inbound.hooks import Label, Subject
from targets import queries

TARGET = "target"


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
