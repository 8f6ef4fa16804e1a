"""What is asked of messages that are ready to leave, all of a chunk at once, before budget is taken.

    forbidden words and links   the text of this very person; skipped
    one text a phone            another person with the number had this step's text in the campaign; skipped
    frequency cap               the number had enough promotional messages; skipped
    hours of the line           the line (or the number's operator) is closed; waits for the opening

A skipped message leaves a row that says why. Nothing here uses up anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from automation.runtime import message_history
from automation.runtime.actions.base import Reserved, Step
from automation.runtime.sms_config import config_of
from engine.types import ActionResult, ActionStatus
from sms.channel import Channel
from sms.line_windows import LineWindows
from sms.lines import MessageKind
from sms.models import SmsStatus
from sms.sending import Draft
from sms.wording import describe

EXPIRED = "expired"
FORBIDDEN_TEXT = "forbidden_text"
PHONE_SERVED = "phone_served"
FREQUENCY_CAP = "frequency_cap"
LINE_WINDOW = "line_window"


def expired(steps: Sequence[Step], now: datetime) -> Mapping[int, ActionResult]:
    """A guard: the message would come later than its step or workflow allows. It is never sent; where the
    step says so, the walk stands still behind it. No query."""
    passed_by = ActionResult(status=ActionStatus.SKIPPED, reason=EXPIRED)
    held = ActionResult(status=ActionStatus.HELD, reason=EXPIRED, halt_status="skipped")
    late = [step for step in steps if _is_late(step, now)]
    return {step.id: held if config_of(step).when_late == "hold" else passed_by for step in late}


def _is_late(step: Step, now: datetime) -> bool:
    minutes = config_of(step).expire_after_minutes or step.policy.expire_after_minutes
    allowed_at = step.perform.position.eligible_at
    return (
        minutes is not None and allowed_at is not None and (now - allowed_at).total_seconds() > minutes * 60
    )


def ask(
    drafts: Sequence[Draft], steps: Sequence[Step], channel: Channel, done: Reserved, now: datetime
) -> list[Draft]:
    """The drafts, those that may not leave turned into rows that say why; without those that wait.

    One query, and at most three more where the workspace or a campaign asks for it.
    """
    by_id = {step.id: step for step in steps}
    checked = [_wording(draft, channel) for draft in drafts]
    checked = _one_a_phone(checked, by_id)
    checked = _frequency(checked, by_id, channel, now)
    return in_hours(checked, done, now)


def _skipped(draft: Draft, code: str, detail: str = "") -> Draft:
    return replace(
        draft, status=SmsStatus.SKIPPED, text="", parts=1, account=None, sender="", error_code=code,
        error_message=detail,
    )  # fmt: skip


def _leaves(draft: Draft) -> bool:
    return draft.status == SmsStatus.SENDING


def _wording(draft: Draft, channel: Channel) -> Draft:
    if not channel.wording or not _leaves(draft):
        return draft
    found = channel.wording.find(draft.text)
    return _skipped(draft, FORBIDDEN_TEXT, describe(found[0])) if found else draft


def _one_a_phone(drafts: list[Draft], steps: Mapping[int, Step]) -> list[Draft]:
    asked = [d for d in drafts if _leaves(d) and steps[d.step.execution_id].policy.one_per_phone]
    if not asked:
        return drafts
    served = message_history.served_by_others(
        [(draft.campaign_id, draft.step.node_id, draft.phone, draft.subject_id) for draft in asked]
    )
    late = {
        draft.idempotency_key
        for draft in asked
        if (draft.campaign_id, draft.step.node_id, draft.phone, draft.subject_id) in served
    }
    return [_skipped(d, PHONE_SERVED) if d.idempotency_key in late else d for d in drafts]


def _frequency(
    drafts: list[Draft], steps: Mapping[int, Step], channel: Channel, now: datetime
) -> list[Draft]:
    """Service messages are neither capped nor counted."""
    cap = channel.frequency
    asked = [d for d in drafts if _leaves(d) and _is_promotional(steps[d.step.execution_id])]
    if cap is None or not asked:
        return drafts
    policy = steps[asked[0].step.execution_id].policy
    since = policy.day_start(now, days_before=cap.days - 1)
    had = message_history.promotional_since({draft.phone for draft in asked}, since)
    full = {draft.idempotency_key for draft in asked if had.get(draft.phone, 0) >= cap.messages}
    return [_skipped(d, FREQUENCY_CAP) if d.idempotency_key in full else d for d in drafts]


def _is_promotional(step: Step) -> bool:
    return config_of(step).message_kind == MessageKind.PROMOTIONAL


def in_hours(drafts: list[Draft], done: Reserved, now: datetime) -> list[Draft]:
    """Without those whose line is closed at `now`: they wait for its opening. One query."""
    if not any(map(_leaves, drafts)):
        return drafts
    windows = LineWindows.load()
    if not windows:
        return drafts
    kept: list[Draft] = []
    for draft in drafts:
        opens_at = windows.next_open(draft.sender, draft.phone, now) if _leaves(draft) else now
        if opens_at > now:
            done.results[draft.step.execution_id] = ActionResult(
                status=ActionStatus.DEFERRED, reason=LINE_WINDOW, until=opens_at
            )
        else:
            kept.append(draft)
    return kept
