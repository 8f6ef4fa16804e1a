"""Through an account whose pause is over one message goes first; its outcome opens the account or not.

The others do not wait for it where they need not: an account that stands in and is healthy takes them at
once. Only a step that names the account, or a workspace without another one, looks again after a minute.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from automation.runtime import message_checks
from automation.runtime.actions.base import Reserved, Step
from automation.runtime.sms_config import config_of
from automation.runtime.sms_route import way_of
from engine.types import ActionResult, ActionStatus
from sms import breaker
from sms.channel import Channel
from sms.sending import Attempt, Draft, History, Past, StepKey

NOT_NOW = 1_000_000  # tries that an account seems to have had when it is to be the last resort


def one_trial(
    drafts: Sequence[Draft], steps: Sequence[Step], channel: Channel | None, history: History, done: Reserved,
    now: datetime,
) -> list[Draft]:  # fmt: skip
    """The drafts that leave now. Before the budget is taken: accounts are locked before counters, here and
    where results are recorded."""
    half_open = {d.account.id for d in drafts if d.account and d.is_trial}
    if not half_open or channel is None:
        return list(drafts)
    free = {pk for pk in sorted(half_open) if breaker.take_trial(pk, now)}
    by_id = {step.id: step for step in steps}
    clear: list[Draft] = []
    moved: list[Draft] = []
    for draft in drafts:
        key = draft.account.id if draft.account else None
        if key is None or key not in half_open:
            clear.append(draft)
        elif key in free:
            free.remove(key)
            clear.append(draft)
        elif other := _by_another(draft, by_id[draft.step.execution_id], channel, history, now):
            moved.append(other)
        else:
            done.results[draft.step.execution_id] = ActionResult(
                status=ActionStatus.DEFERRED, reason="provider", until=now + breaker.TRIAL_WAIT
            )
    return [*clear, *message_checks.in_hours(moved, done, now)]


def _by_another(draft: Draft, step: Step, channel: Channel, history: History, now: datetime) -> Draft | None:
    """The same message by a healthy account that stands in; None where there is none."""
    past = history.get(draft.step) or Past()
    tried = past.tried.copy()
    tried.update({account.id: NOT_NOW for account in channel.chain if account.half_open})
    way = way_of(channel, config_of(step), draft.text, Past(tried=tried), now)
    if way.refused or way.account is None or way.account.half_open or not way.account.is_open(now):
        return None
    return replace(draft, account=way.account, sender=way.sender, has_next=way.has_next)


def release_trials(drafts: Sequence[Draft], attempts: Mapping[StepKey, Attempt], now: datetime) -> None:
    """A trial without budget, or whose row was a twin's, never leaves: the next message is the trial."""
    unused = {d.account.id for d in drafts if d.account and d.is_trial and d.step not in attempts}
    breaker.release_trials(unused, now)
