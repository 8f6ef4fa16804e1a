"""Versions at work: people finish the one they began, and what is put away takes nobody with it."""

from __future__ import annotations

import pytest

from automation import control, publishing
from automation.control_moves import Operation
from automation.models import Workflow, WorkflowNode, WorkflowVersion
from campaigns import actions as campaign_actions
from campaigns.models import Campaign
from core import clock as product_clock
from core.errors import Refused
from core.tenancy import current_workspace_id
from tests.campaigns import builders
from tests.clocks import MovableClock
from tests.engine.building import end, wait, wait_for
from tests.graphs import GraphScenario, message
from tests.scenario import assert_conserved
from workspaces.models import User, Workspace

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _ready(workspace: Workspace, clock: MovableClock) -> None:
    """Every test has a workspace and a clock that stands still."""


def two_messages() -> GraphScenario:
    return GraphScenario(
        message("one"), wait("w", 1, "day"), message("two"), end("e"),
        edges=["start -> one", "one -> w", "w -> two", "two -> e"], kind="list",
    )  # fmt: skip


def publish_next(workflow: Workflow, owner: User, **bodies: str) -> WorkflowVersion:
    """A new version from the published one, with other texts at the steps named."""
    draft = publishing.new_draft(workflow, owner)
    for key, body in bodies.items():
        node = WorkflowNode.objects.get(version=draft, node_key=key)
        node.config = node.config | {"body": body}
        node.save()
    return publishing.publish(workflow, user=owner, note="متن‌ها عوض شد")


def same_campaign_on(scenario: GraphScenario, version: WorkflowVersion) -> Campaign:
    """A campaign made now, which gets the version published now."""
    return Campaign.objects.create(
        workspace_id=current_workspace_id(), name="بعدی", workflow=version.workflow, workflow_version=version,
        status="active",
    )  # fmt: skip


def test_people_on_their_way_get_the_texts_of_the_version_they_began(owner: User, clock: MovableClock):
    scenario = two_messages()
    scenario.settle()
    publish_next(scenario.version.workflow, owner, one="یک تازه", two="دو تازه")
    scenario.run_to_end(clock)
    assert scenario.texts() == ["one", "two"]
    assert scenario.row().workflow_version_id == scenario.version.pk


def test_people_added_to_a_list_campaign_later_get_its_version_too(owner: User, clock: MovableClock):
    scenario = two_messages()
    publish_next(scenario.version.workflow, owner, one="یک تازه")
    scenario.targets += scenario.enrol(1)
    scenario.run_to_end(clock)
    assert set(scenario.texts()) == {"one", "two"}


def test_a_campaign_made_afterwards_gets_the_new_version(owner: User, clock: MovableClock):
    scenario = two_messages()
    second = publish_next(scenario.version.workflow, owner, one="یک تازه")
    scenario.campaign = same_campaign_on(scenario, second)
    scenario.version = second
    scenario.targets = scenario.enrol(1)
    scenario.settle()
    assert set(scenario.texts()) == {"one", "یک تازه"}
    assert_conserved()


def test_a_restart_stays_on_the_version_of_the_person(owner: User, clock: MovableClock):
    scenario = two_messages()
    scenario.run_to_end(clock)
    publish_next(scenario.version.workflow, owner, one="یک تازه")
    control.change(scenario.row().pk, Operation.RESTART, user=owner)
    scenario.run_to_end(clock)
    assert scenario.texts() == ["one", "two", "one", "two"]
    assert (scenario.row().cycle, scenario.row().workflow_version_id) == (2, scenario.version.pk)


def test_a_step_tried_again_by_hand_stays_on_the_version_of_the_person(owner: User, clock: MovableClock):
    scenario = two_messages()
    scenario.settle()
    row = scenario.row()
    type(row).objects.filter(pk=row.pk).update(
        status="failed", active_key=None, completed_at=clock.at, next_run_at=None
    )
    publish_next(scenario.version.workflow, owner, two="دو تازه")
    control.change(row.pk, Operation.RETRY_STEP, user=owner)
    assert scenario.row().current_node.version_id == scenario.version.pk


def test_somebody_in_an_event_wait_finishes_a_version_that_has_no_such_step_any_more(
    owner: User, clock: MovableClock
):
    scenario = GraphScenario(
        wait_for("e", amount=1, unit="day"), message("a"), edges=["start -> e", "e -> a"]
    )
    scenario.settle()
    draft = publishing.new_draft(scenario.version.workflow, owner)
    node = WorkflowNode.objects.get(version=draft, node_key="e")
    after = node.edges_out.get().to_node
    node.edges_out.all().delete()
    node.edges_in.update(to_node=after)
    node.delete()
    publishing.publish(scenario.version.workflow, user=owner)
    scenario.run_to_end(clock)
    assert scenario.texts() == ["a"]


def test_a_note_says_what_changed_and_the_version_before_is_replaced(owner: User):
    scenario = two_messages()
    second = publish_next(scenario.version.workflow, owner, one="یک تازه")
    first = WorkflowVersion.objects.get(pk=scenario.version.pk)
    assert (second.version_number, second.note, second.status) == (2, "متن‌ها عوض شد", "published")
    assert first.status == "superseded"


def test_a_draft_of_the_published_version_keeps_keys_settings_and_connections(owner: User):
    scenario = two_messages()
    draft = publishing.new_draft(scenario.version.workflow, owner)
    before, after = publishing.load_definition(scenario.version), publishing.load_definition(draft)
    assert before == after


# -- archive ----------------------------------------------------------------------------------------


def archived(owner: User) -> Workflow:
    workflow = builders.workflow(user=owner)
    publishing.archive(workflow, user=owner)
    return workflow


def test_a_workflow_that_people_are_inside_of_is_not_put_away(owner: User):
    scenario = two_messages()
    scenario.settle()
    with pytest.raises(Refused) as caught:
        publishing.archive(scenario.version.workflow, user=owner)
    assert caught.value.code == "workflow_in_use"


def test_an_archived_workflow_gets_no_draft(owner: User):
    with pytest.raises(Refused) as caught:
        publishing.new_draft(archived(owner), owner)
    assert caught.value.code == "workflow_archived"


def test_a_draft_of_an_archived_workflow_is_not_published(owner: User):
    workflow = builders.workflow(user=owner)
    publishing.new_draft(workflow, owner)
    publishing.archive(workflow, user=owner)
    with pytest.raises(Refused) as caught:
        publishing.publish(workflow, user=owner)
    assert caught.value.code == "workflow_archived"


def test_an_archived_workflow_gets_no_campaign(owner: User):
    workflow = archived(owner)
    with pytest.raises(Refused):
        builders.draft(workflow, user=owner)


def test_a_campaign_that_was_prepared_before_is_not_started(owner: User):
    workflow = builders.workflow(user=owner)
    campaign = builders.draft(workflow, user=owner)
    builders.channel()
    publishing.archive(workflow, user=owner)
    with pytest.raises(Refused) as caught:
        campaign_actions.activate(campaign.pk, user=owner)
    assert caught.value.code == "workflow_archived"


def test_what_was_put_away_comes_back_with_everything(owner: User):
    workflow = archived(owner)
    publishing.restore(workflow, user=owner)
    workflow.refresh_from_db()
    assert workflow.status == "active"
    draft = publishing.new_draft(workflow, owner)
    assert draft.version_number == 2
    assert publishing.publish(workflow, user=owner).published_at == product_clock.now()
