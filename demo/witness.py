"""Collects what the proof looks at: the simulator's record, and what our tables say of each walk."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, time
from pathlib import Path
from zoneinfo import ZoneInfo

from automation.models import WorkflowExecution
from automation.states import LIVE, ExecutionStatus
from core.tenancy import workspace_scope
from core.text import normalize_text
from demo.cast import Cast, Step
from demo.proof import Evidence, Rules, Sent, Walk, Witnessed
from sms.models import SmsLog
from sms.simulator.record import read
from sms.usage.ledger import ACCEPTED
from targets.models import Target

VARIABLE = re.compile(r"\{[^{}]*\}")
ALL_DAY, HALF_DAY = (time(9), time(18)), (time(9), time(13))
# Saturday to Wednesday until six, Thursday until one, Friday closed; Monday is 0.
HOURS: Mapping[int, tuple[time, time]] = {
    5: ALL_DAY,
    6: ALL_DAY,
    0: ALL_DAY,
    1: ALL_DAY,
    2: ALL_DAY,
    3: HALF_DAY,
}


def rules(cast: Cast, *, cap: int) -> Rules:
    """What was promised for this campaign."""
    return Rules(cap, ZoneInfo("Asia/Tehran"), HOURS, {step.name: _pattern(step.text) for step in cast.steps})


def _pattern(text: str) -> re.Pattern[str]:
    """A text as it leaves: any value where a variable stands."""
    pieces = [re.escape(normalize_text(piece)) for piece in VARIABLE.split(text)]
    return re.compile(r"\s*.*?\s*".join(pieces), re.DOTALL)


def record(folder: Path) -> list[Witnessed]:
    """Every message the provider's side accepted, oldest first."""
    return [Witnessed(one.id, one.number, one.text, one.clock) for one in read(folder)]


def evidence(cast: Cast, campaign_id: int, folder: Path, blocked: Mapping[str, datetime]) -> Evidence:
    """Everything the proof looks at."""
    with workspace_scope(cast.workspace.pk):
        return Evidence(record(folder), _walks(campaign_id, cast.steps), _sent(campaign_id), blocked)


def _walks(campaign_id: int, steps: Sequence[Step]) -> list[Walk]:
    attempts = _attempts(campaign_id, {step.node_id: step.name for step in steps})
    rows = WorkflowExecution.objects.filter(campaign_id=campaign_id).order_by("pk")
    walks = list(rows.values_list("pk", "subject_id", "status"))
    subjects = Target.objects.filter(pk__in=rows.order_by().values("subject_id"))
    phones = dict(subjects.values_list("pk", "mobile"))
    return [
        Walk(
            phone=phones[subject],
            ended=status not in LIVE,
            completed=status == ExecutionStatus.COMPLETED,
            steps=attempts.get(pk, {}),
        )
        for pk, subject, status in walks
    ]


def _attempts(campaign_id: int, names: Mapping[int, str]) -> dict[int, dict[str, list[str]]]:
    """Execution to step to the status of each attempt, in order."""
    found: dict[int, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    rows = SmsLog.objects.filter(campaign_id=campaign_id).order_by("attempt_number", "pk")
    for execution, node, status in rows.values_list("execution_id", "node_id", "status").iterator():
        if execution is not None and node is not None and node in names:
            found[execution][names[node]].append(status)
    return found


def _sent(campaign_id: int) -> list[Sent]:
    """What the provider took, as we know; one that was found in its list has no id."""
    rows = SmsLog.objects.filter(ACCEPTED, campaign_id=campaign_id)
    return [
        Sent(phone, pk) for phone, pk in rows.values_list("phone_number", "provider_message_id").iterator()
    ]
