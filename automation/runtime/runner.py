"""The worker: chunks of claimed executions, a constant number of statements each, provider calls in between.

    transaction 1   `chunk.begin`
    no transaction  call the outside
    transaction 2   `chunk.finish`

A chunk that fails as a whole is split, so that one poisoned execution costs only itself; what may have
killed its worker is worked apart (`suspects`). Answers that the database cannot take now are kept (`spool`).
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import structlog
from django.conf import settings
from django.db import transaction

from automation import transitions
from automation.definition_cache import UnreadableVersion
from automation.runtime import spool, suspects
from automation.runtime.actions.base import Calls, Starting, runtime_action
from automation.runtime.chunk import Chunk, begin, finish
from automation.runtime.pacing import pacer
from core import clock, database_faults, installation
from core.failpoints import failpoint
from core.queue import Payload, task
from core.tenancy import workspace_scope

log = structlog.get_logger(__name__)
PROCESS_TASK = "automation.process_executions"
SAFETY_SECONDS = 20.0
TASK_MARGIN_SECONDS = 10.0


@task(PROCESS_TASK)
def process_message(payload: Payload) -> None:
    """Queue entry: `{v, workspace, ids, token}`. Anything else is refused without touching a row."""
    if payload.get("v") != 1:
        log.warning("message_version_unknown", version=str(payload.get("v"))[:10])
        return
    workspace_id, ids, token = payload.get("workspace"), payload.get("ids"), payload.get("token")
    if not isinstance(workspace_id, int) or not isinstance(ids, list) or not isinstance(token, str):
        log.error("message_malformed")
        return
    if installation.refusal():
        return  # the claim is left as it is: this database is somebody else's
    process_executions(workspace_id, [int(pk) for pk in ids], UUID(token))


def process_executions(workspace_id: int, ids: Sequence[int], token: UUID) -> None:
    """Work the executions of `ids` that `token` still holds. Safe to call twice: the second finds nothing."""
    spool.settle()
    # Before the lease ends, and before the queue stops a task that takes too long.
    seconds = min(settings.LEASE_SECONDS - SAFETY_SECONDS, settings.TASK_TIME_LIMIT - TASK_MARGIN_SECONDS)
    deadline = time.monotonic() + max(1.0, seconds)
    size = settings.CHUNK_SIZE
    with workspace_scope(workspace_id):
        for block in pacer().blocks(ids, token, deadline):
            if len(block) <= size:
                _process(workspace_id, block, token, deadline)
            else:
                chunks = [block[at : at + size] for at in range(0, len(block), size)]
                _process_in_turn(workspace_id, chunks, token, deadline)


def _process_in_turn(workspace_id: int, chunks: list[list[int]], token: UUID, deadline: float) -> None:
    """Chunk after chunk: while the last calls of one are under way the next one is reserved, and while the
    first calls of that are under way the one before is recorded.

    No chunk is reserved before all calls of the one before have begun: its guards are as fresh as ever.
    """
    under_way: _UnderWay | None = None
    try:
        for number, ids in enumerate(chunks):
            if under_way is not None:
                under_way.let_begin()
            if number and time.monotonic() > deadline - settings.HTTP_BUDGET_SECONDS:
                transitions.put_back([pk for rest in chunks[number:] for pk in rest], token)
                return
            before = under_way
            try:
                chunk = _begun(workspace_id, ids, token)
            except Exception as error:  # noqa: BLE001  # logged where it is dealt with; nothing was committed
                under_way = None
                _recorded(before)
                _in_trouble(workspace_id, ids, token, deadline, error)
                continue
            under_way = _UnderWay(chunk, token, deadline) if chunk else None
            _recorded(before)
    finally:
        _recorded(under_way)


class _UnderWay:
    """A chunk whose calls are being made, where its actions can do so on their own."""

    def __init__(self, chunk: Chunk, token: UUID, deadline: float) -> None:
        self._chunk, self._token, self._deadline = chunk, token, deadline
        self._started: dict[str, Calls] = {}
        for subtype, reserved in chunk.reserved.items():
            action = runtime_action(subtype)
            if isinstance(action, Starting):
                self._started[subtype] = action.start(reserved.calls, deadline)

    def let_begin(self) -> None:
        for calls in self._started.values():
            calls.wait_begun()

    def record(self) -> None:
        answers: dict[str, Sequence[Any]] = {}
        for subtype, reserved in self._chunk.reserved.items():
            started = self._started.get(subtype)
            answers[subtype] = (
                started.answers()
                if started is not None
                else runtime_action(subtype).call(reserved.calls, self._deadline)
            )
        _record_all(self._chunk, answers, self._token, self._deadline)


def _recorded(chunk: _UnderWay | None) -> None:
    if chunk is not None:
        chunk.record()


def _process(workspace_id: int, ids: list[int], token: UUID, deadline: float, *, taken: bool = False) -> None:
    """`taken`: the executions are `processing` already, by a transaction of their own."""
    try:
        chunk = _begun(workspace_id, ids, token, taken=taken)
    except Exception as error:  # noqa: BLE001  # logged where it is dealt with; nothing was committed
        _in_trouble(workspace_id, ids, token, deadline, error, taken=taken)
        return
    if chunk is None:
        return
    answers = {
        subtype: runtime_action(subtype).call(reserved.calls, deadline)
        for subtype, reserved in chunk.reserved.items()
    }
    _record_all(chunk, answers, token, deadline)


def _begun(workspace_id: int, ids: list[int], token: UUID, *, taken: bool = False) -> Chunk | None:
    """The chunk, reserved and committed; None when nobody of it is to be called for."""
    chunk = database_faults.again(lambda: _first(workspace_id, ids, token, taken=taken))
    if chunk is None or not chunk.steps:
        return None
    failpoint("after_reserve")
    return chunk


def _record_all(chunk: Chunk, answers: Mapping[str, Sequence[Any]], token: UUID, deadline: float) -> None:
    failpoint("before_record")
    _record(chunk, answers, token, deadline)
    failpoint("after_record")


def _in_trouble(
    workspace_id: int, ids: list[int], token: UUID, deadline: float, error: Exception, *, taken: bool = False
) -> None:
    """What becomes of a chunk that could not be reserved: `error` says why."""
    if isinstance(error, suspects.Suspected):
        _work_apart(workspace_id, error.parts, token, deadline)
    elif database_faults.is_away(error):
        # The claim stays; the reaper frees it and counts nothing.
        log.exception("database_away", workspace_id=workspace_id, count=len(ids))
    else:
        _isolate(workspace_id, ids, token, deadline, error, taken=taken)


def _first(workspace_id: int, ids: list[int], token: UUID, *, taken: bool) -> Chunk | None:
    failpoint("before_reserve")
    with transaction.atomic():
        chunk = begin(workspace_id, ids, token, taken=taken)
        failpoint("mid_reserve_tx")
    return chunk


def _work_apart(workspace_id: int, parts: suspects.Parts, token: UUID, deadline: float) -> None:
    """The unsuspected as ever, then the others in parts; what has no time left goes back as it came."""
    if parts.clear:
        _process(workspace_id, list(parts.clear), token, deadline)
    for ids in parts.apart:
        if not suspects.in_time(deadline):
            transitions.put_back(ids, token)
            continue
        taken = suspects.take(ids, token, clock.now())
        failpoint("after_lone_take")
        if taken:
            _process(workspace_id, taken, token, deadline, taken=True)


def _record(chunk: Chunk, answers: Mapping[str, Sequence[Any]], token: UUID, deadline: float) -> None:
    """Store what was answered. One answer that cannot be stored must not cost its chunk mates theirs; what
    the database does not take at once is kept on disk, and tried again while the claim lasts."""

    def store_all() -> None:
        with transaction.atomic():
            finish(chunk, answers, token)

    try:
        try:
            store_all()
        except database_faults.PASSING:
            spool.keep(chunk.workspace_id, answers, token)
            database_faults.again(store_all, until=deadline)
    except Exception as error:  # nothing of this call was committed
        single = [(subtype, answer) for subtype, given in answers.items() for answer in given]
        log.exception("record_failed", count=len(single))
        if len(single) <= 1 or database_faults.is_away(error):
            return  # the attempt stays `sending`; the reaper frees the execution, the action closes it
        for subtype, answer in single:
            _record(chunk, {subtype: [answer]}, token, deadline)


def _isolate(
    workspace_id: int, ids: list[int], token: UUID, deadline: float, error: Exception, *, taken: bool
) -> None:
    if len(ids) > 1:
        log.exception("chunk_split", workspace_id=workspace_id, count=len(ids))
        middle = len(ids) // 2
        _process(workspace_id, ids[:middle], token, deadline, taken=taken)
        _process(workspace_id, ids[middle:], token, deadline, taken=taken)
        return
    one = ids[0] if ids else None
    if isinstance(error, (*database_faults.PASSING, UnreadableVersion)):
        # No fault of the person: later, and not counted.
        log.exception("execution_put_off", workspace_id=workspace_id, execution_id=one)
        if taken:
            transitions.put_back(ids, token)
        return
    log.exception("execution_failed", workspace_id=workspace_id, execution_id=one)
    with transaction.atomic():
        suspects.give_up_or_try_again(ids, token, clock.now())
