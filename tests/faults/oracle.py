"""What must hold when everything is over, judged from the provider's own record and the rows.

`judge` names every breach in a sentence; an empty list is the proof. It knows nothing of how the
product works, only what was promised.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from zoneinfo import ZoneInfo

from automation.models import DailyCounter, WorkflowExecution, WorkflowExecutionEvent, WorkflowNode
from automation.states import CLAIMABLE, CLAIMED, ENDED, EndReason, ExecutionStatus
from engine.windows import SendWindow
from sms.models import SmsLog, SmsStatus
from sms.settlement import PROVEN_ABSENT
from sms.simulator.record import AcceptedMessage
from tests.faults.world import World

TEHRAN = ZoneInfo("Asia/Tehran")
TAKEN = frozenset({SmsStatus.SUBMITTED, SmsStatus.SENT, SmsStatus.DELIVERED, SmsStatus.UNDELIVERED})
Visit = tuple[str, str]  # number, text: the texts of a campaign's steps differ


@dataclass(slots=True)
class Evidence:
    """Everything one verdict looks at, read once."""

    world: World
    accepted: list[AcceptedMessage]
    foreign: list[AcceptedMessage]
    rows: list[SmsLog]
    executions: list[WorkflowExecution]
    counters: list[DailyCounter]
    events: list[WorkflowExecutionEvent]

    @classmethod
    def of(cls, world: World) -> Evidence:
        mine = {"workspace_id": world.workspace.pk}
        record = world.house.accepted()
        ids = {row.provider_message_id for row in SmsLog.unscoped.filter(**mine) if row.provider_message_id}
        return cls(
            world=world,
            accepted=[m for m in record if m.account == world.username],
            foreign=[m for m in record if m.account != world.username and m.id in ids],
            rows=list(SmsLog.unscoped.filter(**mine).order_by("pk")),
            executions=list(WorkflowExecution.unscoped.filter(**mine).order_by("pk")),
            counters=list(DailyCounter.unscoped.filter(**mine)),
            events=list(WorkflowExecutionEvent.unscoped.filter(**mine).order_by("pk")),
        )


def judge(world: World, *, at_least: int = 1, clock_stood_still: bool = True) -> list[str]:
    """Every promise that was broken. `at_least`: so many messages must have been accepted at all.

    `clock_stood_still`: nobody moved the clock while a process ran, so a message's time at the provider
    is the time of its reservation; else only the reservation can be judged.
    """
    seen = Evidence.of(world)
    found = [
        *_twice(seen),
        *_rows_and_record(seen),
        *_lost(seen),
        *_given_up(seen),
        *_skipped_silently(seen),
        *_over_cap(seen, clock_stood_still),
        *_outside_window(seen, clock_stood_still),
        *_after_no(seen),
        *_counters(seen),
        *_history(seen),
        *_across(seen),
        *_doubt(seen),
    ]
    if len(seen.accepted) < at_least:
        found.append(f"the run did nothing: {len(seen.accepted)} accepted of at least {at_least}")
    return found


def _visit(number: str, text: str) -> Visit:
    return number[-10:], text


def _believed(row: SmsLog) -> bool:
    return row.status in TAKEN or bool(row.provider_message_id)


def _twice(seen: Evidence) -> Iterator[str]:
    for visit, count in Counter(_visit(m.number, m.text) for m in seen.accepted).items():
        if count > 1:
            yield f"sent {count} times: step {visit[1]!r} to {visit[0]}"


def _rows_and_record(seen: Evidence) -> Iterator[str]:
    """Whatever the provider took has a row that says so or is in doubt, and the other way round."""
    ids = {m.id: m for m in seen.accepted}
    counts: dict[Visit, Counter[str]] = defaultdict(Counter)
    for row in seen.rows:
        visit = _visit(row.phone_number, row.final_message)
        counts[visit]["taken"] += _believed(row)
        counts[visit]["unknown"] += row.status == SmsStatus.UNKNOWN
        if row.status == SmsStatus.SENDING:
            yield f"message {row.pk} is still on its way"
        # What was found in the provider's list has no id of its own there: the count below judges it.
        if _believed(row) and row.provider_message_id and row.provider_message_id not in ids:
            yield f"message {row.pk} is called taken, and the provider has no such id"
    for message in seen.accepted:
        counts[_visit(message.number, message.text)]["accepted"] += 1
    for visit, count in counts.items():
        if count["accepted"] > count["taken"] + count["unknown"]:
            yield f"taken by the provider, called unsent by us: {visit[1]!r} to {visit[0]}"
        if count["taken"] > count["accepted"]:
            yield f"called sent by us, unknown to the provider: {visit[1]!r} to {visit[0]}"


def _lost(seen: Evidence) -> Iterator[str]:
    entered = len(seen.world.scenario.targets)
    if len(seen.executions) != entered:
        yield f"{entered} entered, {len(seen.executions)} are here"
    for row in seen.executions:
        if row.status in CLAIMED or row.status in CLAIMABLE:
            yield f"execution {row.pk} is left {row.status}"


def _given_up(seen: Evidence) -> Iterator[str]:
    """Faults are the world's, not the person's: none of them is a reason to end somebody's walk."""
    for row in seen.executions:
        if row.end_reason == EndReason.POISON:
            yield f"execution {row.pk} was given up as poison"


def _skipped_silently(seen: Evidence) -> Iterator[str]:
    """Whoever walked to the end has, for each step, a message that left, may have left or says why not.

    One that was proven absent says so: the walk had waited for the proof as long as it may, and gone on.
    """
    nodes = WorkflowNode.unscoped.filter(version=seen.world.scenario.version, subtype="send_sms")
    steps = set(nodes.values_list("pk", flat=True))
    decided: dict[int, set[int]] = defaultdict(set)
    for row in seen.rows:
        if row.status != SmsStatus.FAILED or _believed(row) or row.error_code == PROVEN_ABSENT:
            decided[row.execution_id or 0].add(row.node_id or 0)
    for execution in seen.executions:
        if execution.status == ExecutionStatus.COMPLETED and not steps <= decided[execution.pk]:
            yield f"execution {execution.pk} completed without one of its messages"


def _local_day(moment: datetime | None) -> date:
    assert moment is not None
    return moment.astimezone(TEHRAN).date()


def _uses_budget(row: SmsLog) -> bool:
    return _believed(row) or row.status in (SmsStatus.UNKNOWN, SmsStatus.SENDING)


def _over_cap(seen: Evidence, clock_stood_still: bool) -> Iterator[str]:
    days = [_local_day(row.request_at) for row in seen.rows if _uses_budget(row)]
    for day, count in Counter(days).items():
        if count > seen.world.cap:
            yield f"{count} messages reserved on {day}, the cap is {seen.world.cap}"
    if clock_stood_still:
        for day, count in Counter(_local_day(m.clock) for m in seen.accepted).items():
            if count > seen.world.cap:
                yield f"{count} messages accepted on {day}, the cap is {seen.world.cap}"


def _outside_window(seen: Evidence, clock_stood_still: bool) -> Iterator[str]:
    if seen.world.scenario.campaign.send_window is None:
        return
    window = SendWindow.parse(seen.world.scenario.campaign.send_window)
    moments = [row.request_at for row in seen.rows if row.request_at is not None]
    if clock_stood_still:
        moments += [message.clock for message in seen.accepted]
    for moment in moments:
        if not window.is_open(moment):
            yield f"sent outside the window: {moment.astimezone(TEHRAN):%a %H:%M}"


def _after_no(seen: Evidence) -> Iterator[str]:
    for block in seen.world.blocks:
        for row in seen.rows:
            late = row.pk > block.last_row and row.phone_number == block.number
            if late and row.status not in (SmsStatus.BLACKLISTED, SmsStatus.SKIPPED):
                yield f"message {row.pk} was reserved after its number was blocked"


def _counters(seen: Evidence) -> Iterator[str]:
    used = Counter(_local_day(row.request_at) for row in seen.rows if _uses_budget(row))
    counted: dict[str, Counter[date]] = defaultdict(Counter)
    for counter in seen.counters:
        counted[counter.scope_type][counter.day] += counter.used
    for scope in ("campaign", "workflow", "workspace"):
        if +counted[scope] != +used:
            yield f"the {scope} counter says {dict(+counted[scope])}, the messages {dict(used)}"


def _history(seen: Evidence) -> Iterator[str]:
    told = {event.data.get("sms_log_id") for event in seen.events if event.type == "sms_attempt"}
    for row in seen.rows:
        if row.pk not in told:
            yield f"message {row.pk} ({row.status}) has no line of history"
    last: dict[int, set[str]] = defaultdict(set)
    for event in seen.events:
        last[event.execution_id].add(event.type)
    for execution in seen.executions:
        if execution.status in ENDED and execution.status not in last[execution.pk] | _aliases(
            last[execution.pk]
        ):
            yield f"execution {execution.pk} is {execution.status}, and no line says so"


def _aliases(kinds: set[str]) -> set[str]:
    return {"cancelled"} if "status_stop" in kinds else set()


def _across(seen: Evidence) -> Iterator[str]:
    for message in seen.foreign:
        yield f"message {message.id} left by the account of {message.account}"
    numbers = {target.mobile for target in seen.world.scenario.targets}
    for message in seen.accepted:
        if message.number not in numbers:
            yield "a number of nobody in this workspace was written to"


def _doubt(seen: Evidence) -> Iterator[str]:
    """Calling everything unknown would keep every other promise."""
    unknown = sum(row.status == SmsStatus.UNKNOWN for row in seen.rows)
    if unknown > seen.world.doubtful:
        yield f"{unknown} messages are in doubt, the faults explain {seen.world.doubtful}"
