"""Settings of steps as the audit log says them: conditions, ways and pauses in words instead of keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from django.utils.translation import gettext as _

from automation.builder.describing import arm_label, condition, duration


def _root(value: Any) -> str:
    return condition({"root": value})


def _rules(value: Any) -> str:
    return condition({"logic": "all", "rules": value})


def _about_event(value: Any) -> str:
    return condition(value, about="event")


def _branches(value: Any) -> str:
    arms = [arm for arm in value if isinstance(arm, Mapping)] if isinstance(value, list) else []
    return _(", ").join(arm_label({"branches": arms}, index, arm) for index, arm in enumerate(arms))


def _cases(value: Any) -> str:
    cases = [case for case in value if isinstance(case, Mapping)] if isinstance(value, list) else []
    return _("; ").join(
        _("%(name)s: %(condition)s")
        % {"name": case.get("label") or "—", "condition": condition(case.get("definition"))}
        for case in cases
    )


TEXTS: Final[Mapping[str, Callable[[Any], str]]] = {
    "root": _root,
    "rules": _rules,
    "definition": condition,
    "exit_criteria": condition,
    "filter": _about_event,
    "branches": _branches,
    "cases": _cases,
    "delay": duration,
    "initial_delay": duration,
    "due_in": duration,
}
