"""Questions asked of many steps at once, in the transaction that reserves, whatever was true at the claim."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime

from automation.runtime.actions.base import Step
from engine.types import ActionResult

# A guard answers for the steps it stops; a step it does not name may pass.
Guard = Callable[[Sequence[Step], datetime], Mapping[int, ActionResult]]
# The budgeted steps of a workflow (ids of nodes, of any of its versions) that mind no sending window.
AnyHour = Callable[[int], Collection[int]]

_guards: dict[str, Guard] = {}
_any_hour: list[AnyHour] = []


def register_guard(key: str, guard: Guard) -> None:
    _guards[key] = guard


def register_any_hour(steps: AnyHour) -> None:
    if steps not in _any_hour:
        _any_hour.append(steps)


def any_hour_steps(workflow_id: int) -> set[int]:
    """The steps that the scheduler claims though the window is closed. One query for each kind of action."""
    return {pk for steps in _any_hour for pk in steps(workflow_id)}


def ask(keys: Sequence[str], steps: Sequence[Step], now: datetime) -> dict[int, ActionResult]:
    """Ask the named guards in order; the first that stops a step decides. KeyError: no such guard."""
    stopped: dict[int, ActionResult] = {}
    for key in keys:
        remaining = [step for step in steps if step.id not in stopped]
        if not remaining:
            break
        stopped |= _guards[key](remaining, now)
    return stopped
