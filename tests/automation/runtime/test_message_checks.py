"""What stops a message that is ready to leave: too late, enough already, not allowed, a closed line."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from automation import control
from automation.control_moves import Operation
from automation.models import DailyCounter
from automation.states import ExecutionStatus
from core.tenancy import current_workspace_id
from sms.line_windows import every_day
from sms.models import LineRule, SmsLog, SmsSettings, SmsStatus
from sms.types import Outcome
from targets.models import Target
from tests.clocks import TEHRAN, MovableClock
from tests.factories import make
from tests.scenario import OFFICE_HOURS, Scenario, accept, end, outcome, send, wait
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db
TWO_TEXTS = (send("یک"), wait(1, "hour"), send("دو"), wait(1, "hour"), send("سه"))


@pytest.fixture(autouse=True)
def _ready(workspace: Workspace, clock: MovableClock) -> None:
    """Every test has a workspace and a clock that stands still."""


def rules(**values: Any) -> None:
    SmsSettings.objects.update_or_create(workspace_id=current_workspace_id(), defaults=values)


def texts(scenario: Scenario) -> list[tuple[str, str]]:
    return [(row.status, row.error_code) for row in scenario.logs()]


def used() -> set[int]:
    return set(DailyCounter.objects.values_list("used", flat=True))


# -- too late ------------------------------------------------------------------------------------------


def test_a_message_that_would_come_too_late_expires_and_the_walk_goes_on(clock: MovableClock) -> None:
    scenario = Scenario(send(expire_after_minutes=60), wait(1))
    clock.advance(minutes=61)
    scenario.settle()

    assert texts(scenario) == [(SmsStatus.EXPIRED, "expired")]
    assert scenario.execution().status == ExecutionStatus.WAITING
    assert (scenario.provider.asked, used()) == ([], set())


def test_a_step_may_hold_whom_its_message_would_reach_too_late(clock: MovableClock) -> None:
    scenario = Scenario(send(expire_after_minutes=60, when_late="hold"), send("دو"))
    clock.advance(minutes=61)
    scenario.settle()
    held = scenario.execution()
    assert (held.status, held.last_action) == (ExecutionStatus.PAUSED, "skipped")
    assert texts(scenario) == [(SmsStatus.EXPIRED, "expired")]

    control.change(held.pk, Operation.RESUME, user=None)
    scenario.run_to_end(clock)
    assert [message.text for message in scenario.provider.accepted] == ["دو"]


def test_a_message_in_time_is_sent(clock: MovableClock) -> None:
    scenario = Scenario(send(expire_after_minutes=60))
    clock.advance(minutes=60)
    scenario.settle()

    assert texts(scenario) == [(SmsStatus.SUBMITTED, "")]


def test_the_workflow_says_for_steps_that_say_nothing(clock: MovableClock) -> None:
    settings = {"expire_after_minutes": 30}
    scenario = Scenario(send(), send("دو", expire_after_minutes=120), settings=settings)
    clock.advance(minutes=45)
    scenario.settle()

    assert [status for status, _code in texts(scenario)] == [SmsStatus.EXPIRED, SmsStatus.SUBMITTED]


def test_a_night_in_the_window_counts_towards_the_time_to_live(clock: MovableClock) -> None:
    clock.move_to(datetime(2026, 11, 30, 19, 0, tzinfo=TEHRAN))
    scenario = Scenario(send(expire_after_minutes=120), window=OFFICE_HOURS)
    scenario.settle()
    clock.move_to(datetime(2026, 12, 1, 9, 0, tzinfo=TEHRAN))
    scenario.settle()

    assert texts(scenario) == [(SmsStatus.EXPIRED, "expired")]


def test_a_retry_after_the_time_to_live_expires(clock: MovableClock) -> None:
    scenario = Scenario(send(expire_after_minutes=10))
    scenario.provider.answer = lambda _sms, _n: outcome(Outcome.NOT_SENT)
    scenario.settle()
    clock.advance(minutes=15)
    scenario.settle()

    assert [status for status, _code in texts(scenario)] == [SmsStatus.FAILED, SmsStatus.EXPIRED]


# -- frequency -----------------------------------------------------------------------------------------


def test_a_number_gets_no_more_promotional_messages_than_the_cap(clock: MovableClock) -> None:
    rules(frequency_messages=2, frequency_days=1)
    scenario = Scenario(*TWO_TEXTS)
    scenario.run_to_end(clock)

    assert texts(scenario)[2] == (SmsStatus.SKIPPED, "frequency_cap")
    assert len(scenario.provider.accepted) == 2
    assert used() == {2}


def test_the_next_day_is_open_again(clock: MovableClock) -> None:
    rules(frequency_messages=1, frequency_days=1)
    scenario = Scenario(send("یک"), wait(1), send("دو"))
    scenario.run_to_end(clock)

    assert len(scenario.provider.accepted) == 2


def test_days_are_the_workspaces(clock: MovableClock) -> None:
    rules(frequency_messages=1, frequency_days=1)
    clock.move_to(datetime(2026, 11, 30, 23, 30, tzinfo=TEHRAN))
    scenario = Scenario(send("یک"), wait(1, "hour"), send("دو"))
    scenario.run_to_end(clock)

    assert len(scenario.provider.accepted) == 2


def test_several_days_may_be_counted_together(clock: MovableClock) -> None:
    rules(frequency_messages=1, frequency_days=3)
    scenario = Scenario(send("یک"), wait(2), send("دو"), wait(1), send("سه"))
    scenario.run_to_end(clock)

    assert [status for status, _ in texts(scenario)] == ["submitted", "skipped", "submitted"]


def test_service_messages_are_neither_capped_nor_counted(clock: MovableClock) -> None:
    rules(frequency_messages=1, frequency_days=1)
    service = send("خدمت", message_kind="service")
    scenario = Scenario(service, send("یک"), wait(1, "hour"), service, wait(1, "hour"), send("دو"))
    scenario.run_to_end(clock)

    assert [status for status, _ in texts(scenario)] == ["submitted", "submitted", "submitted", "skipped"]


def test_an_answer_to_an_opt_out_is_no_advertising(clock: MovableClock, workspace: Workspace) -> None:
    rules(frequency_messages=1, frequency_days=1)
    scenario = Scenario(send("یک"))
    make(
        SmsLog, workspace, producer="opt_out", status=SmsStatus.SUBMITTED, request_at=clock.now(),
        phone_number=scenario.targets[0].mobile,
    )  # fmt: skip
    scenario.settle()

    assert texts(scenario) == [(SmsStatus.SUBMITTED, "")]


def test_the_cap_is_for_the_number_over_all_campaigns(clock: MovableClock) -> None:
    rules(frequency_messages=1, frequency_days=1)
    first = Scenario(send("یک"))
    first.settle()
    number = first.targets[0].mobile
    second = Scenario(send("دو"))
    Target.objects.filter(pk=first.targets[0].pk).update(mobile="09350000000")
    Target.objects.filter(pk=second.targets[0].pk).update(mobile=number)
    second.settle()

    assert texts(second) == [(SmsStatus.SKIPPED, "frequency_cap")]


def test_a_message_that_surely_did_not_go_out_does_not_count(clock: MovableClock) -> None:
    rules(frequency_messages=1, frequency_days=1)
    scenario = Scenario(send("یک"))
    scenario.provider.answer = lambda _sms, n: outcome(Outcome.NOT_SENT) if n == 1 else accept()
    scenario.settle()
    clock.advance(minutes=15)
    scenario.settle()

    assert [status for status, _ in texts(scenario)] == [SmsStatus.FAILED, SmsStatus.SUBMITTED]


# -- shared numbers --------------------------------------------------------------------------------------


def inherited_number(**campaign_settings: Any) -> Scenario:
    """One of two people had the text; then their number is the other one's."""
    scenario = Scenario(send("یک"), wait(30), people=1, campaign_settings=campaign_settings)
    scenario.settle()
    first, number = scenario.targets[0], scenario.targets[0].mobile
    [second] = scenario.enrol(1)
    Target.objects.filter(pk=first.pk).update(mobile="09350000000")
    Target.objects.filter(pk=second.pk).update(mobile=number)
    scenario.settle()
    return scenario


def test_a_number_gets_each_text_of_the_campaign_once() -> None:
    scenario = inherited_number(one_per_phone=True)

    assert len(scenario.provider.accepted) == 1
    assert texts(scenario)[1] == (SmsStatus.SKIPPED, "phone_served")


def test_without_the_choice_each_person_gets_their_own() -> None:
    assert len(inherited_number().provider.accepted) == 2


def test_another_round_of_the_same_person_is_not_held_back(clock: MovableClock) -> None:
    scenario = Scenario(
        send("یک"),
        end("restart", delay={"amount": 1, "unit": "day"}, max_cycles=2),
        campaign_settings={"one_per_phone": True},
    )
    scenario.run_to_end(clock)

    assert len(scenario.provider.accepted) == 2


# -- wording ---------------------------------------------------------------------------------------------


def test_a_text_that_turns_out_forbidden_is_not_sent() -> None:
    rules(forbidden_words=["قمار"], refuse_links=True)
    scenario = Scenario(send("سلام {target.first_name}"), people=2)
    Target.objects.filter(pk=scenario.targets[0].pk).update(first_name="قمار")
    scenario.settle()

    first, second = SmsLog.objects.order_by("subject_id")
    assert (first.status, first.error_code, first.final_message) == ("skipped", "forbidden_text", "")
    assert "قمار" in first.error_message
    assert second.status == SmsStatus.SUBMITTED


# -- hours of a line -------------------------------------------------------------------------------------


def at_night(clock: MovableClock) -> None:
    clock.move_to(datetime(2026, 11, 30, 23, 0, tzinfo=TEHRAN))


def hours(line: str = "50001", operator: str = "") -> None:
    window = every_day("08:00", "22:00", "Asia/Tehran")
    LineRule.objects.create(workspace_id=current_workspace_id(), line=line, operator=operator, window=window)


def test_a_line_outside_its_hours_waits_for_the_opening(clock: MovableClock) -> None:
    hours()
    at_night(clock)
    scenario = Scenario(send())
    scenario.settle()

    execution = scenario.execution()
    assert (execution.status, scenario.logs(), used()) == (ExecutionStatus.WAITING, [], set())
    assert execution.next_run_at == datetime(2026, 12, 1, 8, 0, tzinfo=TEHRAN)
    assert scenario.events()[-1] == "deferred_window"
    clock.move_to(execution.next_run_at)
    scenario.settle()
    assert len(scenario.provider.accepted) == 1


def test_the_hours_of_another_line_do_not_matter(clock: MovableClock) -> None:
    hours(line="50002")
    at_night(clock)
    scenario = Scenario(send())
    scenario.settle()

    assert len(scenario.provider.accepted) == 1


@pytest.mark.parametrize(("operator", "sent"), [("mci", 0), ("irancell", 1)])
def test_hours_may_be_for_the_numbers_of_one_operator(clock: MovableClock, operator: str, sent: int) -> None:
    hours(operator=operator)
    at_night(clock)
    scenario = Scenario(send())  # 0912…
    scenario.settle()

    assert len(scenario.provider.accepted) == sent


def test_a_rule_for_every_line_holds_for_each(clock: MovableClock) -> None:
    hours(line="*")
    at_night(clock)
    scenario = Scenario(send())
    scenario.settle()

    assert scenario.provider.accepted == []


# -- cost ------------------------------------------------------------------------------------------------


def test_all_checks_cost_a_constant_number_of_statements(clock: MovableClock) -> None:
    rules(frequency_messages=5, frequency_days=2, forbidden_words=["قمار"])
    hours()
    counts = []
    for people in (5, 5, 50):  # the first one fills what is kept in memory
        scenario = Scenario(
            send(expire_after_minutes=600), people=people, campaign_settings={"one_per_phone": True}
        )
        with CaptureQueriesContext(connection) as queries:
            scenario.settle()
        assert SmsLog.objects.filter(campaign_id=scenario.campaign.pk, status="submitted").count() == people
        counts.append(len(queries))

    assert counts[1] == counts[2]
