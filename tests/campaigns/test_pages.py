"""Who may open and press what, the list, the form, home and health."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from automation.models import AutomationSettings, WorkflowExecution
from automation.states import ExecutionStatus
from campaigns import actions
from campaigns.models import Campaign
from core.heartbeat import beat
from core.tenancy import workspace_scope
from tests.campaigns import builders
from tests.campaigns.reading import form_data, statements, text_of, url
from tests.clocks import MovableClock
from workspaces.models import User, Workspace

pytestmark = pytest.mark.usefixtures("workspace", "clock")
ClientOf = Callable[..., Client]


PAGES = ("detail", "live", "people", "logs")
MOVES = ("activate", "pause", "resume", "cancel", "end", "open", "close")


# -- who may ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", PAGES)
def test_pages_ask_to_sign_in(place: str, client: Client) -> None:
    response = client.get(url(place, builders.draft().pk))
    assert (response.status_code, "sign-in" in response["Location"]) == (302, True)


@pytest.mark.parametrize("place", PAGES)
def test_another_workspaces_campaign_is_not_found(place: str, stranger: User, client_of: ClientOf) -> None:
    assert client_of(stranger).get(url(place, builders.draft().pk)).status_code == 404


@pytest.mark.parametrize("move", MOVES)
def test_another_workspaces_campaign_cannot_be_moved(move: str, stranger: User, client_of: ClientOf) -> None:
    campaign = builders.draft()
    response = client_of(stranger).post(url(move, campaign.pk), headers={"Accept": "application/json"})
    campaign.refresh_from_db()
    assert (response.status_code, campaign.status) == (404, "draft")


@pytest.mark.parametrize("move", MOVES)
def test_a_seller_may_look_but_not_move(move: str, seller: User, client_of: ClientOf) -> None:
    campaign = builders.draft()
    web = client_of(seller)
    assert web.get(url("detail", campaign.pk)).status_code == 200
    assert web.post(url(move, campaign.pk)).status_code == 403


def test_anonymous_json_gets_401(client: Client) -> None:
    response = client.post(url("pause", builders.draft().pk), headers={"Accept": "application/json"})
    assert (response.status_code, response.json()["code"]) == (401, "not_signed_in")


# -- the buttons --------------------------------------------------------------------------------------


def press(web: Client, move: str, campaign: Campaign) -> str:
    """What the page that a button goes back to says."""
    return text_of(web.post(url(move, campaign.pk), follow=True))


def test_the_buttons_say_what_became_of_the_campaign(web: Client) -> None:
    builders.channel()
    campaign = builders.draft()
    said = {
        "activate": "The campaign is running.",
        "pause": "The campaign is paused.",
        "resume": "The campaign is running.",
        "end": "The campaign has ended.",
    }
    assert [move for move, words in said.items() if words not in press(web, move, campaign)] == []
    assert "This campaign is over." in press(web, "resume", campaign)


def test_cancelling_never_says_stopped_of_what_is_on_its_way(web: Client, clock: MovableClock) -> None:
    quiet, busy = builders.running(), builders.running()
    builders.enrol(quiet, builders.people(1))
    builders.enrol(busy, builders.people(2))
    WorkflowExecution.objects.filter(campaign=busy).update(
        status="processing", lock_token=uuid4(), locked_at=clock.now()
    )
    assert "The campaign is cancelled." in press(web, "cancel", quiet)
    assert "2 messages were on their way already and may still arrive." in press(web, "cancel", busy)


# -- list and form ------------------------------------------------------------------------------------


def test_the_list_filters_by_status(web: Client) -> None:
    builders.running(name="running one")
    builders.draft(name="draft one")

    page = text_of(web.get(url("list"), {"status": "active"}))
    assert "running one" in page
    assert "draft one" not in page


def test_the_list_shows_how_far_each_campaign_is(web: Client) -> None:
    campaign = builders.running()
    builders.enrol(campaign, builders.people(3))
    WorkflowExecution.objects.filter(pk=WorkflowExecution.objects.values("pk")[:1]).update(
        status="completed", active_key=None, completed_at=campaign.created_at
    )
    html = web.get(url("list")).content.decode()
    assert 'value="1" max="3"' in html


def test_the_list_costs_the_same_for_many_campaigns(web: Client) -> None:
    workflow = builders.workflow()
    builders.draft(workflow)
    few = statements(web, url("list"))
    for _ in range(5):
        builders.draft(workflow)
    assert statements(web, url("list")) == few <= 14


FORM = {"name": "پاییزه", "timezone": "Asia/Tehran", "daily_limit": "۱۰۰"}


def test_the_form_makes_a_draft(web: Client) -> None:
    workflow = builders.workflow()
    window = {"use_window": "on", "sat": "9-18", "thu": "۰۹:۰۰ تا ۱۳:۰۰"}
    times = {"starts_on": "1405/09/10", "starts_time": "8:30", "ends_on": "1405/09/20"}
    data = {**FORM, **window, **times, "workflow": workflow.pk, "stop_statuses": ["converted"]}

    response = web.post(url("create"), data)

    campaign = Campaign.objects.get()
    assert response["Location"] == url("detail", campaign.pk)
    assert (campaign.name, campaign.daily_limit, campaign.status) == ("پاییزه", 100, "draft")
    assert campaign.send_window is not None
    assert campaign.send_window["days"]["thu"] == [["09:00", "13:00"]]
    assert f"{campaign.starts_at:%F %H:%M}" == "2026-12-01 05:00"
    assert f"{campaign.ends_at:%F %H:%M}" == "2026-12-11 20:30"  # the whole last day counts
    assert campaign.settings["stop_when_target_status_in"] == ["converted"]


def test_no_stop_status_is_chosen_beforehand(web: Client) -> None:
    builders.workflow()
    html = web.get(url("create")).content.decode()
    boxes = re.findall(r'<input type="checkbox" name="stop_statuses"[^>]*>', html)
    assert len(boxes) == 4
    assert not any("checked" in box for box in boxes)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", ""),
        ("starts_time", "9:30"),
        ("ends_on", "1405/12/30x"),
        ("daily_limit", "many"),
        ("workflow", "0"),
    ],
)
def test_a_wrong_field_is_explained_and_nothing_is_saved(web: Client, field: str, value: str) -> None:
    workflow = builders.workflow()
    response = web.post(url("create"), {**FORM, "workflow": workflow.pk, field: value})
    assert (response.status_code, Campaign.objects.count()) == (422, 0)
    assert 'class="form-errors"' in response.content.decode()


def test_an_end_before_the_start_is_shown_at_the_end(web: Client) -> None:
    data = {**FORM, "workflow": builders.workflow().pk, "starts_on": "1405/09/20", "ends_on": "1405/09/10"}
    response = web.post(url("create"), data)
    assert response.status_code == 422
    assert "The end must be later than the start." in text_of(response)


def test_the_edit_form_keeps_what_it_does_not_change(web: Client, clock: MovableClock) -> None:
    window = {"timezone": "Asia/Tehran", "days": {"sat": [["09:00", "18:00"]]}}
    campaign = builders.running(
        send_window=window, daily_limit=5, ends_at=clock.now() + timedelta(days=9, hours=3)
    )
    before = (campaign.send_window, campaign.ends_at, campaign.starts_at, campaign.settings)
    page = web.get(url("edit", campaign.pk))
    data = {name: value for name, value in form_data(page.content.decode()).items() if value != ""}

    response = web.post(url("edit", campaign.pk), {**data, "daily_limit": "7"})

    assert response.status_code == 302, text_of(response)
    campaign.refresh_from_db()
    assert campaign.daily_limit == 7
    assert (campaign.send_window, campaign.ends_at, campaign.starts_at, campaign.settings) == before


def test_a_stale_edit_is_refused(web: Client) -> None:
    campaign = builders.draft()
    data = form_data(web.get(url("edit", campaign.pk)).content.decode())
    actions.set_intake(campaign.pk, is_open=False, user=None)

    response = web.post(url("edit", campaign.pk), data)
    assert response.status_code == 409


# -- health -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("minutes", "warned"), [(6, True), (4, False)])
def test_a_scheduler_that_is_late_is_said(
    web: Client, clock: MovableClock, minutes: int, warned: bool
) -> None:
    beat("tick")
    builders.running()
    clock.advance(minutes=minutes)
    for name in ("list", "health"):
        assert ("The scheduler is not running" in text_of(web.get(url(name)))) is warned


def test_the_campaigns_page_says_trouble_once(web: Client, clock: MovableClock) -> None:
    beat("tick")
    campaign = builders.running()
    builders.enrol(campaign, builders.people(1))
    clock.advance(minutes=6)
    page = web.get(url("detail", campaign.pk))
    told = page.context["told"]
    assert text_of(page).count("The scheduler is not running") == 1
    assert "The scheduler is not running" not in text_of(web.get(url("health"), {"told": told}))


def test_without_a_running_campaign_a_late_scheduler_is_nobodys_worry(web: Client) -> None:
    builders.draft()
    assert "The scheduler is not running" not in text_of(web.get(url("health")))


@pytest.mark.parametrize(("minutes", "warned"), [(6, True), (4, False)])
def test_a_queue_that_nobody_works_on_is_said(
    web: Client, clock: MovableClock, minutes: int, warned: bool
) -> None:
    import uuid

    campaign = builders.running()
    builders.enrol(campaign, builders.people(1))
    WorkflowExecution.objects.update(
        status=ExecutionStatus.QUEUED, lock_token=uuid.uuid4(), locked_at=clock.now()
    )
    clock.advance(minutes=minutes)
    assert ("The queue is not being worked on" in text_of(web.get(url("health")))) is warned


def test_the_banner_asks_for_itself_every_half_minute(web: Client) -> None:
    assert 'hx-trigger="every 30s"' in web.get(url("list")).content.decode()
    assert 'hx-trigger="every 30s"' in web.get(url("health")).content.decode()


def test_another_workspaces_queue_is_not_our_worry(
    web: Client, clock: MovableClock, other_workspace: Workspace
) -> None:
    import uuid

    with workspace_scope(other_workspace.pk):
        builders.enrol(builders.running(), builders.people(1))
        WorkflowExecution.objects.update(status="queued", lock_token=uuid.uuid4(), locked_at=clock.now())
    clock.advance(minutes=9)
    assert "banner" not in web.get(url("health")).content.decode()


# -- home ---------------------------------------------------------------------------------------------


def test_home_counts_running_campaigns(web: Client) -> None:
    campaign = builders.running()
    builders.draft()
    builders.enrol(campaign, builders.people(4))
    page = text_of(web.get(reverse("workspaces:home")))
    assert "Running campaigns 1" in page
    assert "People in running campaigns 4" in page


@pytest.mark.parametrize("place", ["list", "create"])
def test_pages_speak_persian(place: str, member_client: Client) -> None:
    builders.workflow()
    html = member_client.get(url(place)).content.decode()
    assert 'lang="fa" dir="rtl"' in html


@pytest.mark.parametrize("place", ["list", "create", "detail", "people", "logs", "enrol", "edit"])
def test_pages_are_closed_while_automation_is_off(place: str, web: Client, workspace: Workspace) -> None:
    campaign = builders.draft()
    AutomationSettings.objects.create(workspace=workspace, enabled=False)
    args = () if place in ("list", "create") else (campaign.pk,)

    response = web.get(url(place, *args))

    assert response.status_code == 404
    assert "Automation is switched off for this workspace" in text_of(response)


def test_a_fragment_lets_its_page_load_anew_when_automation_is_off(web: Client, workspace: Workspace) -> None:
    AutomationSettings.objects.create(workspace=workspace, enabled=False)
    response = web.get(url("health"), headers={"HX-Request": "true"})
    assert (response.status_code, response["HX-Refresh"]) == (204, "true")


def test_the_start_button_says_that_automation_is_off(web: Client, workspace: Workspace) -> None:
    AutomationSettings.objects.create(workspace=workspace, enabled=False)
    assert "Automation is switched off" in press(web, "activate", builders.draft())
