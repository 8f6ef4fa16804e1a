"""Answers on paper: what is kept of one while the database is away, and how it becomes one again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any
from uuid import UUID

from automation.counters import RunPolicyKey
from automation.runtime.spool import Fact
from sms.models import SmsLog, SmsStatus
from sms.sending import Answer, Attempt, Draft, StepKey
from sms.types import Outcome, SendResult

# A lost answer tells nothing that the reaper would not write by itself.
WORTH_KEEPING = frozenset(Outcome) - {Outcome.IN_DOUBT}


def facts(answers: Sequence[Answer]) -> list[Fact]:
    """Ids, words and numbers: neither the number that was written to nor the text."""
    return [_fact(answer) for answer in answers if answer.result.outcome in WORTH_KEEPING]


def _fact(answer: Answer) -> Fact:
    attempt, result = answer.attempt, answer.result
    key, day = attempt.budget
    return {
        "message": attempt.log_id,
        "step": [attempt.step.execution_id, attempt.step.cycle, attempt.step.node_id],
        "attempt": attempt.draft.attempt_number,
        "outcome": str(result.outcome),
        "id": result.provider_message_id or "",
        "code": result.code,
        "parts": result.parts or attempt.draft.parts,
        "budget": [key.campaign_id, key.workflow_id, key.workspace_id, day.isoformat()],
    }


def sort(kept: Sequence[Fact], token: UUID) -> tuple[list[Answer], list[Fact]]:
    """Answers that may be stored now, and facts whose time has not come. What is settled is in neither.

    An acceptance is stored at once. That a message was not taken waits until its execution was taken back
    and the message is in doubt: before that a fresh attempt would have to know of it. One query.
    """
    open_ones = SmsLog.objects.filter(
        pk__in=[fact["message"] for fact in kept], claim_token=token,
        status__in=[SmsStatus.SENDING, SmsStatus.UNKNOWN],
    )  # fmt: skip
    status = dict(open_ones.values_list("pk", "status"))
    ready: list[Answer] = []
    later: list[Fact] = []
    for fact in kept:
        found = status.get(fact["message"])
        if found == SmsStatus.UNKNOWN or (found and fact["outcome"] == Outcome.ACCEPTED):
            ready.append(_answer(fact))
        elif found:
            later.append(fact)
    return ready, later


def _answer(fact: Mapping[str, Any]) -> Answer:
    campaign_id, workflow_id, workspace_id, day = fact["budget"]
    draft = Draft(
        step=StepKey(*fact["step"]), workflow_id=workflow_id, campaign_id=campaign_id, subject_type="",
        subject_id=0, attempt_number=fact["attempt"], status=SmsStatus.SENDING, parts=fact["parts"],
    )  # fmt: skip
    budget = (RunPolicyKey(campaign_id, workflow_id, workspace_id), date.fromisoformat(day))
    result = SendResult(
        outcome=Outcome(fact["outcome"]), provider_message_id=fact["id"] or None, code=fact["code"],
        parts=fact["parts"],
    )  # fmt: skip
    return Answer(attempt=Attempt(log_id=fact["message"], draft=draft, budget=budget), result=result)
