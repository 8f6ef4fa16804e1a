"""People whose step could not be run are named over the campaign pages, with the way to them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import translation

from automation.models import WorkflowExecution
from campaigns import health
from campaigns.models import Campaign
from core.tenancy import workspace_scope
from tests.campaigns import builders
from tests.campaigns.reading import text_of, url
from tests.clocks import MovableClock
from workspaces.models import Workspace

TITLE = "Some people were set aside"


def poisoned(clock: MovableClock, *, people: int = 2, days_ago: int = 0) -> Campaign:
    campaign = builders.running()
    builders.enrol(campaign, builders.people(people))
    WorkflowExecution.objects.filter(campaign=campaign).update(
        status="failed", end_reason="poison", active_key=None,
        completed_at=clock.now() - timedelta(days=days_ago),
    )  # fmt: skip
    return campaign


def test_the_campaign_pages_count_those_who_were_given_up(web: Client, clock: MovableClock) -> None:
    campaign = poisoned(clock)
    text = text_of(web.get(url("health")))
    assert TITLE in text
    assert f"The steps of 2 people in “{campaign.name}” could not be run" in text


def test_the_banner_leads_to_them(web: Client, clock: MovableClock) -> None:
    campaign = poisoned(clock)
    page = web.get(url("health")).content.decode()
    assert f'href="{url("people", campaign.pk)}?status=failed"' in page


def test_another_workspaces_people_are_not_counted(
    web: Client, clock: MovableClock, other_workspace: Workspace
) -> None:
    with workspace_scope(other_workspace.pk):
        poisoned(clock)
    assert TITLE not in text_of(web.get(url("health")))


def test_after_a_week_the_banner_is_gone(web: Client, clock: MovableClock) -> None:
    poisoned(clock, days_ago=8)
    assert TITLE not in text_of(web.get(url("health")))


@pytest.mark.django_db
def test_many_campaigns_cost_one_query_and_few_banners(
    workspace: Workspace, clock: MovableClock, django_assert_num_queries: Any
) -> None:
    for _ in range(7):
        poisoned(clock, people=1)
    with django_assert_num_queries(1):
        assert len(health.poisoned(clock.now())) == health.POISONED_CAMPAIGNS


@pytest.mark.django_db
def test_the_count_is_told_in_persian(workspace: Workspace, clock: MovableClock) -> None:
    poisoned(clock)
    with translation.override("fa"):
        assert "۲ نفر" in str(health.poisoned(clock.now())[0].text)
