"""Workflows for the search over everything, by name."""

from __future__ import annotations

from collections.abc import Sequence

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from automation.models import Workflow
from workspaces.http import MemberRequest
from workspaces.permissions import Perm
from workspaces.search import NAMES, Hit, Source, Wanted, named
from workspaces.search import register as register_source


def find_workflows(request: MemberRequest, wanted: Wanted, limit: int) -> Sequence[Hit]:  # noqa: ARG001
    """The newest first. One query."""
    rows = Workflow.objects.filter(deleted_at__isnull=True).order_by("-pk").values_list("pk", "name")
    return [
        Hit(label=name, url=reverse("automation:detail", args=[pk]))
        for pk, name in named(rows[:NAMES], wanted, limit)
    ]


def register() -> None:
    """Called once, when the app is ready."""
    source = Source(
        label=_("Workflows"), icon="workflow", find=find_workflows, permission=Perm.WORKFLOWS_VIEW, order=30
    )
    register_source("automation.workflows", source)
