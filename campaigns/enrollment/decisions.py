"""What a person decided about those who are in another campaign already.

Stored as `{"default": null | "skip" | "add", "overrides": {"<id>": "add" | "skip"}}`. Without a default
everybody needs an own answer: nobody is added or left out in silence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args

from django.utils.translation import gettext as _

from core.errors import Invalid

Answer = Literal["add", "skip"]
ANSWERS: Final = get_args(Answer)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decisions:
    default: Answer | None = None
    overrides: Mapping[int, Answer] = field(default_factory=dict)

    def answer(self, subject_id: int) -> Answer | None:
        """`add`, `skip`, or None while there is no answer."""
        return self.overrides.get(subject_id, self.default)

    def undecided(self, ids: Iterable[int]) -> list[int]:
        return [pk for pk in ids if self.answer(pk) is None]

    def stored(self) -> dict[str, Any]:
        return {"default": self.default, "overrides": {str(pk): word for pk, word in self.overrides.items()}}


def read(raw: object) -> Decisions:
    """Decisions from JSON. Raises Invalid for other words, ids that are no numbers or unknown keys."""
    if not isinstance(raw, Mapping) or set(raw) - {"default", "overrides"}:
        raise _unreadable()
    default, overrides = raw.get("default"), raw.get("overrides") or {}
    if not isinstance(overrides, Mapping) or (default is not None and default not in ANSWERS):
        raise _unreadable()
    answers: dict[int, Answer] = {}
    for key, word in overrides.items():
        if not str(key).isdecimal() or word not in ANSWERS:
            raise _unreadable()
        answers[int(key)] = word
    return Decisions(default=default, overrides=answers)


def _unreadable() -> Invalid:
    return Invalid(_("A decision is either “add” or “skip”."), code="decision_invalid")
