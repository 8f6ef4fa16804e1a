"""The way from an empty workspace to the first message, as the start page shows it."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.factories import (
    make_campaign,
    make_provider_account,
    make_published_version,
    make_target,
    make_workflow,
)
from tests.people import client_of
from workspaces.models import User, Workspace

STEPS = ["sms.account", "targets.import", "automation.workflow", "campaigns.create", "campaigns.start"]


def done(client: Client) -> list[bool]:
    return [step.done for step in client.get("/").context["steps"]]


def next_url(client: Client) -> str:
    return str(client.get("/").context["next_step"].url)


def test_an_empty_workspace_has_everything_before_it(member_client: Client) -> None:
    assert done(member_client) == [False] * len(STEPS)


def test_each_step_is_ticked_off_when_it_is_done(member_client: Client, workspace: Workspace) -> None:
    make_provider_account(workspace, sealed_credentials="sealed")
    make_target(workspace)
    make_published_version(workspace)

    assert done(member_client) == [True, True, True, False, False]


def test_a_draft_is_where_to_go_on(member_client: Client, workspace: Workspace) -> None:
    make_provider_account(workspace, sealed_credentials="sealed")
    make_target(workspace)
    draft = make_workflow(workspace)

    assert next_url(member_client) == f"/automation/workflows/{draft.pk}"


def test_a_campaign_that_was_not_started_is_the_last_step(
    member_client: Client, workspace: Workspace
) -> None:
    make_provider_account(workspace, sealed_credentials="sealed")
    make_target(workspace)
    campaign = make_campaign(workspace)

    assert next_url(member_client) == f"/automation/campaigns/{campaign.pk}"


def test_another_workspaces_work_ticks_nothing_off(member_client: Client, other_workspace: Workspace) -> None:
    make_provider_account(other_workspace, sealed_credentials="sealed")
    make_target(other_workspace)
    make_campaign(other_workspace)

    assert not any(done(member_client))


def test_somebody_is_shown_the_steps_they_may_take(seller: User, marketer: User) -> None:
    assert done(client_of(seller)) == []
    assert len(done(client_of(marketer))) == len(STEPS) - 1  # not the provider's account


@pytest.mark.parametrize("language", ["fa", "en"])
def test_the_start_page_is_for_every_role(
    owner: User, marketer: User, operator: User, seller: User, language: str
) -> None:
    pages = [client_of(user, language=language).get("/") for user in (owner, marketer, operator, seller)]

    assert [page.status_code for page in pages] == [200] * 4
