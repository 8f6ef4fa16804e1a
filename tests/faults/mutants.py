"""Guards taken away one by one, in a process of their own: the oracle must notice each of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def _resend_what_was_interrupted() -> None:
    from automation.runtime import agenda
    from sms import sending, tasks

    # Who asks the provider first would find the message there: that net is another one's.
    agenda._entries[:] = [entry for entry in agenda._entries if entry.step != tasks.ask_for_reconciling]
    sending.Past.decided = property(lambda self: self.accepted)  # type: ignore[method-assign, assignment]
    sending.phones_in_flight = lambda phones: set()
    _close = sending.close_unfinished

    def attempts_of(keys: Any, real: Callable[[Any], Any] = sending.attempts_of) -> Any:
        history = real(keys)
        _close([past.in_flight_id for past in history.values() if past.in_flight_id], _now())
        return history

    sending.attempts_of = attempts_of


def _now() -> Any:
    from core import clock

    return clock.now()


def _try_again_without_an_answer() -> None:
    from sms import sending
    from sms.models import SmsStatus
    from sms.types import Outcome

    sending._FATES[Outcome.IN_DOUBT] = (sending.Fate.TRY_AGAIN, SmsStatus.FAILED)


def _ask_nobody(key: str) -> Callable[[], None]:
    def apply() -> None:
        from automation.runtime.guards import register_guard

        register_guard(key, lambda _steps, _now: {})

    return apply


def _count_without_a_limit() -> None:
    from automation import counters

    real_scopes = counters.scopes_of
    counters.scopes_of = lambda policy: [(scope, None) for scope, _ in real_scopes(policy)]


def _keep_every_unit() -> None:
    from automation import counters

    counters.give_back = lambda units: None


def _record_without_a_claim() -> None:
    """The messages are recorded, their executions stay where they are."""
    from automation import transitions

    transitions.apply_moves = lambda moves, token: set()


def _ignore_the_lease() -> None:
    from automation.runtime import agenda, reaper

    agenda._entries[:] = [entry for entry in agenda._entries if entry.step != reaper.tick_step]


MUTANTS: dict[str, Callable[[], None]] = {
    "resend_what_was_interrupted": _resend_what_was_interrupted,
    "try_again_without_an_answer": _try_again_without_an_answer,
    "ask_no_blacklist": _ask_nobody("sms_blacklist"),
    "ask_no_window": _ask_nobody("sms_window"),
    "count_without_a_limit": _count_without_a_limit,
    "keep_every_unit": _keep_every_unit,
    "record_without_moving": _record_without_a_claim,
    "never_reap": _ignore_the_lease,
}


def apply(name: str) -> None:
    """Break this process."""
    MUTANTS[name]()
