"""The automation tab of a person's page: where they are now, why or why not, and everything that happened."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_lazy as _

from automation import panels
from campaigns import queries
from campaigns.whereabouts import whereabouts
from campaigns.why import answer
from core import clock
from core.errors import NotFound
from targets.models import Target
from targets.panels import Built, Panel
from workspaces.http import MemberRequest

CHOICES = 200  # campaigns that can be asked about, the newest
MAX_ID = 2**63 - 1


def build(request: MemberRequest, target: Target) -> Built:
    """Constant queries, however much happened."""
    now = clock.now()
    asked = _asked(request.GET.get("why", ""))
    campaign = queries.campaign_for(asked) if asked else None
    context: dict[str, Any] = {
        "current": whereabouts(target, now),
        "choices": queries.campaigns().values_list("pk", "name")[:CHOICES],
        "asked": campaign,
        "why": answer(campaign, target, now) if campaign else None,
        **panels.history(request, target),
    }
    return "campaigns/person_panel.html", context


def _asked(raw: str) -> int:
    """The campaign that is asked about; 0 for none. Raises NotFound for what is no id."""
    if not raw:
        return 0
    if not (raw.isascii() and raw.isdigit() and int(raw[:20]) <= MAX_ID):
        raise NotFound
    return int(raw)


PANEL = Panel(key="automation", label=_("Automation"), build=build, visible=panels.is_visible, order=10)
