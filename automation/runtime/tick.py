"""The scheduler: reap, lifecycle, then per campaign window, budget, claim and dispatch. It never sends."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import datetime
from itertools import groupby
from uuid import UUID, uuid4

import structlog
from django.conf import settings
from django.db import transaction

from automation import counters, transitions
from automation.runtime import claim
from automation.runtime.pacing import pacer
from automation.runtime.policy import RunPolicy, lifecycles, policy_source, readiness_problem
from automation.runtime.reaper import reap
from automation.runtime.runner import PROCESS_TASK
from core import clock
from core.failpoints import failpoint
from core.heartbeat import beat
from core.locks import named_lock
from core.queue import enqueue
from core.tenancy import workspace_scope
from engine.windows import WindowError

log = structlog.get_logger(__name__)
TICK_SECONDS = 50.0
CLAIM_BATCH = 1000


@dataclass(slots=True)
class TickReport:
    """What one tick did. `skipped` maps a reason to the workspaces or campaigns it held back."""

    busy: bool = False
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
        report.reaped = reap(now)
        for advance in lifecycles():
            done = advance(now)
            report.started += done.get("started", 0)
            report.ended += done.get("ended", 0)
        _serve(report, now, stop_at=began + seconds)
    report.seconds = round(time.monotonic() - began, 3)
    (log.info if report.did_something else log.debug)("tick", **report.as_dict())
    return report


def _serve(report: TickReport, now: datetime, *, stop_at: float) -> None:
    policies = policy_source().running(now)
    for workspace_id, group in groupby(policies, key=lambda policy: policy.workspace_id):
        with workspace_scope(workspace_id):
            for policy in _usable(workspace_id, group, report):
                if time.monotonic() > stop_at:
                    report.skip("out_of_time")
                    return
                try:
                    _serve_campaign(policy, report, now)
                except WindowError:
                    log.error("campaign_window_invalid", campaign_id=policy.campaign_id)
                    report.skip("window_invalid")


def _usable(workspace_id: int, group: Iterator[RunPolicy], report: TickReport) -> Iterator[RunPolicy]:
    policies = list(group)
    if not policies[0].automation_enabled:
        report.skip("automation_disabled")
        log.info("workspace_skipped", workspace_id=workspace_id, reason="automation_disabled")
        return
    yield from policies


def _serve_campaign(policy: RunPolicy, report: TickReport, now: datetime) -> None:
    light = _claim(policy, consuming=False, limit=claim.LIGHT_PER_ROUND, now=now)
    report.claimed_light += len(light.ids)
    _dispatch(policy, light, report)
    if problem := readiness_problem(policy.workspace_id, now):
        report.skip(problem)
        log.info("campaign_skipped", campaign_id=policy.campaign_id, reason=problem)
        return
    opens_at = policy.next_open(now)
    if opens_at > now:
        report.deferred_window += claim.shift_to_opening(policy.campaign_id, opens_at, now)
        return
    _serve_budgeted(policy, report, now)


def _serve_budgeted(policy: RunPolicy, report: TickReport, now: datetime) -> None:
    left, room = counters.budget_of(policy, now).left, pacer().room(policy.workspace_id)
    while left is None or left > 0:
        batch = min(bound for bound in (CLAIM_BATCH, left, room) if bound is not None)
        claimed = _claim(policy, consuming=True, limit=batch, now=now)
        report.claimed += len(claimed.ids)
        _dispatch(policy, claimed, report)
        if len(claimed.ids) < batch or batch == room:
            return
        left = None if left is None else left - len(claimed.ids)
        room = None if room is None else room - len(claimed.ids)
    report.deferred_limit += claim.count_due(policy.campaign_id, now)


@dataclass(frozen=True, slots=True)
class _Claim:
    ids: list[int]
    token: UUID


def _claim(policy: RunPolicy, *, consuming: bool, limit: int, now: datetime) -> _Claim:
    token = uuid4()
    failpoint("before_claim")
    with transaction.atomic():
        ids = claim.claim_due(policy.campaign_id, consuming=consuming, limit=limit, token=token, now=now)
        failpoint("in_claim_tx")
    failpoint("after_claim")
    return _Claim(ids, token)


def _dispatch(policy: RunPolicy, claimed: _Claim, report: TickReport) -> None:
    """Hand the claim to the queue in chunks. A broker that is away gets its executions put back."""
    size = settings.CHUNK_SIZE
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
