"""Audit events of workflows and what people read for them."""

from __future__ import annotations

from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

WORKFLOW_CREATED: Final = "workflow.created"
WORKFLOW_RENAMED: Final = "workflow.renamed"
WORKFLOW_PUBLISHED: Final = "workflow.published"
WORKFLOW_ARCHIVED: Final = "workflow.archived"
WORKFLOW_RESTORED: Final = "workflow.restored"
DRAFT_CREATED: Final = "workflow.draft_created"
DRAFT_STEP_CHANGED: Final = "workflow.step_changed"
DRAFT_STEP_ADDED: Final = "workflow.step_added"
DRAFT_STEP_REMOVED: Final = "workflow.step_removed"
DRAFT_SETTINGS_CHANGED: Final = "workflow.settings_changed"
AUTOMATION_SETTINGS_CHANGED: Final = "automation.settings_changed"
PERSON_PAUSED: Final = "person.paused"
PERSON_RESUMED: Final = "person.resumed"
PERSON_REMOVED: Final = "person.removed"
PERSON_RESTARTED: Final = "person.restarted"
STEP_RETRIED: Final = "person.step_retried"
COUNTERS_REPAIRED: Final = "counters.repaired"

LABELS: Final[dict[str, str | Promise]] = {
    WORKFLOW_CREATED: _("Workflow created"),
    WORKFLOW_RENAMED: _("Workflow renamed"),
    WORKFLOW_PUBLISHED: _("Workflow published"),
    WORKFLOW_ARCHIVED: _("Workflow archived"),
    WORKFLOW_RESTORED: _("Workflow taken out of the archive"),
    DRAFT_CREATED: _("New draft of a workflow"),
    DRAFT_STEP_CHANGED: _("Step of a draft changed"),
    DRAFT_STEP_ADDED: _("Step added to a draft"),
    DRAFT_STEP_REMOVED: _("Step removed from a draft"),
    DRAFT_SETTINGS_CHANGED: _("Settings of a draft changed"),
    AUTOMATION_SETTINGS_CHANGED: _("Automation settings changed"),
    PERSON_PAUSED: _("People in a campaign paused"),
    PERSON_RESUMED: _("People in a campaign resumed"),
    PERSON_REMOVED: _("People removed from a campaign"),
    PERSON_RESTARTED: _("People in a campaign started again"),
    STEP_RETRIED: _("A failed step started again"),
    COUNTERS_REPAIRED: _("Daily counters repaired"),
}

FIELDS: Final[dict[str, str | Promise]] = {
    "description": _("Description"),
    "template": _("Template"),
    "version": _("Version"),
    "note": _("What changed"),
    "step": _("Step"),
    "title": _("Title"),
    "body": _("Message text"),
    "sender": _("Sender line"),
    "provider": _("SMS provider"),
    "send_only_in_window": _("Only in the sending window"),
    "on_missing_variable": _("When a value is missing"),
    "append_opt_out": _("Add the opt-out text"),
    "retry": _("Retry rule"),
    "is_enabled": _("Switched on"),
    "amount": _("Amount"),
    "unit": _("Unit"),
    "at": _("Moment"),
    "send_window": _("Sending window"),
    "daily_limit": _("Daily limit"),
    "enabled": _("Switched on"),
    "default_send_window": _("Default sending window"),
    "global_daily_limit": _("Daily limit of the workspace"),
    "on_unknown_outcome": _("When the outcome is unknown"),
    "changed_people": _("People changed"),
    "unchanged_people": _("People left as they were"),
    "used": _("Used today"),
    "day": _("Day"),
}
