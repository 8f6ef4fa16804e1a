"""Every way a message may end, and where the person goes then; each scenario is checked for conservation."""

from __future__ import annotations

from typing import Any

import pytest

from automation.models import DailyCounter
from automation.states import EndReason
from sms.models import SmsLog, SmsStatus
from sms.types import OutboundSms, Outcome, SendResult
from tests.clocks import MovableClock
from tests.engine.building import ask, end, wait
from tests.graphs import GraphScenario, message
from tests.scenario import accept, outcome
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db

ONCE = {"enabled": True, "strategy": "fixed", "max_attempts": 1, "interval_seconds": 900}
NEVER = {"enabled": False, "strategy": "fixed", "max_attempts": 3, "interval_seconds": 900}
FORK = ["start -> a", "a.failure -> bad", "a -> good", "good -> e", "bad -> e"]


@pytest.fixture(autouse=True)
def _ready(workspace: Workspace, clock: MovableClock) -> None:
    """Every test has a workspace and a clock that stands still."""


def answering(scenario: GraphScenario, text: str, result: Outcome) -> GraphScenario:
    """Everything is accepted but the message `text`, which is answered with `result`."""

    def answer(sms: OutboundSms, _nth: int) -> SendResult:
        return outcome(result) if sms.text == text else accept()

    scenario.provider.answer = answer
    return scenario


def forked(result: Outcome, *, retry: dict[str, Any] | None = None, edges: list[str] = FORK) -> GraphScenario:
    config: dict[str, Any] = {} if retry is None else {"retry": retry}
    scenario = GraphScenario(
        message("a", **config), message("good"), message("bad"), end("e"), edges=edges, kind="list"
    )
    return answering(scenario, "a", result)


# -- the exits of a message -------------------------------------------------------------------------


def test_a_refused_message_takes_the_failure_path_at_once(clock: MovableClock):
    scenario = forked(Outcome.REFUSED)
    scenario.run_to_end(clock)
    assert scenario.texts() == ["bad"]
    assert scenario.ended() == ("completed", "finished")
    assert SmsLog.objects.filter(attempt_number__gt=1).count() == 0


def test_a_message_that_cannot_be_sent_takes_the_failure_path_after_its_last_try(clock: MovableClock):
    scenario = forked(Outcome.NOT_SENT, retry={**ONCE, "on_exhausted": "fail"})
    scenario.run_to_end(clock)
    assert scenario.texts() == ["bad"]
    assert [log.attempt_number for log in scenario.logs() if log.message_template == "a"] == [1, 2]
    assert scenario.ended() == ("completed", "finished")


def test_without_retries_the_failure_path_is_taken_after_the_first_try(clock: MovableClock):
    scenario = forked(Outcome.NOT_SENT, retry={**NEVER, "on_exhausted": "fail"})
    scenario.run_to_end(clock)
    assert scenario.texts() == ["bad"]
    assert [log.attempt_number for log in scenario.logs() if log.message_template == "a"] == [1]


def test_an_accepted_message_never_takes_the_failure_path(clock: MovableClock):
    scenario = forked(Outcome.ACCEPTED)
    scenario.provider.answer = None
    scenario.run_to_end(clock)
    assert scenario.texts() == ["a", "good"]


def test_success_has_a_path_of_its_own_where_there_is_one(clock: MovableClock):
    scenario = GraphScenario(
        message("a"), message("good"), message("plain"), end("e"), kind="list",
        edges=["start -> a", "a.success -> good", "a -> plain", "good -> e", "plain -> e"],
    )  # fmt: skip
    scenario.run_to_end(clock)
    assert scenario.texts() == ["a", "good"]


@pytest.mark.parametrize("is_lost", [True, False])
def test_what_is_no_failure_does_not_take_the_failure_path(is_lost: bool, clock: MovableClock):
    """A lost answer and a skipped message both go on by the plain exit."""
    if is_lost:
        scenario = forked(Outcome.IN_DOUBT)
    else:
        scenario = GraphScenario(
            message("a", "{target.city}"), message("good"), message("bad"), end("e"), edges=FORK, kind="list"
        )
    scenario.run_to_end(clock)
    assert scenario.texts() == ["good"]
    expected = SmsStatus.UNKNOWN if is_lost else SmsStatus.SKIPPED
    assert scenario.logs()[0].status == expected


# -- when the tries are used up ---------------------------------------------------------------------


def used_up(
    on_exhausted: str, *, nodes: tuple[Any, ...] = (), edges: list[str] | None = None
) -> GraphScenario:
    scenario = GraphScenario(
        message("a", retry={**ONCE, "on_exhausted": on_exhausted}), *(nodes or (message("next"), end("e"))),
        edges=edges or ["start -> a", "a -> next", "next -> e"], kind="list", cap=10,
    )  # fmt: skip
    return answering(scenario, "a", Outcome.NOT_SENT)


@pytest.mark.parametrize(
    ("on_exhausted", "ending", "texts"),
    [
        ("fail", ("failed", EndReason.FAILED), []),
        ("stop", ("completed", EndReason.STOPPED_AFTER_FAILURE), []),
        ("skip_step", ("completed", EndReason.FINISHED), ["next"]),
        ("continue", ("completed", EndReason.FINISHED), ["next"]),
    ],
)
def test_each_rule_for_the_end_of_the_tries(
    on_exhausted: str, ending: tuple[str, str], texts: list[str], clock: MovableClock
):
    scenario = used_up(on_exhausted)
    scenario.run_to_end(clock)
    assert scenario.ended() == ending
    assert scenario.texts() == texts
    assert ("skipped" in scenario.events()) is (on_exhausted == "skip_step")
    assert scenario.row().last_error or on_exhausted != "fail"


@pytest.mark.parametrize("result", [Outcome.NOT_SENT, Outcome.REFUSED])
def test_a_message_passed_by_after_its_last_try_has_a_row_that_says_so(result: Outcome, clock: MovableClock):
    scenario = answering(used_up("skip_step"), "a", result)
    scenario.run_to_end(clock)
    *tries, skipped = [log for log in scenario.logs() if log.message_template == "a"]
    assert [log.status for log in tries] == (
        [SmsStatus.FAILED] * 2 if result is Outcome.NOT_SENT else [SmsStatus.REJECTED]
    )
    assert (skipped.status, skipped.error_code) == (SmsStatus.SKIPPED, "tries_used_up")
    assert (skipped.attempt_number, skipped.request_at) == (len(tries) + 1, None)


@pytest.mark.parametrize("on_exhausted", ["fail", "stop", "continue"])
def test_other_ends_of_the_tries_leave_the_tries_alone(on_exhausted: str, clock: MovableClock):
    scenario = used_up(on_exhausted)
    scenario.run_to_end(clock)
    assert [log.status for log in scenario.logs() if log.message_template == "a"] == [SmsStatus.FAILED] * 2


@pytest.mark.parametrize(("on_exhausted", "word"), [("continue", "failed"), ("skip_step", "skipped")])
def test_a_later_condition_reads_how_it_ended(on_exhausted: str, word: str, clock: MovableClock):
    scenario = used_up(
        on_exhausted,
        nodes=(ask("c", "execution.last_action_status", "=", word), message("yes"), message("no"), end("e")),
        edges=["start -> a", "a -> c", "c.yes -> yes", "c.no -> no", "yes -> e", "no -> e"],
    )
    scenario.run_to_end(clock)
    assert scenario.texts() == ["yes"]


def test_only_what_was_accepted_uses_the_day_s_limit(clock: MovableClock):
    scenario = used_up("continue")
    scenario.run_to_end(clock)
    used = DailyCounter.objects.filter(scope_type="campaign").values_list("used", flat=True)
    assert sum(used) == 1


def test_a_step_that_failed_starts_its_tries_afresh_in_the_next_round(clock: MovableClock):
    scenario = GraphScenario(
        message("a", retry={**ONCE, "on_exhausted": "continue"}),
        end("e", "loop", delay={"amount": 1, "unit": "hour"}, max_cycles=2),
        edges=["start -> a", "a -> e"], kind="list",
    )  # fmt: skip
    answering(scenario, "a", Outcome.NOT_SENT).run_to_end(clock)
    tries = [(log.cycle, log.attempt_number) for log in scenario.logs()]
    assert tries == [(1, 1), (1, 2), (2, 1), (2, 2)]


def test_a_failure_path_may_lead_back_to_the_message_behind_a_wait(clock: MovableClock):
    scenario = GraphScenario(
        message("a", retry={**NEVER, "on_exhausted": "fail"}), wait("w", 1, "hour"), end("e"),
        edges=["start -> a", "a.failure -> w", "w -> a", "a -> e"], kind="list",
    )  # fmt: skip
    scenario.provider.answer = lambda _sms, nth: outcome(Outcome.NOT_SENT) if nth == 1 else accept()
    scenario.run_to_end(clock)
    assert scenario.texts() == ["a"]
    assert scenario.ended() == ("completed", "finished")
