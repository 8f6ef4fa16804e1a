"""A new kind of action is one class and one line."""

from __future__ import annotations

import pytest

from automation import audit_events, definition_cache, publishing, registry
from automation.models import WorkflowNode, WorkflowVersion
from core import navigation
from engine.compile import ActionSpec
from engine.types import Port, Problem
from workspaces.audit import AUDIT_LABELS


@pytest.fixture
def greet():
    spec = ActionSpec(
        subtype="greet",
        ports=frozenset({Port.DEFAULT}),
        check=lambda config: (
            [] if config.get("to") else [Problem(code="config_value_invalid", fields={"key": "to"})]
        ),
        consumes_budget=lambda config: False,
        texts=lambda config: [],
    )
    registry.register_action(
        registry.ActionPlugin(spec=spec, label="Greet", icon="users", defaults=lambda: {"to": "all"})
    )
    yield spec
    registry.unregister_action("greet")


def test_a_new_action_is_offered_checked_and_compiled(workspace, owner, greet, english):
    workflow = publishing.create_workflow(name="w", template_key=None, user=owner)
    draft = WorkflowVersion.objects.get(workflow=workflow)
    start = draft.nodes.get(type="start")
    page = english.get(f"/automation/workflows/{workflow.pk}/builder").content.decode()
    assert "Greet" in page
    english.post(
        f"/automation/workflows/{workflow.pk}/builder/change",
        {"base": "1.0", "at": f"{start.node_key}.default.0", "do": "insert:greet"},
    )
    version = publishing.publish(workflow, user=owner)

    node = WorkflowNode.objects.get(version=version, subtype="greet")
    assert not node.consumes_budget
    assert definition_cache.compiled(version.pk).graph.first == node.node_key


def test_the_catalogue_of_variables_has_every_namespace():
    assert {variable.namespace for variable in registry.variables()} == {
        "target",
        "workspace",
        "campaign",
        "execution",
    }


def test_every_audit_event_has_a_label():
    keys = {value for name, value in vars(audit_events).items() if name.isupper() and isinstance(value, str)}

    assert keys == set(audit_events.LABELS)
    assert keys <= set(AUDIT_LABELS)


def test_the_menu_entry_needs_the_permission(rf, workspace):
    request = rf.get("/")
    request.workspace = workspace
    request.permissions = frozenset()
    assert "workflows" not in [link.key for group in navigation.groups_for(request) for link in group.links]
    request.permissions = frozenset({"automation.workflows.view"})
    assert "workflows" in [link.key for group in navigation.groups_for(request) for link in group.links]
