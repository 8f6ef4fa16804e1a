"""Whether a workspace uses automation at all. Who knows lies above this app and is asked through here."""

from __future__ import annotations

from collections.abc import Callable

Switch = Callable[[int], bool]


def _always_on(workspace_id: int) -> bool:  # noqa: ARG001  # the shape of a switch
    return True


_switch: Switch = _always_on


def register_switch(switch: Switch) -> None:
    """Ask `switch(workspace_id)` from now on. Until then every workspace counts as switched on."""
    global _switch
    _switch = switch


def is_on(workspace_id: int) -> bool:
    """Whether the workspace's automation is switched on. May ask the database."""
    return _switch(workspace_id)
