"""The calls of a chunk: one request an attempt, so many at a time, while the caller does other things."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from django.conf import settings

from sms.bulk_calls import Caller, Offer, calls_of
from sms.lines import NOT_APPROVED
from sms.sending import Answer, Attempt
from sms.types import Outcome, SendResult

_pool: ThreadPoolExecutor | None = None
_pool_lock = threading.Lock()


def _threads() -> ThreadPoolExecutor:
    """One bounded pool a process, made after a worker forked."""
    global _pool
    with _pool_lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(settings.SEND_CONCURRENCY, thread_name_prefix="sms")
        return _pool


class Calls:
    """Begins at once: `SEND_CONCURRENCY` at a time, all chunks of a process together, in their order.

    An account may send many messages with one call. `deadline` is a `time.monotonic()` moment: what has
    not been begun by then is surely not sent.
    """

    def __init__(self, attempts: Sequence[Attempt], deadline: float, *, lone_here: bool = False) -> None:
        """`lone_here`: a call that has no company is made by the calling thread, before this returns."""
        self._attempts = attempts
        self._results: dict[int, SendResult] = {}
        offers: list[Offer] = []
        for place, attempt in enumerate(attempts):
            offer = _offer(place, attempt)
            if isinstance(offer, SendResult):
                self._results[place] = offer
            else:
                offers.append(offer)
        calls = calls_of(offers)
        self._caller = Caller(deadline)
        self._waiting = deque(calls)
        self._last_begun = threading.Event()
        self._takers: list[Future[None]] = []
        if not calls or (lone_here and len(calls) == 1):
            self._take_in_turn()
        else:
            takers = min(len(calls), settings.SEND_CONCURRENCY)
            self._takers = [_threads().submit(self._take_in_turn) for _ in range(takers)]

    def wait_begun(self) -> None:
        """Wait until the last call has begun. They begin in their order."""
        self._last_begun.wait()

    def answers(self) -> list[Answer]:
        """Wait for all; one answer an attempt, in their order. Raises nothing."""
        for taker in self._takers:
            taker.result()
        return [Answer(attempt=one, result=self._results[at]) for at, one in enumerate(self._attempts)]

    def _take_in_turn(self) -> None:
        """Make one call after another until none waits: handing each to a thread costs more than some calls.

        The takers of an earlier chunk are before those of a later one in the pool, so its calls begin first.
        """
        while True:
            try:
                call = self._waiting.popleft()
            except IndexError:
                self._last_begun.set()
                return
            if not self._waiting:
                self._last_begun.set()
            for offer, result in zip(call, self._caller(call), strict=True):
                self._results[offer.place] = result


def call_all(attempts: Sequence[Attempt], deadline: float) -> list[Answer]:
    """`Calls`, and their answers."""
    return Calls(attempts, deadline, lone_here=True).answers()


def _offer(place: int, attempt: Attempt) -> Offer | SendResult:
    draft = attempt.draft
    if draft.account is None:
        return SendResult(outcome=Outcome.UNAVAILABLE, code="not_configured")
    sms = draft.account.outbound(
        to=draft.phone, text=draft.text, sender=draft.sender, reference=draft.idempotency_key
    )
    if sms is None:
        return SendResult(outcome=Outcome.REFUSED, code=NOT_APPROVED)
    return Offer(place=place, account=draft.account, sms=sms)
