"""Tabs of a person's page. Apps above register them; this app imports none of them.

    register_panel(Panel(key="automation", label=_("Automation"), order=10, build=timeline_panel))

`build` answers with a template and its context, or None where this member may not see the panel (no
permission, feature off): then the tab is not there either. It is called only for the tab that is open;
`visible` is asked for every tab, so it must be cheap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise

from targets.models import Target
from workspaces.http import MemberRequest

Built = tuple[str, dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """`key` is part of the page's address (`?tab=`). The template is a fragment without a frame."""

    key: str
    label: str | Promise
    build: Callable[[MemberRequest, Target], Built | None]
    visible: Callable[[MemberRequest], bool] = lambda _request: True
    order: int = 100


_panels: dict[str, Panel] = {}


def register_panel(panel: Panel) -> None:
    """Add a tab, or replace the one of the same key."""
    _panels[panel.key] = panel


def unregister_panel(key: str) -> None:
    _panels.pop(key, None)


def panels_for(request: MemberRequest) -> list[Panel]:
    """The tabs this member sees, in order."""
    ordered = sorted(_panels.values(), key=lambda panel: (panel.order, panel.key))
    return [panel for panel in ordered if panel.visible(request)]
