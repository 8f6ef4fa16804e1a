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
DRAFT_STEP_MOVED: Final = "workflow.step_moved"
DRAFT_SETTINGS_CHANGED: Final = "workflow.settings_changed"
DRAFT_RESTORED: Final = "workflow.draft_restored"
DRAFT_IMPORTED: Final = "workflow.draft_imported"
DRAFT_SAVED: Final = "workflow.draft_saved"
VERSION_ARCHIVED: Final = "workflow.version_archived"
VERSION_RESTORED: Final = "workflow.version_restored"
TEMPLATE_SAVED: Final = "workflow_template.saved"
TEMPLATE_REMOVED: Final = "workflow_template.removed"
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
    DRAFT_STEP_MOVED: _("Step of a draft moved"),
    DRAFT_SETTINGS_CHANGED: _("Settings of a draft changed"),
    DRAFT_RESTORED: _("Change of a draft undone or redone"),
    DRAFT_IMPORTED: _("Draft replaced by a file"),
    DRAFT_SAVED: _("Draft saved as a whole by a program"),
    VERSION_ARCHIVED: _("Version put into the archive"),
    VERSION_RESTORED: _("Version taken out of the archive"),
    TEMPLATE_SAVED: _("Workflow saved as a template"),
    TEMPLATE_REMOVED: _("Workflow template removed"),
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
    "message_kind": _("What the message is"),
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
    "expire_after_minutes": _("Minutes after which a message is too late"),
    "when_late": _("When it is too late"),
    "one_per_phone": _("One text for a shared number"),
    "changed_people": _("People changed"),
    "unchanged_people": _("People left as they were"),
    "used": _("Used today"),
    "day": _("Day"),
    "change": _("Undo or redo"),
    "file": _("File"),
    "with_steps": _("Steps in its branches"),
    # What single kinds of step are set to
    "mode": _("Kind"),
    "behavior": _("Kind"),
    "event": _("Event"),
    "hour": _("Hour"),
    "minute": _("Minute"),
    "fallback_hour": _("Hour for people whose best time is not known yet"),
    "window_days": _("Within how many days"),
    "root": _("Condition"),
    "definition": _("Condition"),
    "filter": _("Condition"),
    "cases": _("Cases"),
    "label": _("Name"),
    "branches": _("Ways"),
    "variant": _("Way"),
    "weight": _("Share"),
    "holdout_percent": _("Held out, in percent"),
    "to_node": _("Back to which step"),
    "delay": _("Pause before the next round"),
    "max_cycles": _("Rounds at most"),
    "strategy": _("Pace"),
    "max_attempts": _("How many more times"),
    "interval_seconds": _("Seconds in between"),
    "on_exhausted": _("When every try has failed"),
}

VALUES: Final[dict[str, dict[str, str | Promise]]] = {
    "on_unknown_outcome": {
        "continue": _("Go on to the next step"),
        "hold": _("Stop and wait for a decision"),
        "reconcile": _("Ask the provider first"),
    },
    "on_missing_variable": {
        "skip": _("Do not send this message to that person"),
        "send_blank": _("Send it with a gap"),
    },
    "message_kind": {"promotional": _("Promotional"), "service": _("Service")},
    "mode": {
        "duration": _("Wait"),
        "until": _("Wait until a date"),
        "until_time": _("Wait until a time of day"),
        "until_best_time": _("Wait until the best time"),
        "for_event": _("Wait for an event"),
    },
    "strategy": {"fixed": _("always the same pause"), "exponential": _("twice as long each time")},
    "on_exhausted": {
        "fail": _("Mark the person as failed"),
        "stop": _("The person leaves the workflow"),
        "skip_step": _("Skip this message and go on"),
        "continue": _("Go on as if sent"),
    },
    "unit": {
        "minute": _("minutes"),
        "hour": _("hours"),
        "day": _("days"),
        "week": _("weeks"),
        "month": _("months"),
        "year": _("years"),
    },
}
