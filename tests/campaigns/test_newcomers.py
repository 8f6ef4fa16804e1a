"""New people who enter a campaign by its rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from automation import control
from automation.control_moves import Operation
from automation.models import WorkflowExecution
from automation.states import ExecutionStatus
from campaigns import actions, newcomer_checks, newcomers, stopping
from campaigns.details import CampaignDetails
from campaigns.models import Campaign
from campaigns.newcomer_checks import ADDED_AT_MOST, check
from campaigns.newcomers import Rule, rule_of
from core.errors import Invalid
from core.failpoints import acting
from core.queue import port
from targets.filters import TargetFilter
from targets.models import TargetListMember
from tests.campaigns import builders
from tests.campaigns.reading import text_of, url
from tests.campaigns.test_enrollment import SilentQueue
from tests.campaigns.test_planner import block
from tests.clocks import MovableClock
from tests.scenario import assert_conserved
from workspaces.models import AuditRecord, User

pytestmark = pytest.mark.usefixtures("workspace", "clock")
SHIRAZ = {"city": "شیراز"}


def with_rule(campaign: Campaign | None = None, **rule: Any) -> Campaign:
    campaign = campaign or builders.running()
    filters = TargetFilter(rule.pop("filters", SHIRAZ))
    wanted = {"daily_cap": 200, "include_existing": False, "user": None, **rule}
    newcomers.save_rule(campaign.pk, filters=filters, **wanted)
    campaign.refresh_from_db()
    return campaign


def come(clock: MovableClock, count: int = 1, **columns: Any) -> list[int]:
    """New people of the city, and the minutes until the next check."""
    ids = builders.people(count, **{**SHIRAZ, **columns})
    clock.advance(minutes=5)
    return ids


def look(campaign: Campaign, clock: MovableClock) -> tuple[int, int, dict[str, int]]:
    found = check(campaign.pk, clock.now())
    return (found.examined, found.added, dict(found.skipped)) if found else (0, 0, {})


def inside(campaign: Campaign) -> list[int]:
    rows = WorkflowExecution.objects.filter(campaign=campaign).order_by("subject_id")
    return list(rows.values_list("subject_id", flat=True))


def rule(campaign: Campaign) -> Rule:
    campaign.refresh_from_db()
    found = rule_of(campaign)
    assert found is not None
    return found


def test_a_new_person_who_meets_the_conditions_enters(clock: MovableClock):
    campaign = with_rule()
    builders.people(1, city="تهران")
    [person] = come(clock)
    assert look(campaign, clock) == (1, 1, {})
    assert inside(campaign) == [person]
    event = builders.execution_of(campaign, person).events.get(type="enrolled")
    assert (event.data, event.actor_user) == ({"auto": True}, None)
    assert_conserved()


def test_existing_people_enter_only_when_they_were_asked_for(clock: MovableClock):
    old = come(clock)
    assert look(with_rule(), clock) == (0, 0, {})
    assert look(with_rule(include_existing=True), clock) == (1, 1, {})
    assert inside(Campaign.objects.latest("pk")) == old


def test_an_empty_rule_would_mean_everybody_and_is_refused():
    with pytest.raises(Invalid) as refusal:
        with_rule(filters={})
    assert refusal.value.code == "filter_empty"


@pytest.mark.parametrize("cap", [0, 5_001])
def test_the_daily_number_has_bounds(cap: int):
    with pytest.raises(Invalid):
        with_rule(daily_cap=cap)


def test_the_blocked_the_unreachable_and_the_busy_are_left_out(clock: MovableClock):
    other, campaign = builders.running(), with_rule()
    blocked, busy = come(clock, 2)
    builders.people(1, mobile="", landline="02188776655", **SHIRAZ)
    block(blocked)
    builders.enrol(other, [busy])
    clock.advance(minutes=5)
    assert look(campaign, clock) == (3, 0, {"blacklisted": 1, "invalid": 1, "conflict": 1})
    assert inside(campaign) == []


def test_it_works_for_the_workspace_whoever_made_it(clock: MovableClock, owner: User, seller: User):
    campaign = with_rule(user=seller)  # who sees only their own people
    theirs = come(clock, owner=owner)
    look(campaign, clock)
    assert inside(campaign) == theirs


def test_the_stored_answer_about_other_campaigns_is_followed(clock: MovableClock):
    other, campaign = builders.running(), with_rule()
    ids = come(clock)
    builders.enrol(other, ids)
    assert campaign.settings["on_conflict"] == "skip"
    Campaign.objects.filter(pk=campaign.pk).update(settings={**campaign.settings, "on_conflict": "add"})
    assert look(campaign, clock) == (1, 1, {})


def test_a_check_adds_two_hundred_and_the_next_one_the_others(clock: MovableClock):
    campaign = with_rule(daily_cap=1000)
    ids = come(clock, 250)
    assert look(campaign, clock)[1] == ADDED_AT_MOST
    assert look(campaign, clock)[1] == 50
    assert inside(campaign) == ids


def test_refused_people_do_not_starve_those_behind_them(clock: MovableClock):
    campaign = with_rule()
    builders.enrol(builders.running(), builders.people(300, **SHIRAZ))
    [good] = come(clock)
    assert look(campaign, clock) == (301, 1, {"conflict": 300})
    assert inside(campaign) == [good]


def test_somebody_taken_out_never_comes_back_by_themselves(clock: MovableClock):
    campaign = with_rule(include_existing=True)
    [person] = come(clock)
    look(campaign, clock)
    control.change(builders.execution_of(campaign, person).pk, Operation.REMOVE, user=None)
    assert look(campaign, clock) == (0, 0, {})
    with_rule(campaign, filters={**SHIRAZ, "status": "new"}, include_existing=True)  # starts over
    assert look(campaign, clock) == (1, 0, {"here_before": 1})


def test_what_does_not_fit_into_the_day_waits_for_the_next(clock: MovableClock):
    campaign = with_rule(daily_cap=3)
    ids = come(clock, 5)
    assert look(campaign, clock)[1] == 3
    assert look(campaign, clock) == (0, 0, {})
    clock.advance(days=1)
    assert look(campaign, clock)[1] == 2
    assert inside(campaign) == ids


def test_another_number_keeps_the_place_and_other_conditions_start_over(clock: MovableClock):
    campaign = with_rule()
    come(clock)
    look(campaign, clock)
    place = rule(campaign).cursor
    assert place > 0
    with_rule(campaign, daily_cap=7)
    assert rule(campaign).cursor == place
    with_rule(campaign, filters={"city": "تبریز"})
    assert rule(campaign).cursor == 0


def test_a_person_still_being_stored_is_not_passed_by(clock: MovableClock):
    """Ids are given in order, but a long import may commit a smaller one later."""
    campaign = with_rule()
    fresh = builders.people(1, **SHIRAZ)
    clock.advance(seconds=30)
    assert look(campaign, clock) == (0, 0, {})
    assert rule(campaign).cursor < fresh[0]
    clock.advance(minutes=1)
    assert look(campaign, clock)[1] == 1


def test_a_check_that_finds_nobody_keeps_the_figures_of_the_last_one(clock: MovableClock, web: Client):
    campaign = with_rule()
    come(clock, 5)
    look(campaign, clock)
    clock.advance(minutes=5)
    look(campaign, clock)
    assert [(one.examined, one.added) for one in rule(campaign).looks] == [(5, 5)]
    assert "5 looked at, 5 entered" in text_of(web.get(url("detail", campaign.pk)))


def test_an_edit_of_the_campaign_does_not_take_the_rule_back(clock: MovableClock):
    campaign = with_rule()
    come(clock)
    look(campaign, clock)
    details = CampaignDetails(name="تازه")
    actions.update_campaign(campaign.pk, details=details, revision=campaign.revision, user=None)
    assert (rule(campaign).added_today, rule(campaign).enabled) == (1, True)


def test_conditions_that_cannot_be_read_any_more_stop_the_rule_and_say_so(clock: MovableClock, web: Client):
    made = builders.on_list(builders.people(1))
    campaign = with_rule(filters={"list": made.pk})
    TargetListMember.objects.all().delete()
    made.delete()
    come(clock)
    assert look(campaign, clock) == (0, 0, {})
    assert rule(campaign).problem == "filter_invalid"
    assert "cannot be followed" in text_of(web.get(url("newcomers", campaign.pk)))


def test_a_check_that_dies_is_as_if_it_had_not_been(clock: MovableClock):
    campaign = with_rule()
    ids = come(clock, 3)

    def die() -> None:
        raise KeyboardInterrupt

    with acting("newcomers_tx", die), pytest.raises(KeyboardInterrupt):
        check(campaign.pk, clock.now())
    assert inside(campaign) == []
    look(campaign, clock)
    assert inside(campaign) == ids


# -- the tick -----------------------------------------------------------------------------------------


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> SilentQueue:
    made = SilentQueue()
    monkeypatch.setitem(port._queues, "inline", made)
    return made


def test_it_looks_every_five_minutes(clock: MovableClock, queue: SilentQueue):
    with_rule()
    asked = []
    for _minute in range(11):
        asked.append(newcomer_checks.ask(clock.now())["newcomer_checks"])
        clock.advance(minutes=1)
    assert asked == [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]


@pytest.mark.parametrize("rests", ["paused", "closed", "off", "stopped", "over"])
def test_a_campaign_at_rest_does_not_look(clock: MovableClock, queue: SilentQueue, rests: str):
    campaign = with_rule()
    moves: dict[str, Callable[[], object]] = {
        "paused": lambda: actions.pause(campaign.pk, user=None),
        "closed": lambda: actions.set_intake(campaign.pk, is_open=False, user=None),
        "off": lambda: newcomers.switch_off(campaign.pk, user=None),
        "stopped": lambda: stopping.stop(reason="x", user=None),
        "over": lambda: actions.cancel(campaign.pk, user=None),
    }
    moves[rests]()
    assert newcomer_checks.ask(clock.now())["newcomer_checks"] == 0


def test_the_task_lets_people_in(clock: MovableClock):
    campaign = with_rule()
    come(clock)
    newcomer_checks.ask(clock.now())
    assert builders.statuses(campaign) == {ExecutionStatus.ACTIVE: 1}


def test_a_second_task_for_the_campaign_ends_at_once(clock: MovableClock, django_assert_num_queries: Any):
    campaign = with_rule()
    come(clock)
    payload = {"workspace_id": campaign.workspace_id, "campaign_id": campaign.pk}

    def second() -> None:
        with django_assert_num_queries(0):
            newcomer_checks.run_task(payload)

    with acting("newcomers_tx", second):
        newcomer_checks.run_task(payload)


# -- pages --------------------------------------------------------------------------------------------


def test_saving_the_page_switches_the_rule_on_and_is_audited(web: Client, owner: User, clock: MovableClock):
    campaign = builders.running()
    builders.people(1, **SHIRAZ)
    web.post(url("newcomers", campaign.pk), {**SHIRAZ, "daily_cap": "50"})
    assert (rule(campaign).daily_cap, rule(campaign).filters) == (50, SHIRAZ)
    row = AuditRecord.objects.get(event="campaign.rule_saved")
    assert (row.user, row.new["conditions"]) == (owner, SHIRAZ)
    web.post(url("newcomers-off", campaign.pk))
    assert rule(campaign).enabled is False


def test_existing_people_are_counted_before_they_are_let_in(web: Client, clock: MovableClock):
    campaign = builders.running()
    builders.people(3, **SHIRAZ)
    form = {**SHIRAZ, "daily_cap": "50", "include_existing": "on"}
    page = web.post(url("newcomers", campaign.pk), form)
    assert "3 people who exist already would be looked at" in text_of(page)
    assert Campaign.objects.get(pk=campaign.pk).settings.get("auto_enroll") is None
    web.post(url("newcomers", campaign.pk), {**form, "confirmed": "3"})
    assert rule(campaign).include_existing is True


def test_the_page_tells_how_many_the_conditions_mean_now(web: Client, clock: MovableClock):
    campaign = builders.running()
    come(clock, 3)
    address = url("newcomers-count", campaign.pk)
    assert "3 people meet the conditions now. 0 of them" in text_of(web.get(address, SHIRAZ))
    both = text_of(web.get(address, {**SHIRAZ, "include_existing": "on"}))
    assert "3 of them would be looked at" in both


@pytest.mark.parametrize("form", [{"daily_cap": "50"}, {**SHIRAZ, "daily_cap": "5001"}])
def test_a_rule_that_cannot_be_saved_says_why(web: Client, form: dict[str, str], clock: MovableClock):
    campaign = builders.running()
    builders.people(1, **SHIRAZ)
    answer = web.post(url("newcomers", campaign.pk), form)
    assert answer.status_code == 422
    assert Campaign.objects.get(pk=campaign.pk).settings.get("auto_enroll") is None


def test_the_timeline_says_that_they_came_by_themselves(web: Client, clock: MovableClock):
    campaign = with_rule()
    come(clock)
    look(campaign, clock)
    assert "(automatic)" in text_of(web.get(url("logs", campaign.pk)))
