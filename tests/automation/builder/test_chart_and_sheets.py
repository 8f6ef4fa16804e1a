"""The fragments around the list: sheet, menu, numbers; names in the reader's language; own templates."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils import translation

from automation import naming, own_templates, publishing
from automation.builder import drafts
from automation.builder.claiming import Base
from automation.builder.kinds import kinds
from automation.models import Workflow, WorkflowNode, WorkflowVersion
from engine.types import Definition, EdgeSpec, NodeSpec, Profile
from tests.automation.builder.conftest import base_of, keys, url
from tests.factories import make_campaign, make_execution, make_execution_event
from workspaces.models import AuditRecord, User

pytestmark = pytest.mark.django_db


# The sheet and the menu


def test_the_sheet_holds_the_form_of_the_step(english: Client, workflow: Workflow):
    page = english.get(url("step-sheet", workflow.pk, keys(workflow)[0])).content.decode()

    assert "<html" not in page
    assert 'id="step-form"' in page
    assert f'value="{base_of(workflow)}"' in page


def test_the_menu_offers_what_can_be_done_with_the_step(english: Client, journey: Workflow, change):
    start = publishing.load_definition(WorkflowVersion.objects.get(workflow=journey)).nodes[0].key
    change(journey, "insert:condition", at=f"{start}.default.0")
    page = english.get(url("step-menu", journey.pk, keys(journey)[0])).content.decode()

    assert "Copy to…" in page
    assert "Remove, keep “yes”" in page
    assert english.get(url("step-menu", journey.pk, start)).status_code == 404


def test_the_page_of_a_step_offers_the_same_without_scripts(english: Client, workflow: Workflow):
    key = keys(workflow)[0]
    page = english.get(url("step", workflow.pk, key)).content.decode()
    assert f'value="copy:{key}"' in page

    answer = english.post(url("change", workflow.pk), {"base": base_of(workflow), "do": f"copy:{key}"})
    assert answer.headers["Location"] == url("builder", workflow.pk)
    assert len(keys(workflow)) == 7


def test_the_list_costs_the_same_for_few_and_many_steps(
    english: Client, workflow: Workflow, owner: User, django_assert_max_num_queries
):
    with django_assert_max_num_queries(20) as few:
        english.get(url("builder", workflow.pk))
    for _number in range(10):
        draft = WorkflowVersion.objects.get(workflow=workflow, status="draft")
        drafts.copy_step(workflow, keys(workflow)[0], base=Base.of(draft), user=owner)
    with django_assert_max_num_queries(len(few.captured_queries)):
        english.get(url("builder", workflow.pk))


# The numbers


@pytest.fixture
def walked(workspace, workflow: Workflow, owner: User) -> WorkflowVersion:
    """Three people: one waits at the wait, one failed and one is held at the first message."""
    version = publishing.publish(workflow, user=owner)
    send, wait = version.nodes.order_by("pk")[1:3]
    campaign = make_campaign(workspace, workflow=workflow, workflow_version=version, name="Autumn")
    for node, status in ((wait, "waiting"), (send, "failed"), (send, "paused")):
        walk = make_execution(
            workspace, campaign=campaign, workflow_version=version, current_node=node, status=status
        )
        for entered in (send, wait) if node == wait else (send,):
            make_execution_event(
                workspace, execution=walk, campaign=campaign, node=entered, type="node_entered"
            )
    return version


def row(page: str, key: str) -> str:
    return page.split(f'data-numbers="{key}"')[1].split("</tr>")[0]


def number(page: str, key: str, name: str) -> str:
    return row(page, key).split(f'data-n="{name}"')[1].split("</td>")[0].split(">")[-1]


def test_every_step_says_who_came_waits_went_on_failed_and_is_held(
    english: Client, walked: WorkflowVersion, workflow: Workflow, django_assert_max_num_queries
):
    campaign = walked.campaigns.get()
    with django_assert_max_num_queries(20):
        page = english.get(url("numbers", workflow.pk), {"of": f"c{campaign.pk}"}).content.decode()
    send, wait = (node.node_key for node in walked.nodes.order_by("pk")[1:3])
    names = ("entered", "waiting", "left", "failed", "held", "suppressed")

    assert [number(page, send, name) for name in names] == ["3", "0", "1", "1", "1", "0"]
    assert [number(page, wait, name) for name in names] == ["1", "1", "0", "0", "0", "0"]


def test_all_campaigns_of_a_version_are_summed(workspace, english, walked, workflow):
    make_campaign(workspace, workflow=workflow, workflow_version=walked, name="Winter")
    page = english.get(url("version", workflow.pk, 1)).content.decode()
    assert "All campaigns of version 1" in page
    publishing.new_draft(workflow, None)
    page = english.get(url("version", workflow.pk, 2)).content.decode()
    assert ("Winter" in page, "All campaigns of version 1" in page) == (False, False)

    page = english.get(url("numbers", workflow.pk), {"of": "v1"}).content.decode()
    assert number(page, walked.nodes.order_by("pk")[1].node_key, "entered") == "3"


@pytest.mark.parametrize("of", ["c999", "v9", "x1", "c", "c²"])
def test_numbers_of_nothing_are_not_found(english: Client, walked, workflow, of):
    assert english.get(url("numbers", workflow.pk), {"of": of}).status_code == 404


# Names


@pytest.mark.parametrize("profile", list(Profile))
def test_every_kind_of_step_is_stored_under_a_name_that_counts_as_unnamed(profile):
    for kind in kinds(profile):
        node = kind.node("n_1")
        assert naming.is_default(node), kind.key
        with translation.override("fa"):
            assert naming.step_label(node) == str(kind.label)


def test_an_unnamed_step_is_read_in_the_language_of_the_reader(workflow: Workflow, owner: User, client_of):
    page = client_of(owner, language="fa").get(url("builder", workflow.pk)).content.decode()

    assert ">انتظار</a>" in page
    assert ">Introduction</a>" in page


# What a list cannot draw


def test_a_graph_with_a_failure_path_shows_the_reason_and_where_it_leads(
    english: Client, workflow: Workflow, owner: User
):
    definition = publishing.load_definition(WorkflowVersion.objects.get(workflow=workflow))
    send, end = (
        definition.nodes[1],
        NodeSpec(key="n_x", type="end", subtype="stop", config={"behavior": "stop"}),
    )
    changed = Definition(
        nodes=(*definition.nodes, end),
        edges=(*definition.edges, EdgeSpec(source=send.key, port="failure", target="n_x")),
        settings=definition.settings,
    )
    draft = WorkflowVersion.objects.get(workflow=workflow)
    drafts.replace_definition(workflow, base=Base.of(draft), definition=changed, user=owner, source="x")
    page = english.get(url("builder", workflow.pk)).content.decode()

    assert "This workflow can only be looked at here." in page
    assert "failure: “Stop”" in page or "“Stop”" in page
    assert 'class="insert"' not in page


# Own templates


def test_a_version_becomes_a_template_and_a_template_a_workflow(english: Client, workflow: Workflow):
    english.post(url("save-template", workflow.pk, 1), {"name": "Ours", "description": "For new people"})
    page = english.get(url("create")).content.decode()
    assert ("Ours" in page, "For new people" in page) == (True, True)

    template = own_templates.all_templates().get()
    english.post(url("create"), {"name": "Second", "template": own_templates.key_of(template)})
    second = Workflow.objects.get(name="Second")
    assert len(keys(second)) == len(keys(workflow))
    assert not set(keys(second)) & set(keys(workflow))


def test_a_removed_template_is_not_offered(english: Client, workflow: Workflow):
    english.post(url("save-template", workflow.pk, 1), {"name": "Ours"})
    template = own_templates.all_templates().get()
    english.post(url("remove-template", template.pk))

    assert "Ours" not in english.get(url("create")).content.decode()
    typed = {"name": "Third", "template": own_templates.key_of(template)}
    assert english.post(url("create"), typed).status_code == 422


def test_a_template_needs_a_name(english: Client, workflow: Workflow):
    page = english.post(url("save-template", workflow.pk, 1), {"name": " "}, follow=True).content.decode()

    assert "Give the template a name." in page


def test_a_template_of_an_unfinished_draft_says_what_it_lacks(english: Client, workflow: Workflow):
    WorkflowNode.objects.filter(version__workflow=workflow, subtype="send_sms").update(config={})
    page = english.get(url("version", workflow.pk, 1)).content.decode()
    saved = english.post(url("save-template", workflow.pk, 1), {"name": "Ours"}, follow=True).content.decode()

    assert "the template will have them too" in page
    assert "so has every workflow that begins with this template" in saved


# Versions and changes


def test_the_old_and_the_new_text_stand_side_by_side_with_words_for_what_differs(
    english: Client, workflow: Workflow, owner: User, change
):
    publishing.publish(workflow, user=owner)
    publishing.new_draft(workflow, owner)
    key = keys(workflow)[0]
    english.post(
        url("step", workflow.pk, key),
        {"base": base_of(workflow), "name": "Introduction", "body": "تازه", "on_missing_variable": "skip",
         "retry_strategy": "fixed", "retry_on_exhausted": "fail", "is_enabled": "on"},
    )  # fmt: skip
    page = english.get(url("version", workflow.pk, 2)).content.decode()

    assert 'class="side-by-side"' in page
    assert '<ins><span class="visually-hidden">added:</span>' in page
    assert '<del><span class="visually-hidden">removed:</span>' in page


def test_the_changes_of_a_workflow_say_conditions_in_words(
    english: Client, journey: Workflow, owner: User, change
):
    start = publishing.load_definition(WorkflowVersion.objects.get(workflow=journey)).nodes[0].key
    change(journey, "insert:condition", at=f"{start}.default.0")
    key = keys(journey)[0]
    posted = {
        "c.n": "1",
        "c.op": "and",
        "c.0.field": "target.city",
        "c.0.operator": "=",
        "c.0.value": "Tehran",
    }
    english.post(
        url("step", journey.pk, key), posted | {"base": base_of(journey), "name": "", "is_enabled": "on"}
    )
    page = english.get(url("history", journey.pk)).content.decode()

    assert AuditRecord.objects.filter(event="workflow.step_changed").exists()
    assert "City is" in page
    assert "children" not in page
