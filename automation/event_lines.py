"""The history in words: one map of labels, tones and reasons for every page that shows events."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from django.utils.translation import gettext_lazy as _

from automation import registry
from automation.models import WorkflowExecutionEvent
from automation.problems import port_label
from automation.states import EndReason, ExecutionEventType
from engine.types import NO_TIMEOUT

T = ExecutionEventType
TONES: Final[Mapping[str, str]] = {
    T.ENROLLED: "info", T.ACTIVATED: "info", T.RESUMED: "info", T.RESTARTED: "info", T.RECOVERED: "warn",
    T.COMPLETED: "success", T.FAILED: "danger", T.CANCELLED: "danger", T.BLACKLISTED: "danger",
    T.REMOVED: "danger", T.STATUS_STOP: "danger", T.RETRY_SCHEDULED: "warn", T.DEFERRED_WINDOW: "warn",
    T.DEFERRED_LIMIT: "warn", T.DEFERRED_PROVIDER: "warn", T.PAUSED: "warn", T.SKIPPED: "warn",
    T.SUPPRESSED: "info", T.EXITED: "info",
}  # fmt: skip
REASONS: Final[Mapping[str, Any]] = {
    "window": _("Outside the sending hours"),
    "limit": _("Today's limit is used up"),
    "provider": _("The SMS channel is closed"),
    "reconcile": _("The provider is asked whether the message went out"),
    "proven_sent": _("The provider's list shows that it has the message"),
    "proven_absent": _("The provider's list shows that it never had the message"),
    "line_window": _("Outside the hours of the sender line"),
    "expired": _("The message would have come too late"),
    "frequency_cap": _("This number has had enough messages for now"),
    "phone_served": _("Somebody else with this number has had the message"),
    "forbidden_text": _("The text holds a word or link that this workspace does not allow"),
    "disabled": _("The step is switched off"),
    "holdout": _("In the group that is held out, so nothing is sent"),
    "timeout": _("The time for the event is over"),
    "reached": _("The goal was reached"),
    "not_reached": _("The goal is not reached yet"),
    "blacklisted": _("The number is on the blacklist"),
    "no_mobile": _("There is no valid mobile number"),
    "no_person": _("Nobody is there whose follow-up could be recorded"),
    "missing_personalisation": _("A value for the text is missing"),
    "empty_text": _("The text is empty for this person"),
    "unknown_outcome": _("It is not known whether the message went out; it is not sent again"),
    "first_step": _("From the first step, as a new round"),
    "same_step": _("From the step that failed"),
    "yes": _("Answer: yes"),
    "no": _("Answer: no"),
    "auto": _("(automatic)"),
}


ABSENT: Final[Mapping[str, Any]] = {
    "missing": _("“%(field)s” is not known"),
    "null": _("“%(field)s” has no value"),
    "empty": _("“%(field)s” is empty"),
}
_BRANCH: Final = re.compile(r"(?:case|branch)_[0-9]+|holdout")


def tone(event: WorkflowExecutionEvent) -> str:
    return TONES.get(event.type, "")


def reason(data: Mapping[str, Any]) -> str:
    """The stored reason word in words; "" for one that only machines read."""
    labels = {**dict(EndReason.choices), **REASONS}
    words = [str(data.get(key, "")) for key in ("reason", "outcome", "code")]
    words += ["auto"] if data.get("auto") is True else []
    said = next((str(labels[word]) for word in words if word in labels), "")
    if not said and _BRANCH.fullmatch(words[1]):
        said = str(_("Way: %(way)s")) % {"way": port_label(words[1])}
    return "; ".join([said, *_absent(data)] if said else [])


def _absent(data: Mapping[str, Any]) -> list[str]:
    """What a condition asked about and the person does not have; three kinds of "no value" stay apart."""
    found = data.get("absent")
    if not isinstance(found, Mapping):
        return []
    labels = {field.name: field.label for field in registry.fields()}
    return [
        str(ABSENT[kind]) % {"field": labels.get(name, name)}
        for name, kind in found.items()
        if kind in ABSENT
    ]


def until(data: Mapping[str, Any]) -> datetime | None:
    """The moment an event speaks of (the end of a wait, the next try), if it names one."""
    try:
        moment = datetime.fromisoformat(str(data.get("until", "")))
    except ValueError:
        return None
    return None if moment == NO_TIMEOUT else moment
