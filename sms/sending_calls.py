"""The calls of a chunk: one request an attempt, so many at a time, while the caller does other things."""

from __future__ import annotations

import threading
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
        self._calls = calls_of(offers)
        self._caller = Caller(deadline)
        self._last_begun = threading.Event()
        if lone_here and len(self._calls) == 1:
            self._given = [_done(self._last(self._calls[0]))]
        else:
            self._given = [_threads().submit(self._caller, call) for call in self._calls[:-1]]
            self._given += [_threads().submit(self._last, call) for call in self._calls[-1:]]

    def wait_begun(self) -> None:
        """Wait until the last call has begun. The pool takes them in their order."""
        if self._calls:
            self._last_begun.wait()

    def answers(self) -> list[Answer]:
        """Wait for all; one answer an attempt, in their order. Raises nothing."""
        for call, given in zip(self._calls, self._given, strict=True):
            self._results |= {offer.place: one for offer, one in zip(call, given.result(), strict=True)}
        return [Answer(attempt=one, result=self._results[at]) for at, one in enumerate(self._attempts)]

    def _last(self, call: Sequence[Offer]) -> list[SendResult]:
        self._last_begun.set()
        return self._caller(call)


def call_all(attempts: Sequence[Attempt], deadline: float) -> list[Answer]:
    """`Calls`, and their answers."""
    return Calls(attempts, deadline, lone_here=True).answers()


def _done(results: list[SendResult]) -> Future[list[SendResult]]:
    given: Future[list[SendResult]] = Future()
    given.set_result(results)
    return given


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
