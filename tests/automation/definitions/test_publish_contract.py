"""What publishing would mean: who stands where, who keeps which version, which texts differ."""

from __future__ import annotations

import pytest
from django.urls import reverse

from automation import publishing
from automation.models import Workflow, WorkflowExecution, WorkflowNode, WorkflowVersion
from automation.publish_contract import Contract, Fate, StepChange, contract_of
from campaigns.models import Campaign
from core.tenancy import workspace_scope
from tests.factories import make_campaign, make_execution

pytestmark = pytest.mark.django_db


@pytest.fixture
def published(workflow: Workflow, draft: WorkflowVersion, owner) -> WorkflowVersion:
    return publishing.publish(workflow, user=owner)


@pytest.fixture
def next_draft(workflow: Workflow, published: WorkflowVersion, owner) -> WorkflowVersion:
    return publishing.new_draft(publishing.locked(workflow), owner)


def messages(version: WorkflowVersion) -> list[WorkflowNode]:
    return list(WorkflowNode.objects.filter(version=version, subtype="send_sms").order_by("pk"))


def contract(workflow: Workflow, draft: WorkflowVersion) -> Contract:
    fresh = Workflow.objects.select_related("published_version").get(pk=workflow.pk)
    return contract_of(fresh, draft, "Asia/Tehran")


def at(workspace, campaign: Campaign, node: WorkflowNode, count: int, **fields: object) -> None:
    for _ in range(count):
        make_execution(workspace, campaign=campaign, current_node=node, **fields)


def test_a_first_publication_concerns_nobody(workflow, draft):
    found = contract(workflow, draft)
    assert (found.replaces, found.people, found.campaigns, found.texts) == (None, 0, (), ())


def test_a_list_campaign_keeps_its_version_and_its_people_their_steps(
    workspace, workflow, published, next_draft
):
    campaign = make_campaign(workspace, workflow_version=published, status="active")
    first, second = messages(published)[:2]
    at(workspace, campaign, first, 2)
    at(workspace, campaign, second, 1, status="waiting")
    at(workspace, campaign, second, 5, status="completed")
    found = contract(workflow, next_draft)
    (line,) = found.campaigns
    assert (line.fate, line.version_number, line.people, found.keeping) == (Fate.PINNED, 1, 3, 1)
    assert [(step.node_key, step.people) for step in line.steps] == [
        (first.node_key, 2), (second.node_key, 1),
    ]  # fmt: skip


def test_a_journey_s_people_finish_the_version_they_entered_with(workspace, workflow, published, next_draft):
    Workflow.objects.filter(pk=workflow.pk).update(kind="journey")
    campaign = make_campaign(workspace, workflow_version=published, status="active", kind="journey")
    at(workspace, campaign, messages(published)[0], 2)
    found = contract(workflow, next_draft)
    assert found.is_journey
    assert [(line.fate, line.version_number, line.people) for line in found.campaigns] == [
        (Fate.FINISH, 1, 2)
    ]
    assert found.keeping == 0


def test_people_of_several_versions_of_one_journey_are_told_apart(
    workspace, workflow, published, next_draft, owner
):
    Workflow.objects.filter(pk=workflow.pk).update(kind="journey")
    campaign = make_campaign(workspace, workflow_version=published, status="active", kind="journey")
    at(workspace, campaign, messages(published)[0], 1)
    second = publishing.publish(workflow, user=owner)
    Campaign.objects.filter(pk=campaign.pk).update(workflow_version=second)
    at(workspace, campaign, messages(second)[0], 2, workflow_version=second)
    third = publishing.new_draft(publishing.locked(workflow), owner)
    assert [(line.version_number, line.people) for line in contract(workflow, third).campaigns] == [
        (1, 1), (2, 2),
    ]  # fmt: skip


def test_a_step_says_what_the_new_version_has_in_its_place(workspace, workflow, published, next_draft):
    campaign = make_campaign(workspace, workflow_version=published, status="active")
    first, second, third = messages(published)
    for node in (first, second, third):
        at(workspace, campaign, node, 1)
    changed, gone, _same = messages(next_draft)
    changed.config = changed.config | {"body": "متن تازه"}
    changed.save()
    gone.edges_in.all().delete()
    gone.edges_out.all().delete()
    gone.delete()
    (line,) = contract(workflow, next_draft).campaigns
    assert [step.change for step in line.steps] == [StepChange.CHANGED, StepChange.REMOVED, StepChange.SAME]


def test_texts_that_differ_stand_side_by_side(workflow, published, next_draft):
    node = messages(next_draft)[1]
    old = node.config["body"]
    node.config = node.config | {"body": "متن تازه"}
    node.save()
    (text,) = contract(workflow, next_draft).texts
    assert (text.node_key, text.old, text.new) == (node.node_key, old, "متن تازه")


@pytest.mark.parametrize(
    ("status", "is_listed"),
    [("draft", True), ("active", True), ("paused", True), ("completed", False), ("cancelled", False)],
)
def test_a_campaign_without_people_is_listed_while_it_may_run(
    workspace, workflow, published, next_draft, status, is_listed
):
    make_campaign(workspace, workflow_version=published, status=status)
    assert bool(contract(workflow, next_draft).campaigns) is is_listed


def test_somebody_stopped_by_the_blacklist_may_come_back_and_is_counted(
    workspace, workflow, published, next_draft
):
    campaign = make_campaign(workspace, workflow_version=published, status="active")
    at(workspace, campaign, messages(published)[0], 1, status="blacklisted")
    assert contract(workflow, next_draft).people == 1


def test_another_workspace_s_people_are_not_counted(
    workspace, other_workspace, workflow, published, next_draft
):
    with workspace_scope(other_workspace.pk):
        make_execution(other_workspace)
    assert contract(workflow, next_draft).people == 0


def test_it_costs_the_same_for_many_campaigns_people_and_steps(
    workspace, workflow, published, next_draft, django_assert_max_num_queries
):
    for _ in range(4):
        campaign = make_campaign(workspace, workflow_version=published, status="active")
        for node in messages(published):
            at(workspace, campaign, node, 2)
    fresh = Workflow.objects.select_related("published_version").get(pk=workflow.pk)
    with django_assert_max_num_queries(7):
        found = contract_of(fresh, next_draft, "Asia/Tehran")
    assert found.people == 24


def test_publishing_moves_nobody(workspace, workflow, published, next_draft, owner):
    campaign = make_campaign(workspace, workflow_version=published, status="active")
    at(workspace, campaign, messages(published)[0], 2)
    before = list(WorkflowExecution.objects.order_by("pk").values())
    publishing.publish(workflow, user=owner)
    assert list(WorkflowExecution.objects.order_by("pk").values()) == before


# -- the page ---------------------------------------------------------------------------------------


def page(client, workflow: Workflow):
    return client.get(reverse("automation:publish-plan", args=[workflow.pk]))


def test_the_page_says_who_is_where_and_what_happens(workspace, workflow, published, next_draft, english):
    campaign = make_campaign(workspace, workflow_version=published, status="active", name="Autumn")
    at(workspace, campaign, messages(published)[0], 2)
    text = page(english, workflow).content.decode()
    assert "Autumn" in text
    assert "2 people are on their way and stay on the version they began." in text
    assert "Stays on version 1, with everybody who is added." in text


def test_the_page_is_in_persian_too(workspace, workflow, published, next_draft, member_client):
    campaign = make_campaign(workspace, workflow_version=published, status="active")
    at(workspace, campaign, messages(published)[0], 2)
    text = page(member_client, workflow).content.decode()
    assert "۲ نفر در راه هستند و روی همان نسخه‌ای می‌مانند که آغاز کرده‌اند." in text


def test_the_page_publishes(workflow, published, next_draft, english):
    assert reverse("automation:publish", args=[workflow.pk]) in page(english, workflow).content.decode()


def test_who_may_not_publish_sees_the_page_without_the_button(
    workflow, published, next_draft, operator, client_of
):
    text = page(client_of(operator, language="en"), workflow).content.decode()
    assert f'action="{reverse("automation:publish", args=[workflow.pk])}"' not in text


def test_without_a_draft_there_is_no_page(workflow, published, english):
    assert page(english, workflow).status_code == 404


def test_a_broken_draft_shows_its_problems_instead_of_the_button(workflow, published, next_draft, english):
    node = messages(next_draft)[0]
    node.config = node.config | {"body": " "}
    node.save()
    text = page(english, workflow).content.decode()
    assert "The text of the message is empty." in text
    assert f'action="{reverse("automation:publish", args=[workflow.pk])}"' not in text


def test_the_question_before_publishing_tells_it_in_short(
    workspace, workflow, published, next_draft, english
):
    campaign = make_campaign(workspace, workflow_version=published, status="active")
    at(workspace, campaign, messages(published)[0], 3)
    text = english.get(reverse("automation:detail", args=[workflow.pk])).content.decode()
    assert "3 people are on their way and stay on the version they began." in text
