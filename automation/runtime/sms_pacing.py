"""Messages leave no faster than their account allows: permits are taken before anything is reserved.

A chunk is cut into blocks of what the account sends in a second. Each block waits for its permits while its
executions are merely in line: nothing is counted, written or locked for them, and the guards are asked when
it is their turn. What cannot have its turn in time goes back as it came.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
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
from sms.models import ProviderAccount
from sms.queries import chain_of, sends_by_default, usable_accounts
from sms.sending import StepKey, attempts_of

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
    columns = ("pk", "consumes_budget", "workflow_version_id", "current_node_id", "cycle")
    rows = {row[0]: row for row in held.values_list(*columns)}
    wanted = {
        pk: _wanted(version_id, node_id)
        for pk, consumes, version_id, node_id, _cycle in rows.values()
        if consumes
    }
    free = [StepKey(pk, rows[pk][4], rows[pk][3]) for pk, account in wanted.items() if account not in rates]
    standing_in = _stand_ins(free)
    default = next(iter(rates), "")
    groups: dict[str, list[int]] = {"": []}
    for pk in (pk for pk in ids if pk in rows):
        account = "" if pk not in wanted else wanted[pk] if wanted[pk] in rates else default
        groups.setdefault(standing_in.get(pk, account), []).append(pk)
    return {account: group for account, group in groups.items() if group}


def _stand_ins(steps: Sequence[StepKey]) -> dict[int, str]:
    """The account by execution, for those whose next attempt leaves by one that stands in: its pace counts,
    not that of the one that surely has nothing. No query without such accounts, one with them."""
    now = clock.now()
    chain = [row for row in chain_of(usable_accounts(current_workspace_id())) if _is_open(row, now)]
    if len(chain) < 2 or not steps:
        return {}
    found: dict[int, str] = {}
    for key, past in attempts_of(steps).items():
        chosen = min(chain, key=lambda row: past.tried.get(row.pk, 0))
        found[key.execution_id] = str(chosen.pk)
    return found


def _is_open(row: ProviderAccount, now: datetime) -> bool:
    return bool(row.sealed_credentials) and (row.paused_until is None or row.paused_until <= now)


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
