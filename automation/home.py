"""What the start page says of workflows."""

from __future__ import annotations

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from automation.models import Workflow
from workspaces import home
from workspaces.http import MemberRequest
from workspaces.permissions import Perm


def register() -> None:
    """Called once when the app is ready."""
    home.register_step("automation.workflow", workflow_step, permission=Perm.WORKFLOWS_MANAGE, order=30)


def workflow_step(_request: MemberRequest) -> home.Step:
    """Done once something was published; until then an own draft is where to go on."""
    workflows = Workflow.objects.filter(deleted_at__isnull=True)
    draft = workflows.filter(published_version__isnull=True).order_by("-pk").first()
    return home.Step(
        title=_("Make a workflow"),
        text=_("Start from a template: who gets which message, and when. Then publish it."),
        action=_("Go on") if draft else _("Choose a template"),
        url=reverse("automation:detail", args=[draft.pk]) if draft else reverse("automation:create"),
        icon="workflow",
        done=workflows.filter(published_version__isnull=False).exists(),
    )
