"""The buttons beside the people of a campaign."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from automation.models import WorkflowExecution
from tests.campaigns.reading import text_of, url
from tests.clocks import MovableClock
from tests.scenario import Scenario
from workspaces.models import User, Workspace

pytestmark = pytest.mark.usefixtures("workspace", "clock")
ClientOf = Callable[..., Client]


def press(client: Client, name: str, row: WorkflowExecution, **data: Any) -> Any:
    return client.post(reverse(f"campaigns:execution-{name}", args=[row.pk]), data)


def test_each_person_has_the_buttons_their_state_allows(member_client: Client):
    scenario = Scenario(people=3)
    scenario.settle()
    page = member_client.get(url("people", scenario.campaign.pk)).content.decode()
    row = scenario.execution()
    assert reverse("campaigns:execution-restart", args=[row.pk]) in page
    assert reverse("campaigns:execution-pause", args=[row.pk]) not in page
    assert page.count('name="execution"') == 3


def test_a_button_moves_the_person_and_comes_back_to_the_list(member_client: Client, owner: User):
    scenario = Scenario()
    response = press(member_client, "pause", scenario.execution(), status="active", page="1")
    assert response["Location"] == url("people", scenario.campaign.pk) + "?status=active&page=1"
    assert scenario.execution().status == "paused"
    log = text_of(member_client.get(url("logs", scenario.campaign.pk)))
    assert str(owner) in log


def test_a_refusal_is_told_on_the_page(owner: User, client_of: ClientOf):
    scenario = Scenario()
    web = client_of(owner, language="en")
    press(web, "resume", scenario.execution())
    page = text_of(web.get(url("people", scenario.campaign.pk)))
    assert "cannot be done in the state" in page


def test_the_ticked_people_are_moved_and_the_others_named(owner: User, client_of: ClientOf):
    scenario = Scenario(people=3)
    web = client_of(owner, language="en")
    ids = [scenario.execution(i).pk for i in range(2)]
    press(web, "pause", scenario.execution(0))
    web.post(url("people-change", scenario.campaign.pk), {"operation": "pause", "execution": ids})
    page = text_of(web.get(url("people", scenario.campaign.pk)))
    assert scenario.statuses() == {"paused": 2, "active": 1}
    assert "Done for 1 person." in page
    assert f"{scenario.targets[0]}: This cannot be done" in page


def test_everybody_under_the_filter_can_be_meant(member_client: Client):
    scenario = Scenario(people=60)
    press(member_client, "pause", scenario.execution(0))
    form = {"operation": "remove", "scope": "all", "status": "active"}
    member_client.post(url("people-change", scenario.campaign.pk), form)
    assert scenario.statuses() == {"paused": 1, "cancelled": 59}


def test_nothing_ticked_is_said(owner: User, client_of: ClientOf):
    scenario = Scenario()
    web = client_of(owner, language="en")
    web.post(url("people-change", scenario.campaign.pk), {"operation": "pause"})
    assert "Tick at least one person." in text_of(web.get(url("people", scenario.campaign.pk)))


def test_a_seller_sees_no_buttons_and_may_press_none(seller: User, client_of: ClientOf):
    scenario = Scenario()
    scenario.targets[0].owner = seller
    scenario.targets[0].save()
    web = client_of(seller)
    page = web.get(url("people", scenario.campaign.pk)).content.decode()
    assert 'name="execution"' not in page
    assert "execution" not in page.split("<main")[1]
    assert press(web, "pause", scenario.execution()).status_code == 403


def test_in_an_ended_campaign_nobody_is_offered_to_go_on(
    member_client: Client, clock: MovableClock, workspace: Workspace
):
    scenario = Scenario()
    scenario.settle()
    scenario.campaign.status = "completed"
    scenario.campaign.save()
    page = member_client.get(url("people", scenario.campaign.pk)).content.decode()
    assert "restart" not in page.split("<main")[1]
