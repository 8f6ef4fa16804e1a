"""The history in words: one map of labels, tones and reasons for every page that shows events."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from django.utils.translation import gettext_lazy as _

from automation.models import WorkflowExecutionEvent
from automation.states import EndReason, ExecutionEventType

T = ExecutionEventType
TONES: Final[Mapping[str, str]] = {
    T.ENROLLED: "info", T.ACTIVATED: "info", T.RESUMED: "info", T.RESTARTED: "info", T.RECOVERED: "warn",
    T.COMPLETED: "success", T.FAILED: "danger", T.CANCELLED: "danger", T.BLACKLISTED: "danger",
    T.REMOVED: "danger", T.STATUS_STOP: "danger", T.RETRY_SCHEDULED: "warn", T.DEFERRED_WINDOW: "warn",
    T.DEFERRED_LIMIT: "warn", T.DEFERRED_PROVIDER: "warn", T.PAUSED: "warn", T.SKIPPED: "warn",
}  # fmt: skip
REASONS: Final[Mapping[str, Any]] = {
    "window": _("Outside the sending hours"),
    "limit": _("Today's limit is used up"),
    "provider": _("The SMS channel is closed"),
    "disabled": _("The step is switched off"),
    "blacklisted": _("The number is on the blacklist"),
    "no_mobile": _("There is no valid mobile number"),
    "missing_personalisation": _("A value for the text is missing"),
    "empty_text": _("The text is empty for this person"),
    "unknown_outcome": _("It is not known whether the message went out; it is not sent again"),
    "first_step": _("From the first step, as a new round"),
    "same_step": _("From the step that failed"),
    "yes": _("Answer: yes"),
    "no": _("Answer: no"),
}


def tone(event: WorkflowExecutionEvent) -> str:
    return TONES.get(event.type, "")


def reason(data: Mapping[str, Any]) -> str:
    """The stored reason word in words; "" for one that only machines read."""
    labels = {**dict(EndReason.choices), **REASONS}
    words = (str(data.get(key, "")) for key in ("reason", "outcome", "code"))
    return next((str(labels[word]) for word in words if word in labels), "")


def until(data: Mapping[str, Any]) -> datetime | None:
    """The moment an event speaks of (the end of a wait, the next try), if it names one."""
    try:
        return datetime.fromisoformat(str(data.get("until", "")))
    except ValueError:
        return None
