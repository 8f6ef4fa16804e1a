"""The automation tab of a person: what comes next and when, why or why not, and everything that happened."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from automation import control
from automation.control_moves import Operation
from automation.models import AutomationSettings, WorkflowExecution, WorkflowExecutionEvent
from blacklist import actions as blacklist
from campaigns import queries
from campaigns.models import Campaign, EnrollmentBatch
from campaigns.newcomers import KEY, Rule
from campaigns.whereabouts import whereabouts
from campaigns.why import Answer, answer
from core import clock as core_clock
from sms.models import ProviderAccount, SmsLog
from sms.types import Outcome
from targets.models import Target, TargetEvent, TargetList
from tests.clocks import MovableClock
from tests.engine.building import wait_for
from tests.factories import make, make_activity, make_target, make_target_list
from tests.graphs import GraphScenario, message
from tests.people import client_of
from tests.scenario import OFFICE_HOURS, Scenario, outcome, send, wait
from tests.sms.inbound.relaying import write
from workspaces.models import User, Workspace


@pytest.fixture(autouse=True)
def _ready(workspace: Workspace, clock: MovableClock) -> None:
    """Every test has a workspace and a clock that stands still."""


@pytest.fixture
def site(marketer: User) -> Client:
    return client_of(marketer, language="en")


def page(site: Client, target: Target, **query: Any) -> Any:
    return site.get(f"/targets/{target.pk}/", {"tab": "automation", **query})


def coming(scenario: Scenario) -> tuple[str, Any]:
    [one] = whereabouts(scenario.targets[0], core_clock.now())
    return one.next.code, one.next.at


def why(scenario: Scenario, target: Target | None = None) -> Answer:
    campaign = queries.campaign_for(scenario.campaign.pk)
    return answer(campaign, target or scenario.targets[0], core_clock.now())


def block(target: Target) -> None:
    blacklist.add(
        workspace_id=target.workspace_id, channel="sms", values=[target.mobile], source="manual",
        reason="manual", user=None,
    )  # fmt: skip


# -- what comes next ----------------------------------------------------------------------------------


def test_during_a_wait_the_moment_of_the_next_step_is_named(clock):
    scenario = Scenario(wait(2), send())
    scenario.settle()
    assert coming(scenario) == ("step", clock.at + timedelta(days=2))


def test_somebody_due_within_the_limit_is_in_line(clock):
    assert coming(Scenario(send(), cap=1)) == ("in_line_send", None)


def test_when_today_s_limit_is_used_up_the_next_day_is_named_and_never_a_past_moment(clock, site):
    scenario = Scenario(send(), people=2, cap=1, window=OFFICE_HOURS)
    scenario.settle()
    left = WorkflowExecution.objects.exclude(status="completed").get()
    target = Target.objects.get(pk=left.subject_id)
    [one] = whereabouts(target, core_clock.now())
    opening = clock.at.replace(hour=5, minute=30) + timedelta(days=1)
    assert (left.next_run_at, one.next.code, one.next.at) == (clock.at, "in_line_limit", opening)
    assert "In line to send; today" in page(site, target).content.decode()


def test_outside_the_hours_the_opening_is_named(clock):
    scenario = Scenario(send(), window=OFFICE_HOURS)
    clock.move_to(clock.at.replace(hour=20))
    assert coming(scenario) == ("in_line_window", clock.at.replace(hour=5, minute=30) + timedelta(days=1))


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda: Campaign.objects.update(status="paused", paused_at=core_clock.now()), "campaign_paused"),
        (lambda: Workspace.objects.update(sending_stopped_at=core_clock.now()), "everything_stopped"),
        (lambda: Campaign.objects.update(status="cancelled"), "campaign_over"),
        (lambda: AutomationSettings.objects.update(enabled=False), "automation_disabled"),
        (lambda: ProviderAccount.objects.update(is_active=False), "in_line_channel"),
        (lambda: Campaign.objects.update(settings={"stop_when_target_status_in": ["new"]}), "status_stop"),
    ],
)
def test_whatever_holds_a_walk_back_is_said(change, code):
    scenario = Scenario(send())
    change()
    assert coming(scenario)[0] == code


def test_a_paused_person_waits_for_a_colleague(owner):
    scenario = Scenario(wait(1))
    scenario.settle()
    control.change(scenario.execution().pk, Operation.PAUSE, user=owner)
    assert coming(scenario)[0] == "paused"


def test_what_would_keep_the_next_message_back_stands_beside_it():
    scenario = Scenario(wait(1), send())
    scenario.settle()
    block(scenario.targets[0])
    [one] = whereabouts(scenario.targets[0], core_clock.now())
    assert "blacklist" in one.kept_back or "سیاه" in one.kept_back


# -- why, or why not ----------------------------------------------------------------------------------


def test_why_of_somebody_in_it_shows_the_next_message_as_it_would_read(site):
    scenario = Scenario(wait(1), send("سلام {target.first_name}"))
    scenario.settle()
    assert (why(scenario).tone, why(scenario).text) == ("info", "سلام نفر0")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda: block(Target.objects.get()), "blacklist"),
        (lambda: Target.objects.update(mobile="", landline="02188776655"), "mobile"),
        (lambda: Target.objects.update(city=""), "value"),
    ],
)
def test_why_not_names_what_the_guards_would_say(site, change, words):
    scenario = Scenario(wait(1), send("{city}"))
    scenario.settle()
    Target.objects.update(city="تهران")
    change()
    html = page(site, scenario.targets[0], why=scenario.campaign.pk).content.decode()
    assert "the next message will not leave" in html
    assert words in html


def test_why_of_somebody_who_went_through_tells_the_message(site):
    scenario = Scenario(send())
    scenario.settle()
    found = why(scenario)
    assert (found.tone, [one.status for one in found.messages]) == ("success", ["submitted"])


def test_why_not_of_a_failed_message_tells_the_provider_s_reason(site):
    scenario = Scenario(send(retry={"enabled": False, "on_exhausted": "fail"}))
    scenario.provider.answer = lambda _sms, _try: outcome(Outcome.REFUSED, "11")
    scenario.settle()
    found = why(scenario)
    assert found.tone == "danger"
    assert found.messages[0].reason


def test_why_not_of_somebody_stopped_says_whether_the_number_is_still_blocked():
    scenario = Scenario(send())
    block(scenario.targets[0])
    scenario.settle()
    first = why(scenario)
    blacklist.remove(
        workspace_id=scenario.campaign.workspace_id, channel="sms",
        values=[scenario.targets[0].mobile], user=None,
    )  # fmt: skip
    assert (first.tone, first.reasons == why(scenario).reasons) == ("danger", False)


def outsider(scenario: Scenario, **fields: Any) -> Target:
    return make_target(scenario.campaign.workspace, **{"mobile": "09351112233", **fields})


def test_why_not_of_somebody_never_added_asks_the_planner(site):
    scenario = Scenario(wait(1))
    elsewhere = Scenario(wait(1))
    elsewhere.settle()
    stranger = outsider(scenario)
    assert "Nothing stands in the way" in _sentence(site, stranger, scenario)
    assert "in another campaign" in _sentence(site, elsewhere.targets[0], scenario)
    landline = outsider(scenario, mobile="", landline="02188776655")
    assert "no valid mobile number" in _sentence(site, landline, scenario)
    block(stranger)
    assert "on the blacklist" in _sentence(site, stranger, scenario)


def _sentence(site: Client, target: Target, scenario: Scenario) -> str:
    found: Answer = page(site, target, why=scenario.campaign.pk).context["why"]
    return found.sentence


def test_why_not_names_the_list_the_door_and_the_selection_that_left_them_out(site):
    scenario = Scenario(wait(1))
    source: TargetList = make_target_list(scenario.campaign.workspace, name="VIP")
    target = outsider(scenario)
    EnrollmentBatch.objects.create(
        workspace=scenario.campaign.workspace, campaign=scenario.campaign, subject_ids=[target.pk],
        plan={"skipped": [target.pk]}, status="committed",
    )  # fmt: skip
    Campaign.objects.filter(pk=scenario.campaign.pk).update(source_target_list=source, intake_open=False)
    html = page(site, target, why=scenario.campaign.pk).content.decode()
    for words in ("not on the list “VIP”", "a colleague decided against it", "closed to new people"):
        assert words in html


@pytest.mark.parametrize("asked", ["x", "0x1", "-1", "99999999999999999999", "٣"])
def test_what_is_no_campaign_is_not_found(site, asked):
    assert page(site, make_target(Workspace.objects.get()), why=asked).status_code == 404


def test_another_workspace_s_campaign_is_not_found(site, other_workspace, workspace):
    foreign = make(Campaign, other_workspace)
    assert page(site, make_target(workspace), why=foreign.pk).status_code == 404


# -- everything that happened -------------------------------------------------------------------------


def test_the_history_tells_follow_ups_and_activities_with_their_titles(site, marketer):
    step = {"type": "action", "subtype": "create_followup", "config": {"title": "زنگ به {first_name}"}}
    scenario = Scenario(step)
    scenario.settle()
    target = scenario.targets[0]
    make_activity(target.workspace, target=target, title="دیدار حضوری", done_at=core_clock.now())
    html = page(site, target).content.decode()
    for words in ("Follow-up recorded for the owner", "زنگ به نفر0", "دیدار حضوری", "Activity done"):
        assert words in html


def test_the_history_shows_a_send_with_everything_known_of_it(site, workspace):
    scenario = Scenario(send("سلام {first_name}"))
    scenario.settle()
    log = scenario.logs()[0]
    SmsLog.objects.filter(pk=log.pk).update(
        status="undelivered", error_code="operator_blocked", error_message="30", attempt_number=2,
        provider_message_id="4700123", retry_scheduled_at=core_clock.now() + timedelta(hours=2),
    )  # fmt: skip
    html = page(site, scenario.targets[0]).content.decode()
    history = html.partition('id="timeline-h"')[2]
    told = (
        log.final_message,
        log.phone_number,
        "Not delivered",
        "Try 2",
        "4700123",
        "block list for advertising",
    )
    for words in (*told, "Next try", "11:00"):
        assert words in history


def test_the_tab_costs_as_many_queries_for_a_long_history_as_for_a_short_one(site):
    scenario = Scenario(wait(1), send())
    scenario.settle()
    target = scenario.targets[0]
    make_activity(target.workspace, target=target)

    def asked() -> int:
        with CaptureQueriesContext(connection) as found:
            page(site, target, why=scenario.campaign.pk)
        return len(found)

    asked()
    few = asked()
    for _round in range(3):
        other = Scenario(wait(1), send(), people=0)
        walk = make(WorkflowExecution, target.workspace, campaign=other.campaign, subject_id=target.pk)
        make(WorkflowExecutionEvent, target.workspace, execution=walk, campaign=other.campaign)
        make_activity(target.workspace, target=target)
    assert len(page(site, target).context["current"]) == 4
    assert asked() == few


def test_the_tab_needs_automation_and_the_right_to_see_campaigns(workspace, seller, marketer, clock):
    target = make_target(workspace, owner=seller)
    assert "tab=automation" in client_of(seller).get(f"/targets/{target.pk}/").content.decode()
    AutomationSettings.objects.update_or_create(workspace=workspace, defaults={"enabled": False})
    answer = client_of(marketer).get(f"/targets/{target.pk}/")
    assert (answer.status_code, "tab=automation" in answer.content.decode()) == (200, False)


@pytest.mark.parametrize(
    ("city", "changed", "words"),
    [
        ("شیراز", {}, "do not fit the person"),
        ("تهران", {"since": timedelta(days=1)}, "means only people who came after"),
        ("تهران", {"cursor": 10**9}, "has looked at this person already"),
        ("تهران", {"day": date(2026, 11, 30), "added_today": 5}, "as many people as it may today"),
        ("تهران", {}, "with its next check"),
    ],
)
def test_why_not_asks_the_rule_that_lets_people_in(site, clock, city, changed, words):
    scenario = Scenario(wait(1))
    target = outsider(scenario, city=city)
    since = target.created_at + changed.pop("since", timedelta(0))
    rule = Rule(filters={"city": "تهران"}, daily_cap=5, since=since, **changed)
    outsider(scenario, mobile="09351112244", city="تهران")
    Campaign.objects.filter(pk=scenario.campaign.pk).update(settings={KEY: rule.stored()})
    assert words in _sentence(site, target, scenario)


def test_events_stand_in_the_history_in_words(workspace: Workspace, site: Client) -> None:
    """One that nothing else shows has a line of its own; an answer is said to be one where it stands."""
    person = make_target(workspace)
    make(TargetEvent, workspace, target=person, name="order_paid", source="shop", properties={"amount": 5})
    write(workspace, "بله", number=person.mobile)
    shown = page(site, person).content.decode()

    assert "order_paid" in shown
    assert "\u2068amount\u2069: \u20685\u2069" in shown
    assert shown.count("Counts as an answer") == 1
    assert "sms_received" not in shown


def test_what_somebody_waits_for_is_named(site: Client, clock: MovableClock) -> None:
    scenario = GraphScenario(
        wait_for("e", "sms_received", amount=1, unit="day"), message("m"), edges=["start -> e", "e -> m"]
    )
    scenario.settle()
    assert "Waits for “Answer by SMS”, at the latest" in page(site, scenario.targets[0]).content.decode()
