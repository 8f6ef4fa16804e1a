"""The longest message that a text makes for anybody in the workspace, and the dearest: what it is billed as.

The database finds the few people with the most letters in the values that the text uses; only those are
rendered. A Latin text is also tried for people with other letters in these values: one of them makes every
character of their message dearer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Final

from django.db.models import Case, CharField, F, Q, QuerySet, TextField, Value, When
from django.db.models.expressions import Combinable
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Coalesce, Concat, Length

from automation.builder.people import Person, facts_of
from automation.runtime.target_subject import load_targets
from core.text import normalize_text
from engine.text import Text, parse_text, render
from sms.channel import Channel
from sms.lines import choose
from sms.parts import GSM
from sms.preview import Preview, preview
from sms.usage.prices import PriceBook
from targets.models import Target
from targets.queries import visible_to
from workspaces.models import Membership, Workspace

CANDIDATES: Final = 25
COLUMNS: Final = frozenset(
    {"first_name", "last_name", "name", "mobile", "landline", "email", "province", "city"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Longest:
    """The message of `person`. `rials` is None without a price."""

    person: Target
    shown: Preview
    rials: Decimal | None


def longest(
    config: Mapping[str, Any], *, workspace: Workspace, membership: Membership | None, today: date
) -> Longest | None:
    """None when nobody can get the message. A constant number of queries.

    `config`: body, append_opt_out, on_missing_variable, provider, sender and message_kind as a step has them.
    """
    text = parse_text(config["body"])
    people = _candidates(text, visible_to(membership).exclude(mobile=""))
    subjects = load_targets(workspace.pk, [target.pk for target in people])
    channel = Channel.load(workspace.pk)
    found: list[tuple[int, int, Target, Preview]] = []
    for target in people:
        if target.pk not in subjects:
            continue
        person = Person(target=target, subject=subjects[target.pk])
        message = _message(text, config, channel, person, workspace)
        if message:
            shown = preview(message)
            found.append((shown.count.parts, shown.count.units, target, shown))
    if not found:
        return None
    _parts, _units, target, shown = max(found, key=lambda one: one[:2])
    rials = PriceBook.load().cost_of(shown.text, _line(config, channel), today)
    return Longest(person=target, shown=shown, rials=rials)


def _message(
    text: Text, config: Mapping[str, Any], channel: Channel, person: Person, workspace: Workspace
) -> str:
    blank = config.get("on_missing_variable") == "send_blank"
    rendered = render(text, facts_of(person, workspace), on_missing="blank" if blank else "skip")
    if rendered.skip:
        return ""
    return channel.compose(rendered.text, append_opt_out=bool(config.get("append_opt_out")))


def _line(config: Mapping[str, Any], channel: Channel) -> str:
    account = channel.account(config.get("provider"))
    wanted = str(config.get("sender") or "")
    if account is None:
        return wanted
    line, _refused = choose(account.sender_lines, wanted, str(config.get("message_kind") or ""))
    return line.number if line else wanted


def _candidates(text: Text, people: QuerySet[Target]) -> list[Target]:
    """The people with the longest values, and for a Latin text those with other letters. Two queries."""
    used = [name.removeprefix("target.") for name in text.names if name.startswith("target.")]
    values = [_value(name) for name in dict.fromkeys(used)]
    if not values:
        return list(people.order_by("pk")[:1])
    joined = values[0] if len(values) == 1 else Concat(*values, output_field=TextField())
    measured = people.annotate(joined=joined).annotate(letters=Length("joined"))
    found: list[Target] = [*measured.order_by("-letters", "pk")[:CANDIDATES]]
    words = "".join(part for part in text.parts if isinstance(part, str))
    if GSM.issuperset(normalize_text(words)):
        foreign = measured.filter(joined__regex=r"[^\x01-\x7f]")
        found += list(foreign.order_by("-letters", "pk")[:CANDIDATES])
    return found


def _value(name: str) -> Combinable:
    """A person's value as text, "" where there is none; names stand in for each other as in messages."""
    text: CharField[str, str] = CharField()
    if name == "name":
        full = Concat(F("first_name"), Value(" "), F("last_name"), output_field=text)
        return Case(When(~Q(name=""), then=F("name")), default=full, output_field=text)
    if name == "first_name":
        return Case(When(~Q(first_name=""), then=F("first_name")), default=F("name"), output_field=text)
    if name in COLUMNS:
        return F(name)
    return Coalesce(Cast(KeyTextTransform(name, "traits"), TextField()), Value(""), output_field=TextField())
