"""Whether a workspace can send at all. Asked before a campaign starts; sending asks again by itself."""

from __future__ import annotations

from django.utils.translation import gettext as _

from automation.models import WorkflowNode
from automation.workspace_settings import is_enabled
from campaigns.models import Campaign
from core.errors import Refused
from sms.queries import provider_ready


def require_ready(campaign: Campaign) -> None:
    """Raises Refused (`automation_disabled`, `provider_not_ready`) when nothing could be sent."""
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
