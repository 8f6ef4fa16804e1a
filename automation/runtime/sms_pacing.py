"""Messages leave no faster than their account allows: permits are taken before anything is reserved.

A chunk is cut into blocks of what the account sends in a second. Each block waits for its permits while its
executions are merely in line: nothing is counted, written or locked for them, and the guards are asked when
it is their turn. What cannot have its turn in time goes back as it came.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, Protocol
from uuid import UUID

import structlog
from django.conf import settings

from automation import transitions
from automation.action_specs.send_sms import SUBTYPE, read
from automation.definition_cache import UnreadableVersion, compiled
from automation.models import WorkflowExecution
from automation.states import CLAIMED, ExecutionStatus
from core import clock
from core.tenancy import current_workspace_id
from engine.graph import ActionNode
from sms import rate
from sms.queries import sends_by_default, usable_accounts

log = structlog.get_logger(__name__)
PATIENCE_S: Final = 30.0  # a task waits this long in all; the next tick goes on
AHEAD_S: Final = 60  # no more is claimed than leaves until the next tick


class Take(Protocol):
    def __call__(self, key: str, *, rate: int, wanted: int, patience: float) -> float | None: ...


class SmsPacer:
    """`automation.runtime.pacing.Pacer` by the rates of the workspace's accounts; 0 is no limit."""

    def __init__(
        self,
        take: Take = rate.take,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._take, self._sleep, self._clock = take, sleep, clock

    def blocks(self, ids: Sequence[int], token: UUID, deadline: float) -> Iterator[list[int]]:
        rates = _rates()
        if not any(rates.values()):
            yield list(ids)
            return
        stop = min(self._clock() + PATIENCE_S, deadline - settings.HTTP_BUDGET_SECONDS)
        for account, group in _by_account(ids, token, rates).items():
            limit = rates.get(account, 0)
            if not limit:
                yield group
            else:
                yield from self._paced(account, limit, group, token, stop)

    def _paced(
        self, account: str, limit: int, group: Sequence[int], token: UUID, stop: float
    ) -> Iterator[list[int]]:
        for start in range(0, len(group), limit):
            block = list(group[start : start + limit])
            wait = self._take(account, rate=limit, wanted=len(block), patience=max(0.0, stop - self._clock()))
            if wait is None:
                count = transitions.put_back(group[start:], token)
                log.info("rate_limit_reached", account_id=account, count=count)
                return
            if wait:
                self._sleep(wait)
            yield block

    def room(self, workspace_id: int) -> int | None:
        rates = _rates(workspace_id)
        if not rates or not all(rates.values()):
            return None
        claimed = WorkflowExecution.objects.filter(
            workspace_id=workspace_id, locked_at__isnull=False, status__in=sorted(CLAIMED),
            consumes_budget=True,
        )  # fmt: skip
        return max(0, sum(rates.values()) * AHEAD_S - claimed.count())


def _rates(workspace_id: int | None = None) -> dict[str, int]:
    """Messages a second by account, first the one that sends by default now. One query."""
    rows = usable_accounts(current_workspace_id() if workspace_id is None else workspace_id)
    default = sends_by_default(rows, clock.now())
    return {str(row.pk): row.rate_per_second for row in sorted(rows, key=lambda row: row is not default)}


def _by_account(ids: Sequence[int], token: UUID, rates: Mapping[str, int]) -> dict[str, list[int]]:
    """Those of `ids` that `token` holds, in their order, by the account they would leave by ("": none)."""
    held = WorkflowExecution.objects.filter(pk__in=ids, lock_token=token, status=ExecutionStatus.QUEUED)
    rows = {
        row[0]: row
        for row in held.values_list("pk", "consumes_budget", "workflow_version_id", "current_node_id")
    }
    default = next(iter(rates), "")
    groups: dict[str, list[int]] = {"": []}
    for pk in ids:
        if pk in rows:
            _pk, consumes, version_id, node_id = rows[pk]
            wanted = _wanted(version_id, node_id) if consumes else ""
            account = "" if not consumes else wanted if wanted in rates else default
            groups.setdefault(account, []).append(pk)
    return {account: group for account, group in groups.items() if group}


def _wanted(version_id: int, node_id: int) -> str:
    """The account that the step names, "" for the default one; a step that cannot be read fails later."""
    try:
        entry = compiled(version_id)
    except UnreadableVersion:
        return ""
    node = entry.graph.nodes.get(entry.node_keys.get(node_id, ""))
    if not isinstance(node, ActionNode) or node.action != SUBTYPE:
        return ""
    return read(node.config).provider or ""
