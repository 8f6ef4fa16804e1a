"""The scheduler: the agenda, then per campaign window, budget, claim and dispatch. It never sends.

A tick with nothing to do asks a constant number of questions, whatever the installation holds: one for
the agenda of all steps, one for the campaigns that have somebody due.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from functools import cached_property
from itertools import groupby
from uuid import UUID, uuid4

import structlog
from django.conf import settings
from django.db import transaction

from automation import counters, transitions
from automation.definition_cache import UnreadableVersion, compiled
from automation.runtime import claim, guards, spool
from automation.runtime.agenda import steps_with_work
from automation.runtime.pacing import pacer
from automation.runtime.policy import DueCampaign, RunPolicy, policy_source, readiness_problem
from automation.runtime.runner import PROCESS_TASK
from core import clock, database_faults, installation
from core.errors import NotFound
from core.failpoints import failpoint
from core.heartbeat import beat
from core.locks import named_lock
from core.queue import enqueue
from core.tenancy import workspace_scope
from engine.windows import WindowError

log = structlog.get_logger(__name__)
TICK_SECONDS = 50.0
CLAIM_BATCH = 1000
TURN = 5 * CLAIM_BATCH  # a workspace with more that is due goes to the end of the line of workspaces
CHUNKS_A_MESSAGE = 4


@dataclass(slots=True)
class TickReport:
    """What one tick did. `skipped` maps a reason to the workspaces or campaigns it held back."""

    busy: bool = False
    settled: int = 0  # answers that had waited for the database
    reaped: int = 0
    started: int = 0
    ended: int = 0
    claimed: int = 0
    claimed_light: int = 0
    dispatched: int = 0
    deferred_window: int = 0
    deferred_limit: int = 0
    undispatched: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0

    def add(self, done: Mapping[str, int]) -> None:
        """Count what a step of the agenda did."""
        self.reaped += done.get("reaped", 0)
        self.started += done.get("started", 0)
        self.ended += done.get("ended", 0)

    def skip(self, reason: str) -> None:
        self.skipped[reason] = self.skipped.get(reason, 0) + 1

    @property
    def did_something(self) -> bool:
        """Whether anything was moved or held back; an idle tick is not worth a line."""
        return any(value for name, value in asdict(self).items() if name != "seconds")

    def as_dict(self) -> dict[str, object]:
        return asdict(self)


def run_tick(*, seconds: float = TICK_SECONDS) -> TickReport:
    """One tick. Ends after about `seconds`; what is left is found by the next one.

    Two ticks at once are harmless (each execution is claimed by one of them); the named lock only
    saves the second one its work.
    """
    report, began = TickReport(), time.monotonic()
    with named_lock("automation_tick") as held:
        if not held:
            report.busy = True
            return report
        now = clock.now()
        beat("tick")
        report.settled = spool.settle()
        _agenda(report, now)
        _serve(report, now, stop_at=began + seconds)
    report.seconds = round(time.monotonic() - began, 3)
    (log.info if report.did_something else log.debug)("tick", **report.as_dict())
    return report


def _agenda(report: TickReport, now: datetime) -> None:
    """Every step that has work. One that fails must not keep the others, nor the sending, from theirs."""
    for step in steps_with_work(now):
        try:
            report.add(step(now))
        except database_faults.PASSING:
            raise
        except Exception:
            log.exception("tick_step_failed", step=getattr(step, "__qualname__", type(step).__name__))
            report.skip("step_failed")


def _serve(report: TickReport, now: datetime, *, stop_at: float) -> None:
    due_campaigns = policy_source().due(now)
    if due_campaigns and (refused := installation.refusal()):
        report.skip(str(refused))
        return
    by_workspace = groupby(due_campaigns, key=lambda due: due.policy.workspace_id)
    line = deque(_Round(list(group), report, now, stop_at) for _, group in by_workspace)
    while line:
        first = line.popleft()
        with workspace_scope(first.workspace_id):
            if not first.serve():
                report.skip("out_of_time")
                return
        if first.turn <= 0:
            line.append(first)


class _Round:
    """The due campaigns of one workspace; what concerns all of them is asked once, and only when needed."""

    def __init__(self, due: list[DueCampaign], report: TickReport, now: datetime, stop_at: float) -> None:
        self.due, self.report, self.now, self.stop_at = due, report, now, stop_at
        self.workspace_id = due[0].policy.workspace_id
        self.turn = TURN
        self.counted: set[int] = set()  # campaigns whose people without budget are in the report

    @cached_property
    def problem(self) -> str:
        return readiness_problem(self.workspace_id, self.now)

    @cached_property
    def budgets(self) -> counters.Budgets:
        return counters.Budgets([due.policy for due in self.due], self.now)

    @cached_property
    def room(self) -> int | None:
        return pacer().room(self.workspace_id)

    def serve(self) -> bool:
        """One turn: each campaign after the other; False when time ran out before all had theirs.

        Afterwards `turn` is what is left of it: nothing, when more may be due.
        """
        self.turn = TURN
        if not self.due[0].policy.automation_enabled:
            self.report.skip("automation_disabled")
            log.info("workspace_skipped", workspace_id=self.workspace_id, reason="automation_disabled")
            return True
        for due in self.due:
            if self.turn <= 0:
                return True
            if self._late():
                return False
            try:
                self._serve_campaign(due)
            except WindowError:
                log.error("campaign_window_invalid", campaign_id=due.policy.campaign_id)
                self.report.skip("window_invalid")
            except (UnreadableVersion, NotFound) as error:
                log.error("campaign_version_unreadable", campaign_id=due.policy.campaign_id, why=error.code)
                self.report.skip("version_unreadable")
        return True

    def _late(self) -> bool:
        return time.monotonic() > self.stop_at

    def _serve_campaign(self, due: DueCampaign) -> None:
        policy = due.policy
        light = self._serve_light(policy) if due.light else 0
        if not (due.sends or light):  # whoever was light may stand at a sending step by now
            return
        if self.problem:
            self.report.skip(self.problem)
            log.info("campaign_skipped", campaign_id=policy.campaign_id, reason=self.problem)
            return
        if self._is_open(policy):
            self._serve_budgeted(policy)

    def _is_open(self, policy: RunPolicy) -> bool:
        """False after everybody due was moved to the next opening; True when some steps mind no window."""
        opens_at = policy.next_open(self.now)
        if opens_at <= self.now:
            return True
        free = guards.any_hour_steps(policy.workflow_id)
        moved = claim.shift_to_opening(policy.campaign_id, opens_at, self.now, but=free)
        self.report.deferred_window += moved
        return bool(free)

    def _serve_light(self, policy: RunPolicy) -> int:
        claimed = _claim(policy, consuming=False, limit=claim.LIGHT_PER_ROUND, now=self.now)
        self.report.claimed_light += len(claimed.ids)
        _dispatch(policy, claimed, self.report)
        return len(claimed.ids)

    def _serve_budgeted(self, policy: RunPolicy) -> None:
        while (left := self.budgets.left(policy)) != 0:
            batch = min(bound for bound in (CLAIM_BATCH, left, self.room, self.turn) if bound is not None)
            claimed = _claim(policy, consuming=True, limit=batch, now=self.now)
            taken = len(claimed.ids)
            self.report.claimed += taken
            _dispatch(policy, claimed, self.report)
            self.budgets.take(policy, taken)
            full = batch in (self.room, self.turn)
            self.turn -= taken
            if self.room is not None:
                self.room -= taken
            if taken < batch or full or self._late():
                return
        if policy.campaign_id not in self.counted:
            self.counted.add(policy.campaign_id)
            self.report.deferred_limit += claim.count_due(policy.campaign_id, self.now)


@dataclass(frozen=True, slots=True)
class _Claim:
    ids: list[int]
    token: UUID


def _claim(policy: RunPolicy, *, consuming: bool, limit: int, now: datetime) -> _Claim:
    compiled(policy.version_id)  # whom no worker could walk is not claimed
    token = uuid4()
    failpoint("before_claim")
    with transaction.atomic():
        ids = claim.claim_due(policy.campaign_id, consuming=consuming, limit=limit, token=token, now=now)
        failpoint("in_claim_tx")
    failpoint("after_claim")
    return _Claim(ids, token)


def _dispatch(policy: RunPolicy, claimed: _Claim, report: TickReport) -> None:
    """Hand the claim to the queue in pieces. A broker that is away gets its executions put back."""
    size = message_size(len(claimed.ids))
    for start in range(0, len(claimed.ids), size):
        ids = claimed.ids[start : start + size]
        message = {"v": 1, "workspace": policy.workspace_id, "ids": ids, "token": str(claimed.token)}
        try:
            failpoint("before_dispatch")
            enqueue(PROCESS_TASK, message)
            failpoint("after_dispatch")
        except Exception:  # whatever a broker raises, the claim must not be lost
            log.exception("dispatch_failed", campaign_id=policy.campaign_id, count=len(ids))
            transitions.put_back(ids, claimed.token)
            report.undispatched += len(ids)
        else:
            report.dispatched += len(ids)


def message_size(claimed: int) -> int:
    """How many executions of a claim of so many one queue message names.

    A worker that has several chunks at hand does its writing while the provider is asked; where few are
    due each chunk is a message, so that all workers have a share.
    """
    chunks = claimed // (2 * settings.CHUNK_SIZE)
    return settings.CHUNK_SIZE * max(1, min(CHUNKS_A_MESSAGE, chunks))
