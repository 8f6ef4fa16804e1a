"""Whether a campaign can be started at all. Asked before its start; sending asks again by itself."""

from __future__ import annotations

from django.utils.translation import gettext as _

from automation.models import Workflow, WorkflowNode, WorkflowStatus
from automation.workspace_settings import is_enabled
from campaigns.models import Campaign
from core.errors import Refused
from sms.queries import provider_ready


def require_ready(campaign: Campaign) -> None:
    """Raises Refused: `workflow_archived`, `automation_disabled`, `provider_not_ready`."""
    if Workflow.objects.filter(pk=campaign.workflow_id, status=WorkflowStatus.ARCHIVED).exists():
        raise Refused(
            _("The workflow of this campaign is archived; take it out of the archive first."),
            code="workflow_archived",
        )
    if not is_enabled(campaign.workspace_id):
        raise Refused(
            _("Automation is switched off for this workspace; switch it on in the settings first."),
            code="automation_disabled",
        )
    sends = WorkflowNode.objects.filter(version_id=campaign.workflow_version_id, consumes_budget=True)
    if sends.exists() and not provider_ready(campaign.workspace_id):
        raise Refused(
            _("The SMS provider is switched off or has no credentials; set it up first."),
            code="provider_not_ready",
        )
