"""The follow-up step as the editor and the compiler see it; `automation/runtime/actions/` performs it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Any, Final

from django.utils.translation import gettext_lazy as _

from automation.problems import register_sentences
from automation.registry import ActionPlugin
from core.text import normalize_text
from engine.compile import ActionSpec
from engine.durations import Duration, parse_duration
from engine.text import parse_text, render
from engine.types import Facts, Port, Problem
from targets.activities import MAX_DESCRIPTION, MAX_TITLE
from targets.models import ActivityKind

SUBTYPE: Final = "create_followup"
TEXTS: Final = ("title", "description")
_LIMITS: Final = {"title": MAX_TITLE, "description": MAX_DESCRIPTION}
_KEYS: Final = frozenset({"kind", *TEXTS, "due_in", "retry"})
AT_ONCE: Final = {"amount": 0, "unit": "hour"}


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowupConfig:
    """A checked config. `due_in` None is due at once."""

    kind: str
    title: str
    description: str
    due_in: Duration | None

    def due_at(self, now: datetime, zone: tzinfo) -> datetime:
        """When it is due for somebody who reaches the step at `now`; days are counted on their calendar."""
        return now.astimezone(UTC) if self.due_in is None else self.due_in.after(now, zone)

    def texts(self, facts: Facts) -> tuple[str, str]:
        """Title and description for these facts; a value that is missing leaves a gap."""
        done = [render(parse_text(body), facts, on_missing="blank").text for body in self.bodies]
        return normalize_text(done[0])[:MAX_TITLE], normalize_text(done[1])[:MAX_DESCRIPTION]

    @property
    def bodies(self) -> tuple[str, str]:
        return self.title, self.description


def defaults() -> dict[str, Any]:
    """A new step's config."""
    return {
        "kind": ActivityKind.CALL.value, "title": "", "description": "",
        "due_in": {"amount": 1, "unit": "day"},
    }  # fmt: skip


def read(config: Mapping[str, Any]) -> FollowupConfig:
    """The config of a published node; keys that are missing or null are as in `defaults`, and due at once."""
    parsed = parse_duration(config.get("due_in"))
    return FollowupConfig(
        kind=config.get("kind") or ActivityKind.CALL.value,
        title=config.get("title") or "",
        description=config.get("description") or "",
        due_in=parsed if isinstance(parsed, Duration) else None,
    )


def check(config: Mapping[str, Any]) -> list[Problem]:
    """Every mistake in a config, except those of `retry`, which the engine reads."""
    problems = [
        Problem(code="config_key_unknown", fields={"key": str(key)[:40]})
        for key in config
        if key not in _KEYS
    ]
    if config.get("kind") is not None and config["kind"] not in ActivityKind.values:
        problems.append(Problem(code="config_value_invalid", fields={"key": "kind"}))
    for key, limit in _LIMITS.items():
        value = config.get(key)
        if value is not None and not (isinstance(value, str) and len(value) <= limit):
            problems.append(Problem(code="config_value_invalid", fields={"key": key}))
    title = config.get("title")
    if title is None or (isinstance(title, str) and not normalize_text(title)):
        problems.append(Problem(code="followup_title_empty"))
    return problems + _check_due(config.get("due_in"))


def _check_due(raw: object) -> list[Problem]:
    if raw is None or _is_at_once(raw):
        return []
    parsed = parse_duration(raw)
    if isinstance(parsed, Duration):
        return []
    # Zero is allowed here, so the sentence of other durations would be wrong.
    return [
        Problem(code="followup_due_invalid") if one.code == "duration_amount_invalid" else one
        for one in parsed
    ]


def _is_at_once(raw: object) -> bool:
    if not isinstance(raw, Mapping) or set(raw) != {"amount", "unit"}:
        return False
    amount = raw["amount"]
    return type(amount) is int and amount == 0 and isinstance(parse_duration({**raw, "amount": 1}), Duration)


def _texts(config: Mapping[str, Any]) -> list[str]:
    return [value for key in TEXTS if isinstance(value := config.get(key), str)]


PLUGIN: Final = ActionPlugin(
    spec=ActionSpec(
        subtype=SUBTYPE,
        ports=frozenset({Port.DEFAULT}),
        check=check,
        consumes_budget=lambda _config: False,
        texts=_texts,
    ),
    label=_("Record a follow-up"),
    hint=_("A task for the colleague who looks after this person"),
    icon="calendar",
    defaults=defaults,
)
register_sentences(
    {
        "followup_title_empty": _("The follow-up has no title."),
        "followup_due_invalid": _("Say when it is due: 0 for at once, or a whole number and a unit."),
    }
)
