"""The follow-up step in the builder: the menu, its editor, its card, the file, the trial, publishing."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from automation import publishing
from automation.models import WorkflowVersion
from core.errors import Invalid
from engine.types import NodeSpec
from targets.models import Activity
from tests.automation.builder.conftest import base_of, chain, in_english, lists_of, url
from tests.clocks import MONDAY_MORNING
from tests.factories import make_target


@pytest.fixture
def step(workflow, change) -> NodeSpec:
    """A follow-up in front of everything else."""
    lists = lists_of(workflow)
    assert change(workflow, "insert:create_followup", at=f"{lists.start.key}.default.0").status_code == 200
    now = lists_of(workflow)
    return now.lists[now.root][0]


@pytest.fixture
def save(english, workflow, step):
    def post(**typed: str):
        fields = {
            "base": base_of(workflow), "name": "Call", "is_enabled": "on", "kind": "meeting",
            "title": "زنگ به {name}", "description": "از {city|شهر نامعلوم}", "amount": "۳", "unit": "hour",
        } | typed  # fmt: skip
        return english.post(url("step", workflow.pk, step.key), fields, headers={"HX-Request": "true"})

    return post


def stored(workflow, step) -> NodeSpec:
    return lists_of(workflow).find(step.key)[0]


def test_the_menu_offers_it_and_adds_it(workflow, step, english):
    assert 'value="insert:create_followup"' in english.get(url("builder", workflow.pk)).content.decode()
    assert (step.type, step.subtype) == ("action", "create_followup")


def test_its_editor_stores_every_field(workflow, step, save):
    assert save().status_code == 200
    assert stored(workflow, step).config == {
        "kind": "meeting", "title": "زنگ به {name}", "description": "از {city|شهر نامعلوم}",
        "due_in": {"amount": 3, "unit": "hour"},
    }  # fmt: skip


def test_zero_is_due_at_once_and_the_card_says_so(workflow, step, save, english):
    save(amount="0")
    assert "Meeting “" in (page := english.get(url("builder", workflow.pk)).content.decode())
    assert "due at once" in page


@pytest.mark.parametrize(
    ("typed", "status"), [({"amount": "9999999"}, 422), ({"kind": "party"}, 422), ({"title": ""}, 200)]
)
def test_what_cannot_be_stored_is_refused_at_its_field(save, typed, status):
    assert save(**typed).status_code == status


def test_without_a_title_or_with_a_variable_nobody_knows_it_is_not_published(workflow, step, owner, save):
    save(title="", description="{shoe}")
    with pytest.raises(Invalid) as refused:
        publishing.publish(workflow, user=owner)
    found = {p.code for p in refused.value.problems if p.node == step.key}
    assert found == {"followup_title_empty", "variable_unknown"}


def test_it_is_published_with_its_variables(workflow, step, owner, save):
    save()
    version = publishing.publish(workflow, user=owner)
    node = version.nodes.get(node_key=step.key)
    assert (node.subtype, node.consumes_budget) == ("create_followup", False)


def test_a_file_carries_it_to_another_workflow(workflow, step, save, owner, english):
    save()
    other = in_english(owner, None)
    content = json.dumps(english.get(url("export", workflow.pk)).json()).encode()
    file = SimpleUploadedFile("flow.json", content)
    english.post(url("read-in", other.pk), {"base": base_of(other), "file": file})
    assert chain(other) == chain(workflow)
    assert chain(other)[0] == "create_followup"


def test_a_trial_shows_what_would_be_recorded_and_stores_nothing(
    workflow, step, save, english, workspace, clock
):
    save()
    sara = make_target(workspace, name="سارا کریمی", mobile="09121112233")
    answer = english.get(url("trial", workflow.pk), {"person": sara.pk})
    row = next(row for row in answer.context["rows"] if row.line.code == "recorded")
    assert row.line.data == {
        "kind": "meeting", "title": "زنگ به سارا کریمی", "description": "از شهر نامعلوم",
    }  # fmt: skip
    assert row.line.until == MONDAY_MORNING + timedelta(hours=3)
    assert "زنگ به سارا کریمی" in answer.content.decode()
    assert not Activity.objects.exists()


def test_versions_show_the_changed_title(workflow, step, save, owner, english):
    save()
    publishing.publish(workflow, user=owner)
    publishing.new_draft(workflow, owner)
    save(title="دیدار با {name}")
    draft = WorkflowVersion.objects.get(workflow=workflow, status="draft")
    page = english.get(url("version", workflow.pk, draft.version_number)).content.decode()
    assert "دیدار" in page
