"""Nobody is lost: entered = waiting + in work + held + ended + moved on, for every step of every campaign.

The history says who came to a step and who left it; the executions say who stands there now. The two are
written together, so they must agree for each person. Whoever they do not agree about is named, with what
is wrong. System code: it reads all workspaces, each in its own scope, and changes nothing.

Arrivals are the `node_entered` lines. A line that repeats the arrival before it after a worker was
interrupted (`recovered`) is the same arrival, told twice. Somebody whose `wake_at` is empty has not
arrived yet: they are on the way to their first step, or to the first step of their next round.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby, pairwise
from typing import Any, Final

from django.db import transaction

from automation.models import WorkflowEdge, WorkflowExecution, WorkflowExecutionEvent, WorkflowNode
from automation.states import CLAIMED, ENDED, ExecutionEventType, ExecutionStatus
from core.tenancy import workspace_scope

BATCH: Final = 1000
T = ExecutionEventType
S = ExecutionStatus

ENDINGS: Final = frozenset({T.COMPLETED, T.FAILED, T.CANCELLED, T.REMOVED, T.STATUS_STOP, T.EXITED})
HOLDINGS: Final = frozenset({T.PAUSED, T.BLACKLISTED})
GOINGS: Final = frozenset({T.RESUMED, T.RESTARTED, T.ACTIVATED, T.ENROLLED})
HELD: Final = frozenset({S.PAUSED, S.BLACKLISTED})
READ: Final = frozenset({*ENDINGS, *HOLDINGS, *GOINGS, T.NODE_ENTERED, T.RECOVERED})


@dataclass(frozen=True, slots=True)
class Arrival:
    node_id: int
    cycle: int
    after_interruption: bool = False
    after_restart: bool = False


@dataclass(slots=True, kw_only=True)
class Visits:
    """One step's arithmetic. `balanced` must always be true."""

    workspace: int
    campaign: int
    version: int
    node: int
    key: str
    entered: int = 0
    moved_on: int = 0
    waiting: int = 0
    in_work: int = 0
    held: int = 0
    ended: int = 0

    @property
    def balanced(self) -> bool:
        return self.entered == self.moved_on + self.waiting + self.in_work + self.held + self.ended


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """An execution whose row and history do not agree."""

    workspace: int
    campaign: int
    execution: int
    problem: str


@dataclass(slots=True, kw_only=True)
class Report:
    """`on_the_way`: people who have not come to a step (again) yet, by campaign."""

    steps: list[Visits] = field(default_factory=list)
    on_the_way: Counter[int] = field(default_factory=Counter)
    broken: list[Broken] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        return not self.broken and all(step.balanced for step in self.steps)

    def as_dict(self) -> dict[str, Any]:
        steps = [{**asdict(step), "balanced": step.balanced} for step in self.steps]
        return {
            "holds": self.holds,
            "steps": steps,
            "on_the_way": dict(self.on_the_way),
            "broken": [asdict(row) for row in self.broken],
        }


def check(campaign_id: int | None = None) -> Report:
    """Check one campaign, or all of all workspaces, a thousand executions at a time.

    Safe while workers run: what seems broken is looked at once more under the rows' locks.
    """
    report = Report()
    rows = WorkflowExecution.unscoped.order_by("workspace_id", "campaign_id")
    if campaign_id is not None:
        rows = rows.filter(campaign_id=campaign_id)
    for workspace_id, campaign in rows.values_list("workspace_id", "campaign_id").distinct():
        with workspace_scope(workspace_id):
            _check_campaign(workspace_id, campaign, report)
    return report


def _check_campaign(workspace_id: int, campaign_id: int, report: Report) -> None:
    table = _Table(workspace_id, campaign_id, report)
    last_id = 0
    while True:
        rows = list(
            WorkflowExecution.objects.filter(campaign_id=campaign_id, pk__gt=last_id).order_by("pk")[:BATCH]
        )
        if not rows:
            return
        last_id = rows[-1].pk
        walks = {walk.row.pk: walk for walk in _walks(rows)}
        suspects = [pk for pk, walk in walks.items() if table.problem(walk)]
        if suspects:
            walks |= _again(suspects)
        for walk in walks.values():
            table.count(walk)


@dataclass(frozen=True, slots=True)
class _Walk:
    """One execution and what its history says of it."""

    row: WorkflowExecution
    arrivals: Sequence[Arrival]
    state: str  # the last word of the history: "ended", "held" or "going"

    @property
    def here(self) -> Arrival | None:
        """The arrival at the step the row names; None while on the way there."""
        last = self.arrivals[-1] if self.arrivals else None
        if last is None or (last.node_id, last.cycle) == (self.row.current_node_id, self.row.cycle):
            return last
        return None if self.row.wake_at is None else last


def _again(ids: Sequence[int]) -> dict[int, _Walk]:
    """The same rows with nobody in the middle of a change: row and history are written in one transaction."""
    with transaction.atomic():
        held = WorkflowExecution.objects.filter(pk__in=ids).order_by("pk")
        return {walk.row.pk: walk for walk in _walks(list(held.select_for_update(of=("self",), no_key=True)))}


def _walks(rows: Sequence[WorkflowExecution]) -> Iterator[_Walk]:
    lines = WorkflowExecutionEvent.objects.filter(
        execution_id__in=[row.pk for row in rows], type__in=sorted(READ)
    )
    values = lines.order_by("execution_id", "pk").values_list("execution_id", "type", "node_id", "data")
    history = {pk: list(group) for pk, group in groupby(values, key=lambda line: line[0])}
    for row in rows:
        yield _read(row, history.get(row.pk, ()))


def _read(row: WorkflowExecution, lines: Iterable[tuple[int, str, int | None, Any]]) -> _Walk:
    arrivals: list[Arrival] = []
    state, interrupted, restarted = "going", False, False
    for _pk, kind, node_id, data in lines:
        if kind == T.NODE_ENTERED:
            arrival = Arrival(node_id or 0, int(data.get("cycle", 1)), interrupted, restarted)
            told_twice = arrivals and interrupted and _same(arrivals[-1], arrival)
            if not told_twice:
                arrivals.append(arrival)
            interrupted = restarted = False
        elif kind == T.RECOVERED:
            interrupted = True
        elif kind in ENDINGS:
            state = "ended"
        elif kind in HOLDINGS:
            state = "held"
        else:
            state, restarted = "going", restarted or kind == T.RESTARTED
    return _Walk(row, arrivals, state)


def _same(one: Arrival, other: Arrival) -> bool:
    return (one.node_id, one.cycle) == (other.node_id, other.cycle)


class _Table:
    """The steps of one campaign while its people are counted."""

    def __init__(self, workspace_id: int, campaign_id: int, report: Report) -> None:
        self.workspace_id, self.campaign_id, self.report = workspace_id, campaign_id, report
        self.steps: dict[tuple[int, int], Visits] = {}
        self.edges: dict[int, set[tuple[int, int]]] = {}
        self.keys: dict[int, str] = {}

    def problem(self, walk: _Walk) -> str:
        """What row and history do not agree about; "" when they do."""
        row, here = walk.row, walk.here
        stated = "ended" if row.status in ENDED else "held" if row.status in HELD else "going"
        if stated != walk.state:
            return f"is {row.status}, but its history says {walk.state}"
        if here is None and row.wake_at is not None:
            return "stands at a step it never entered"
        if here is not None and row.status not in CLAIMED and here.node_id != row.current_node_id:
            return "stands at another step than it entered last"
        edges = self._edges(row.workflow_version_id)
        for before, after in pairwise(walk.arrivals):
            jumps = after.cycle > before.cycle or after.after_interruption or after.after_restart
            if not jumps and (before.node_id, after.node_id) not in edges:
                return "entered a step that no connection leads to from the one before"
        return ""

    def count(self, walk: _Walk) -> None:
        row, here = walk.row, walk.here
        if problem := self.problem(walk):
            self.report.broken.append(
                Broken(
                    workspace=self.workspace_id, campaign=self.campaign_id, execution=row.pk, problem=problem
                )
            )
        for arrival in walk.arrivals:
            step = self._step(row.workflow_version_id, arrival.node_id)
            step.entered += 1
            step.moved_on += 1
        if here is None:
            self.report.on_the_way[self.campaign_id] += 1
            return
        self._step(row.workflow_version_id, here.node_id).moved_on -= 1
        standing = self._step(row.workflow_version_id, row.current_node_id)
        if row.status in ENDED:
            standing.ended += 1
        elif row.status in HELD:
            standing.held += 1
        elif row.status in CLAIMED:
            self._step(row.workflow_version_id, here.node_id).in_work += 1
        else:
            standing.waiting += 1

    def _step(self, version_id: int, node_id: int) -> Visits:
        if (version_id, node_id) not in self.steps:
            self._edges(version_id)
            step = Visits(
                workspace=self.workspace_id, campaign=self.campaign_id, version=version_id, node=node_id,
                key=self.keys.get(node_id, "?"),
            )  # fmt: skip
            self.steps[(version_id, node_id)] = step
            self.report.steps.append(step)
        return self.steps[(version_id, node_id)]

    def _edges(self, version_id: int) -> set[tuple[int, int]]:
        if version_id not in self.edges:
            rows = WorkflowEdge.objects.filter(version_id=version_id)
            self.edges[version_id] = set(rows.values_list("from_node_id", "to_node_id"))
            self.keys |= dict(
                WorkflowNode.objects.filter(version_id=version_id).values_list("pk", "node_key")
            )
        return self.edges[version_id]
