"""What a step may choose from where it speaks of events: names, and what comes with each, in words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from automation import known_events

Choice = tuple[str, str | Promise]


def events(chosen: str) -> list[Choice]:
    """The known events, and the chosen one if it is none of them; nothing where none is known."""
    known: list[Choice] = [(event.name, event.label) for event in known_events.known_events()]
    return _with_chosen(known, chosen)


def properties(event: str, chosen: str) -> list[Choice]:
    """What comes with `event`, and the chosen one if that does not; nothing for an event nobody knows."""
    known = known_events.known_event(event)
    return _with_chosen([(one.name, one.label) for one in known.properties] if known else (), chosen)


def values(event: str, name: str, chosen: str) -> list[Choice]:
    """The values of a property with a closed set, and the chosen one if it is none of them."""
    known = known_events.known_event(event)
    about = known.property(name) if known else None
    return _with_chosen(about.values.items() if about else (), chosen)


def _with_chosen(known: Iterable[Choice], chosen: str) -> list[Choice]:
    choices = list(known)
    if not choices:
        return []
    lost = [(chosen, chosen)] if chosen and chosen not in dict(choices) else []
    return [("", _("Choose…")), *choices, *lost]


def offer_events(field: forms.Field, chosen: Any, *, refreshes: bool = False) -> None:
    """Let the event be chosen instead of typed. What is typed elsewhere is still taken.

    refreshes: another event changes what else the page offers.
    """
    choices = events(str(chosen or ""))
    if choices:
        field.widget = forms.Select(attrs={"data-refresh": ""} if refreshes else {}, choices=choices)
