"""Audit events of campaigns and what people read for them."""

from __future__ import annotations

from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

CAMPAIGN_CREATED: Final = "campaign.created"
CAMPAIGN_CHANGED: Final = "campaign.changed"
CAMPAIGN_SCHEDULED: Final = "campaign.scheduled"
CAMPAIGN_STARTED: Final = "campaign.started"
CAMPAIGN_PAUSED: Final = "campaign.paused"
CAMPAIGN_RESUMED: Final = "campaign.resumed"
CAMPAIGN_CANCELLED: Final = "campaign.cancelled"
CAMPAIGN_COMPLETED: Final = "campaign.completed"
INTAKE_OPENED: Final = "campaign.intake_opened"
INTAKE_CLOSED: Final = "campaign.intake_closed"
PEOPLE_ADDED: Final = "campaign.people_added"
ADDING_FAILED: Final = "campaign.adding_failed"
SELECTION_DISCARDED: Final = "campaign.selection_discarded"

SENDING_STOPPED: Final = "campaign.sending_stopped"
SENDING_RESUMED: Final = "campaign.sending_resumed"
ADDING_STOPPED: Final = "campaign.adding_stopped"
RULE_SAVED: Final = "campaign.rule_saved"
RULE_OFF: Final = "campaign.rule_off"

LABELS: Final[dict[str, str | Promise]] = {
    CAMPAIGN_CREATED: _("Campaign created"),
    CAMPAIGN_CHANGED: _("Campaign changed"),
    CAMPAIGN_SCHEDULED: _("Campaign scheduled"),
    CAMPAIGN_STARTED: _("Campaign started"),
    CAMPAIGN_PAUSED: _("Campaign paused"),
    CAMPAIGN_RESUMED: _("Campaign resumed"),
    CAMPAIGN_CANCELLED: _("Campaign cancelled"),
    CAMPAIGN_COMPLETED: _("Campaign ended"),
    INTAKE_OPENED: _("Campaign opened to new people"),
    INTAKE_CLOSED: _("Campaign closed to new people"),
    PEOPLE_ADDED: _("People added to a campaign"),
    ADDING_FAILED: _("Adding people to a campaign failed"),
    SENDING_STOPPED: _("Everything stopped"),
    SENDING_RESUMED: _("Everything resumed"),
    ADDING_STOPPED: _("Adding people to a campaign stopped"),
    RULE_SAVED: _("Rule for new people saved"),
    RULE_OFF: _("Rule for new people switched off"),
    SELECTION_DISCARDED: _("Selection of people discarded"),
}

FIELDS: Final[dict[str, str | Promise]] = {
    "description": _("Description"),
    "workflow": _("Workflow"),
    "version": _("Version"),
    "starts_at": _("Start"),
    "ends_at": _("End"),
    "daily_limit": _("Daily limit"),
    "send_window": _("Sending window"),
    "stop_statuses": _("Statuses that stop the messages"),
    "selected": _("Selected people"),
    "added": _("Added people"),
    "left_out": _("People left out"),
    "started_people": _("People who started"),
    "stopped_people": _("People stopped"),
    "in_work": _("Messages on their way"),
    "reason": _("Reason"),
    "conditions": _("Conditions"),
    "daily_cap": _("New people a day at most"),
    "include_existing": _("People who exist already"),
}
