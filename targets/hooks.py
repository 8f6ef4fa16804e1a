"""What happens elsewhere when people are removed. Apps above register here; this app imports none of them.

register_removal_hook("automation", count=live_executions, cancel=cancel_executions)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from workspaces.models import User

Count = Callable[[int, Sequence[int]], int]
Cancel = Callable[[int, Sequence[int], User | None], int]


@dataclass(frozen=True, slots=True)
class RemovalHook:
    """`count` says how much would stop, `cancel` stops it; both get the workspace and the people's ids."""

    count: Count
    cancel: Cancel


_hooks: dict[str, RemovalHook] = {}


def register_removal_hook(key: str, *, count: Count, cancel: Cancel) -> None:
    """Add a hook, or replace the one of the same key.

    `cancel` runs in the transaction that removes the people: an exception there keeps them.
    """
    _hooks[key] = RemovalHook(count, cancel)


def unregister_removal_hook(key: str) -> None:
    _hooks.pop(key, None)


def count_affected(workspace_id: int, target_ids: Sequence[int]) -> int:
    """How many live executions (and the like) would end with these people."""
    return sum(hook.count(workspace_id, target_ids) for hook in _hooks.values())


def cancel_affected(workspace_id: int, target_ids: Sequence[int], user: User | None) -> int:
    """End them, inside the caller's transaction; returns how many."""
    return sum(hook.cancel(workspace_id, target_ids, user) for hook in _hooks.values())
