"""A new way into a journey is one class and one line; a campaign begins by hand only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from automation import publishing, registry
from automation.checking import check, compile_registered
from automation.models import Workflow, WorkflowVersion
from engine.types import NodeSpec, Problem
from tests.engine.building import goal, graph_of, split
from tests.graphs import message

pytestmark = pytest.mark.django_db


def _check(config: Mapping[str, Any]) -> list[Problem]:
    return [] if config.get("list") else [Problem(code="config_value_invalid", fields={"key": "list"})]


@pytest.fixture
def joined() -> Iterator[registry.TriggerPlugin]:
    plugin = registry.TriggerPlugin(subtype="joined_list", label="Joined a list", check=_check)
    registry.register_trigger(plugin)
    yield plugin
    registry.unregister_trigger("joined_list")


def begun_by(**config: Any) -> list[NodeSpec]:
    start = NodeSpec(key="start", type="start", subtype="joined_list", config=config)
    return [start, message("a")]


def test_a_registered_trigger_is_offered_and_begins_a_journey(joined):
    assert registry.triggers() == (joined,)
    definition = graph_of(begun_by(list=5), "start -> a")
    graph = compile_registered(definition, "journey").graph
    assert graph is not None
    assert graph.first == "a"


def test_the_config_of_a_trigger_is_checked_and_the_start_is_named(workspace, joined):
    report = check(graph_of(begun_by(), "start -> a"), "journey")
    assert [(finding.node, finding.code) for finding in report.problems] == [
        ("start", "config_value_invalid")
    ]


def test_a_trigger_may_pause_before_the_first_step(joined):
    definition = graph_of(begun_by(list=5, initial_delay={"amount": 1, "unit": "hour"}), "start -> a")
    graph = compile_registered(definition, "journey").graph
    assert graph is not None
    assert graph.initial_delay is not None


def test_a_campaign_begins_by_hand_only(workspace, joined):
    report = check(graph_of(begun_by(list=5), "start -> a"), "list")
    assert ("start", "node_subtype_unknown") in [(found.node, found.code) for found in report.problems]


def test_a_trigger_that_nobody_offers_is_refused(workspace):
    report = check(graph_of(begun_by(list=5), "start -> a"), "journey")
    assert ("start", "node_subtype_unknown") in [(found.node, found.code) for found in report.problems]


# -- the kind of the workflow decides ---------------------------------------------------------------


def stored(workspace, kind: str) -> tuple[Workflow, WorkflowVersion]:
    workflow = Workflow.objects.create(workspace=workspace, name="w", kind=kind)
    draft = WorkflowVersion.objects.create(workspace=workspace, workflow=workflow, version_number=1)
    start = NodeSpec(key="start", type="start", subtype="manual")
    definition = graph_of(
        [start, split("s", 1, 1), message("a"), goal("g")], "start -> s", "s.branch_1 -> a", "a -> g"
    )
    publishing.store(draft, definition)
    return workflow, draft


def test_a_journey_is_published_with_the_steps_of_journeys(workspace, owner):
    workflow, draft = stored(workspace, "journey")
    assert publishing.publish(workflow, user=owner).pk == draft.pk


def test_the_same_draft_of_a_campaign_workflow_is_refused_step_by_step(workspace, owner):
    workflow, draft = stored(workspace, "list")
    report = check(publishing.load_definition(draft), workflow.kind)
    refused = {found.node for found in report.problems if found.code == "kind_only_in_journeys"}
    assert refused == {"s", "g"}
