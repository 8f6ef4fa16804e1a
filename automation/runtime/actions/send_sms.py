"""The SMS step: guards and budget for the whole chunk, message rows first, one call each, results once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Any
from uuid import UUID, uuid4

from automation import counters
from automation.action_specs.send_sms import SUBTYPE
from automation.counters import RunPolicyKey
from automation.runtime import guards, message_checks
from automation.runtime.actions import kept_sms, reconcile, trials, used_up
from automation.runtime.actions.base import Calls, Reserved, Step
from automation.runtime.policy import RunPolicy
from automation.runtime.sms_config import config_of
from automation.runtime.sms_guards import SMS_GUARDS
from automation.runtime.sms_route import way_of
from automation.runtime.spool import Fact
from automation.states import ExecutionEventType
from core.failpoints import failpoint
from core.phones import mobile_or_none
from engine.text import Text, parse_text, render
from engine.types import ActionResult, ActionStatus
from sms import queries as sms_queries
from sms import sending, sending_calls
from sms.channel import Channel
from sms.models import SmsStatus
from sms.parts import parts_of
from sms.sending import Answer, Attempt, Draft, StepKey
from sms.usage import ledger

IN_FLIGHT_PAUSE = timedelta(minutes=1)
Notes = dict[int, list[tuple[str, Mapping[str, Any]]]]


@lru_cache(maxsize=2048)
def _parsed(body: str) -> Text:
    return parse_text(body)


class SendSms:
    """`automation.runtime.actions.base.RuntimeAction` for `send_sms`."""

    subtype = SUBTYPE

    def reserve(self, steps: Sequence[Step], token: UUID, now: datetime) -> Reserved:
        done = Reserved()
        history = sending.attempts_of([_key(step) for step in steps])
        open_steps = _settle_leftovers(steps, history, done, now)
        with sms_queries.one_moment():
            stopped = guards.ask(SMS_GUARDS, open_steps, now)
            channel = Channel.load(open_steps[0].policy.workspace_id) if open_steps else None
        refused = [_blocked_draft(s, history, r) for s in open_steps if (r := stopped.get(s.id))]
        done.results |= {s.id: _said_of(s, stopped[s.id]) for s in open_steps if s.id in stopped}
        passing = [step for step in open_steps if step.id not in stopped]
        drafts = [] if channel is None else [draft_of(step, history, channel, now) for step in passing]
        drafts = [] if channel is None else message_checks.ask(drafts, passing, channel, done, now)
        ready = [draft for draft in drafts if draft.status == SmsStatus.SENDING]
        ready = trials.one_trial(ready, passing, channel, history, done, now)
        granted = _reserve_budget(passing, ready, done, now)
        granted = _one_in_flight(granted, passing, done, now)
        failpoint("after_budget")
        rest = [d for d in drafts if d.status != SmsStatus.SENDING] + [d for d in refused if d is not None]
        attempts = sending.insert([*granted, *rest], token, now)
        _collect(attempts, granted, passing, done, now)
        trials.release_trials(ready, attempts, now)
        return done

    def call(self, calls: Sequence[Attempt], deadline: float) -> Sequence[Answer]:
        return sending_calls.call_all(calls, deadline)

    def start(self, calls: Sequence[Attempt], deadline: float) -> Calls:
        return sending_calls.Calls(calls, deadline)

    def results(self, answers: Sequence[Answer], now: datetime) -> dict[int, ActionResult]:
        return {answer.attempt.step.execution_id: _result(answer, now) for answer in answers}

    def abandon(self, execution_ids: Sequence[int], now: datetime) -> Notes:
        return {
            execution_id: [(ExecutionEventType.SMS_ATTEMPT, _interrupted(log_id))]
            for log_id, execution_id in sending.close_abandoned(execution_ids, now)
        }

    def record(self, answers: Sequence[Answer], retry_at: Mapping[int, datetime], now: datetime) -> Notes:
        recorded = sending.record(answers, retry_at, now)
        units: Counter[tuple[RunPolicyKey, date]] = Counter()
        notes: Notes = {}
        for answer in answers:
            attempt = answer.attempt
            if attempt.log_id not in recorded:
                continue
            if not answer.uses_budget:
                units[attempt.budget] += 1
            notes[attempt.step.execution_id] = [(ExecutionEventType.SMS_ATTEMPT, _line(answer))]
        counters.give_back(units)
        ours = [answer for answer in answers if answer.attempt.log_id in recorded]
        if passed_by := used_up.rows(ours, retry_at):
            sending.insert(passed_by, uuid4(), now)
        return notes

    def facts(self, answers: Sequence[Answer]) -> list[Fact]:
        return kept_sms.facts(answers)

    def settle(self, facts: Sequence[Fact], token: UUID, now: datetime) -> tuple[list[Fact], Notes]:
        ready, later = kept_sms.sort(facts, token)
        reconcile.WaitingWalks().hold([answer.attempt.step.execution_id for answer in ready])
        notes = self.record(ready, {}, now) if ready else {}
        # What is kept names neither text nor line: the ledger reads them from the messages.
        ledger.enter_messages(answer.attempt.log_id for answer in ready)
        reconcile.told_late(ready, now)
        return later, notes


def _key(step: Step) -> StepKey:
    return StepKey(step.id, step.perform.position.cycle, step.node_id)


def _settle_leftovers(
    steps: Sequence[Step], history: sending.History, done: Reserved, now: datetime
) -> list[Step]:
    """A step that left an attempt behind is never sent again: the attempt's own status decides."""
    open_steps: list[Step] = []
    unfinished: list[int] = []
    askable = reconcile.Askable(past.account_id for past in history.values())
    for step in steps:
        past = history.get(_key(step))
        if past is None or not past.decided:
            open_steps.append(step)
            continue
        if past.in_flight_id:
            unfinished.append(past.in_flight_id)
            done.note(step.id, ExecutionEventType.SMS_ATTEMPT, _interrupted(past.in_flight_id))
        if past.accepted and not past.in_flight_id:
            done.results[step.id] = ActionResult(status=ActionStatus.SUCCESS, reason="unknown_outcome")
        else:
            done.results[step.id] = reconcile.left_behind(step.policy, past, askable, now)
    sending.close_unfinished(unfinished, now)
    return reconcile.try_again(open_steps, history, _key, done, now)


def _interrupted(log_id: int) -> Mapping[str, Any]:
    return {"status": SmsStatus.UNKNOWN, "sms_log_id": log_id}


def _said_of(step: Step, result: ActionResult) -> ActionResult:
    """A blocked number ends a list campaign for the person; in a journey the later steps still make sense."""
    if result.status is ActionStatus.BLOCKED and step.policy.kind == "journey":
        return ActionResult(status=ActionStatus.SKIPPED, reason=result.reason)
    return result


def _blocked_draft(step: Step, history: sending.History, result: ActionResult) -> Draft | None:
    """A blocked number or a message that comes too late leaves a row that says so; a deferral leaves none."""
    if result.status is ActionStatus.BLOCKED:
        return _empty_draft(step, history, SmsStatus.BLACKLISTED, "blacklisted")
    if result.status in (ActionStatus.SKIPPED, ActionStatus.HELD):
        return _empty_draft(step, history, SmsStatus.EXPIRED, result.reason)
    return None


def _empty_draft(step: Step, history: sending.History, status: str, code: str, detail: str = "") -> Draft:
    return Draft(
        step=_key(step), workflow_id=step.policy.workflow_id, campaign_id=step.policy.campaign_id,
        subject_type=step.execution.subject_type, subject_id=step.execution.subject_id,
        attempt_number=history.next_attempt(_key(step)), status=status,
        phone=step.subject.contacts.get("sms", ""), template=config_of(step).body,
        error_code=code, error_message=detail,
    )  # fmt: skip


def draft_of(step: Step, history: sending.History, channel: Channel, now: datetime) -> Draft:
    """The message as it would leave now, from the person's live data; or a row that says why it cannot."""
    config, key = config_of(step), _key(step)
    phone = mobile_or_none(step.subject.contacts.get("sms", ""))
    if phone is None:
        return _empty_draft(step, history, SmsStatus.SKIPPED, "no_mobile")
    blank = config.on_missing_variable == "send_blank"
    rendered = render(_parsed(config.body), step.facts, on_missing="blank" if blank else "skip")
    if rendered.skip:
        return _empty_draft(
            step, history, SmsStatus.SKIPPED, "missing_personalisation", ", ".join(rendered.missing)
        )
    text = channel.compose(rendered.text, append_opt_out=config.append_opt_out)
    if not text:
        return _empty_draft(step, history, SmsStatus.SKIPPED, "empty_text")
    way = way_of(channel, config, text, history.get(key), now)
    if way.refused:
        return _empty_draft(step, history, SmsStatus.SKIPPED, way.refused)
    return Draft(
        step=key, workflow_id=step.policy.workflow_id, campaign_id=step.policy.campaign_id,
        subject_type=step.execution.subject_type, subject_id=step.execution.subject_id,
        attempt_number=history.next_attempt(key), status=SmsStatus.SENDING, phone=phone,
        template=config.body, text=text,
        parts=parts_of(text), account=way.account, sender=way.sender, has_next=way.has_next,
    )  # fmt: skip


def _reserve_budget(
    steps: Sequence[Step], drafts: Sequence[Draft], done: Reserved, now: datetime
) -> list[Draft]:
    """Take budget in claim order; whoever finds none waits for the next day, with nothing used up."""
    by_id = {step.id: step for step in steps}
    by_campaign: dict[int, list[Draft]] = {}
    for draft in drafts:
        by_campaign.setdefault(draft.campaign_id, []).append(draft)
    granted: list[Draft] = []
    for campaign_id in sorted(by_campaign):
        wanted = by_campaign[campaign_id]
        policy = by_id[wanted[0].step.execution_id].policy
        count = counters.reserve(policy, now, len(wanted))
        granted += wanted[:count]
        midnight = policy.next_day(now)
        opening = policy.next_open(midnight)
        for draft in wanted[count:]:
            minds_hours = config_of(by_id[draft.step.execution_id]).send_only_in_window
            done.results[draft.step.execution_id] = ActionResult(
                status=ActionStatus.DEFERRED, reason="limit", until=opening if minds_hours else midnight
            )
    return granted


def _one_in_flight(
    drafts: Sequence[Draft], steps: Sequence[Step], done: Reserved, now: datetime
) -> list[Draft]:
    """Two messages to one phone are never on the wire together: the later one waits a minute."""
    if not drafts:
        return []
    busy = sending.phones_in_flight({draft.phone for draft in drafts})
    clear: list[Draft] = []
    held_back: list[Draft] = []
    for draft in drafts:
        (held_back if draft.phone in busy else clear).append(draft)
        busy.add(draft.phone)
    _put_off(held_back, steps, done, now)
    return clear


def _put_off(drafts: Sequence[Draft], steps: Sequence[Step], done: Reserved, now: datetime) -> None:
    policies = {step.id: step.policy for step in steps}
    units: Counter[tuple[RunPolicyKey, date]] = Counter()
    for draft in drafts:
        policy = policies[draft.step.execution_id]
        units[(RunPolicyKey.of(policy), policy.day(now))] += 1
        done.results[draft.step.execution_id] = ActionResult(
            status=ActionStatus.DEFERRED, reason="provider", until=now + IN_FLIGHT_PAUSE
        )
    counters.give_back(units)


def _budget(policy: RunPolicy, now: datetime) -> tuple[RunPolicyKey, date]:
    """The counters that a unit of today is taken from."""
    return RunPolicyKey.of(policy), policy.day(now)


def _collect(
    attempts: Mapping[StepKey, Attempt], granted: Sequence[Draft], steps: Sequence[Step], done: Reserved,
    now: datetime,
) -> None:  # fmt: skip
    """Rows that are ours go to the provider; a twin that was faster keeps the phone for this minute."""
    by_id = {step.id: step for step in steps}
    policies = {step.policy.campaign_id: step.policy for step in steps}
    budgets = {pk: _budget(policy, now) for pk, policy in policies.items()}
    lost: list[Draft] = []
    for draft in granted:
        attempt = attempts.get(draft.step)
        if attempt is None:
            lost.append(draft)
            continue
        policy = by_id[draft.step.execution_id].policy
        attempt.budget = budgets[policy.campaign_id]
        attempt.on_unknown = policy.on_unknown
        attempt.skips_when_used_up = used_up.skips(by_id[draft.step.execution_id])
        done.calls.append(attempt)
    _put_off(lost, steps, done, now)
    sent = {draft.step for draft in granted}
    _tell_unsent({key: attempt for key, attempt in attempts.items() if key not in sent}, done)


def _tell_unsent(attempts: Mapping[StepKey, Attempt], done: Reserved) -> None:
    """Rows that say why nothing was sent are told in the history."""
    for key, attempt in attempts.items():
        data = {
            "status": attempt.draft.status,
            "sms_log_id": attempt.log_id,
            "code": attempt.draft.error_code,
        }
        done.note(key.execution_id, ExecutionEventType.SMS_ATTEMPT, data)
        if attempt.draft.status == SmsStatus.SKIPPED:
            done.results[key.execution_id] = ActionResult(
                status=ActionStatus.SKIPPED, reason=attempt.draft.error_code
            )


def _result(answer: Answer, now: datetime) -> ActionResult:
    code = answer.result.code
    if used_up.stands_in(answer):
        # The next visit is an attempt of its own, by the account that stands in.
        return ActionResult(status=ActionStatus.DEFERRED, reason="provider", until=now)
    match answer.fate:
        case sending.Fate.ACCEPTED:
            return ActionResult(status=ActionStatus.SUCCESS)
        case sending.Fate.REFUSED:
            return ActionResult(status=ActionStatus.REJECTED, reason=code)
        case sending.Fate.TRY_AGAIN:
            return ActionResult(status=ActionStatus.FAILED, reason=code, until=answer.not_before(now))
        case sending.Fate.CHANNEL_CLOSED:
            return ActionResult(status=ActionStatus.DEFERRED, reason="provider", until=answer.reopens_at(now))
        case sending.Fate.IN_DOUBT:
            return reconcile.in_doubt(answer, now)


def _line(answer: Answer) -> Mapping[str, Any]:
    return {
        "status": answer.status, "sms_log_id": answer.attempt.log_id,
        "attempt": answer.attempt.draft.attempt_number, "code": answer.result.code,
    }  # fmt: skip
