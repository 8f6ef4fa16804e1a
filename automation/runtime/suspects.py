"""Executions that may have killed their worker: worked in a way that a second death tells on them.

A process that dies inside its first transaction takes every trace along: the rows are `queued` again, as
if the broker had lost their message. The reaper marks what it takes back from `queued` as suspected, and
counts nothing, since a lost message is nobody's fault. A suspect's `take` is then committed by itself:
whoever dies in its step now leaves it `processing`, which the reaper sees and counts. A step that was
interrupted or raised an error before (`failures`) is worked alone, so that its chunk mates finish, and
after three tries alone it is poison: the interruption that it shared with its mates may have been theirs.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import Case, F, When

from automation import transitions
from automation.models import WorkflowExecution
from automation.runtime.events import event_row, store
from automation.runtime.rows import Walking
from automation.states import EndReason, ExecutionEventType, ExecutionStatus
from core.bulk import update_returning


@dataclass(frozen=True, slots=True)
class Parts:
    """A chunk in the order in which it is worked: the unsuspected, the suspects, the troubled one by one."""

    clear: tuple[int, ...]
    apart: tuple[tuple[int, ...], ...]


class Suspected(Exception):
    """Leaves the first transaction before it has written anything."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        super().__init__("some executions of this chunk are worked apart")


def part(rows: Iterable[Walking]) -> None:
    """Raise Suspected when not all of `rows` may be worked together, unmarked, in one transaction."""
    clear: list[int] = []
    suspects: list[int] = []
    troubled: list[tuple[int, int]] = []
    for row in rows:
        if row.failures:
            troubled.append((row.failures, row.pk))
        elif row.suspected_at is not None:
            suspects.append(row.pk)
        else:
            clear.append(row.pk)
    if suspects or troubled:
        # Those with the fewest failures first: the culprit's turn comes when its mates are done.
        alone = tuple((pk,) for _, pk in sorted(troubled))
        raise Suspected(Parts(tuple(clear), (*((tuple(suspects),) if suspects else ()), *alone)))


def take(ids: Sequence[int], token: UUID, now: datetime) -> list[int]:
    """queued -> processing for what `token` holds of `ids`, committed at once; returns those taken.

    No longer suspected: a death from here on is seen as an interruption. Whoever has failed before keeps the
    mark of a failure that may be a chunk mate's. A second copy of the message finds nothing to take.
    """
    mark = Case(When(failures=0, then=None), default=F("suspected_at"))
    held = WorkflowExecution.objects.filter(pk__in=ids, lock_token=token, status=ExecutionStatus.QUEUED)
    with transaction.atomic():
        return update_returning(
            held, status=ExecutionStatus.PROCESSING, locked_at=now, last_run_at=now, suspected_at=mark,
            revision=F("revision") + 1,
        )  # fmt: skip


def hold(ids: Sequence[int], token: UUID) -> set[int]:
    """Lock what `take` took until the transaction ends; returns those that are still this token's."""
    mine = WorkflowExecution.objects.filter(pk__in=ids, lock_token=token, status=ExecutionStatus.PROCESSING)
    locked = mine.select_for_update(of=("self",), no_key=True).order_by("pk")
    return set(locked.values_list("pk", flat=True))


def in_time(deadline: float) -> bool:
    """Whether another part may be begun before the claim's lease is used up."""
    return time.monotonic() < deadline


def give_up_or_try_again(ids: list[int], token: UUID, now: datetime) -> None:
    """The one culprit is tried twice more, then ends as `failed` with the reason; a person may restart it."""
    lines = []
    for row in transitions.mark_erring(ids, token, now):
        failed = row.status == ExecutionStatus.FAILED
        kind = ExecutionEventType.FAILED if failed else ExecutionEventType.RECOVERED
        data = (
            {"reason": str(EndReason.POISON)} if failed else {"old_status": str(ExecutionStatus.PROCESSING)}
        )
        lines.append(event_row(row, kind, now, node_id=row.current_node_id, data=data))
    store(lines)
