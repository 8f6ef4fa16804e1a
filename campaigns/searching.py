"""Campaigns for the search over everything, by name."""

from __future__ import annotations

from collections.abc import Sequence

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from automation.workspace_settings import is_enabled
from campaigns import queries
from workspaces.http import MemberRequest
from workspaces.permissions import Perm
from workspaces.search import NAMES, Hit, Source, Wanted, named
from workspaces.search import register as register_source


def find_campaigns(request: MemberRequest, wanted: Wanted, limit: int) -> Sequence[Hit]:
    """The newest first; none while automation is off and their pages are closed. Two queries."""
    if not is_enabled(request.workspace.pk):
        return []
    rows = queries.campaigns().values_list("pk", "name")
    return [
        Hit(label=name, url=reverse("campaigns:detail", args=[pk]))
        for pk, name in named(rows[:NAMES], wanted, limit)
    ]


def register() -> None:
    """Called once, when the app is ready."""
    source = Source(
        label=_("Campaigns"), icon="campaign", find=find_campaigns, permission=Perm.CAMPAIGNS_VIEW, order=20
    )
    register_source("campaigns.campaigns", source)
