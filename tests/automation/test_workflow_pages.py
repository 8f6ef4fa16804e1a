"""The workflow pages: list, create, detail, versions, publish, archive."""

from __future__ import annotations

import pytest
from django.urls import reverse

from automation import publishing
from automation.models import Workflow, WorkflowEdge, WorkflowNode, WorkflowVersion
from campaigns.models import Campaign

pytestmark = pytest.mark.django_db


def url(name: str, *args: object) -> str:
    return reverse(f"automation:{name}", args=args)


@pytest.fixture
def workflow(workspace, owner) -> Workflow:
    return publishing.create_workflow(
        name="آشنایی با مشتری", template_key="three_step_introduction", user=owner
    )


@pytest.fixture
def published(workflow, owner) -> Workflow:
    publishing.publish(workflow, user=owner, note="نسخهٔ آغاز")
    workflow.refresh_from_db()
    return workflow


@pytest.fixture
def english(owner, client_of):
    return client_of(owner, language="en")


def add_campaign(workflow: Workflow, *, status: str = "active", name: str = "پاییز") -> Campaign:
    assert workflow.published_version is not None
    return Campaign.objects.create(
        workspace_id=workflow.workspace_id,
        name=name,
        workflow=workflow,
        workflow_version=workflow.published_version,
        status=status,
    )


def draft_of(workflow: Workflow) -> WorkflowVersion:
    return WorkflowVersion.objects.get(workflow=workflow, status="draft")


# The list


def test_the_list_shows_status_version_and_running_campaigns(published, owner, english):
    publishing.create_workflow(name="Second one", template_key=None, user=owner)
    add_campaign(published)
    add_campaign(published, status="completed")

    page = english.get(url("list")).content.decode()

    assert "آشنایی با مشتری" in page
    assert "Second one" in page
    assert 'badge-success">Published' in page
    assert 'badge-muted">Draft' in page
    assert '<td class="num" data-label="Running campaigns">1</td>' in page
    assert url("create") in page


def test_the_list_is_filtered_by_status_and_category(published, owner, english):
    publishing.create_workflow(name="Mail one", template_key=None, user=owner, category="mail")

    assert "Mail one" not in english.get(url("list"), {"status": "active"}).content.decode()
    assert "Mail one" in english.get(url("list"), {"category": "mail"}).content.decode()
    assert published.name not in english.get(url("list"), {"category": "mail"}).content.decode()


def test_an_archived_workflow_is_listed_only_when_asked_for(published, owner, english):
    publishing.archive(published, user=owner)

    assert published.name not in english.get(url("list")).content.decode()
    assert published.name in english.get(url("list"), {"status": "archived"}).content.decode()


def test_an_unknown_filter_word_filters_nothing(published, english):
    assert published.name in english.get(url("list"), {"status": "nonsense"}).content.decode()


def test_the_empty_list_offers_a_template(english):
    page = english.get(url("list")).content.decode()

    assert "Create from a template" in page


def test_the_list_costs_the_same_for_one_and_for_many(
    published, owner, english, django_assert_max_num_queries
):
    add_campaign(published)
    with django_assert_max_num_queries(12) as few:
        english.get(url("list"))
    for number in range(12):
        other = publishing.create_workflow(name=f"w{number}", template_key="single_message", user=owner)
        publishing.publish(other, user=owner)
        other.refresh_from_db()
        add_campaign(other)
    with django_assert_max_num_queries(len(few.captured_queries)):
        english.get(url("list"))


def test_the_navigation_leads_to_the_list(english):
    assert f'href="{url("list")}"' in english.get(url("list")).content.decode()


# Creating


def test_choosing_a_template_leads_to_the_builder_with_its_steps(english):
    answer = english.post(url("create"), {"name": "New", "template": "three_step_introduction"})
    workflow = Workflow.objects.get()

    assert answer.headers["Location"] == url("builder", workflow.pk)
    assert draft_of(workflow).nodes.filter(subtype="send_sms").count() == 3


def test_choosing_no_template_leads_to_start_and_end_only(english):
    english.post(url("create"), {"name": "New", "template": ""})

    assert list(draft_of(Workflow.objects.get()).nodes.order_by("id").values_list("type", flat=True)) == [
        "start",
        "end",
    ]


@pytest.mark.parametrize(
    "typed", [{"name": ""}, {"name": "x" * 121}, {"name": "x", "template": "nope"}, {"name": "\u200f"}]
)
def test_wrong_input_is_shown_again(english, typed):
    answer = english.post(url("create"), {"template": ""} | typed)

    assert answer.status_code == 422
    assert Workflow.objects.count() == 0


def test_all_three_templates_are_offered(english):
    page = english.get(url("create")).content.decode()

    assert [name in page for name in ("Three-step introduction", "Welcome and reminder", "One message")] == [
        True
    ] * 3


# One workflow


def test_the_page_shows_versions_with_their_notes_steps_and_campaigns(published, english):
    add_campaign(published, name="کمپین پاییز")
    page = english.get(url("detail", published.pk)).content.decode()

    assert "نسخهٔ آغاز" in page
    assert "کمپین پاییز" in page
    assert "30 days" in page
    assert "Steps of version 1 (published)" in page


def test_a_draft_with_problems_lists_them_and_links_to_the_step(workflow, english):
    node = WorkflowNode.objects.filter(version=draft_of(workflow), subtype="send_sms").first()
    node.config = node.config | {"body": ""}
    node.save()

    page = english.get(url("detail", workflow.pk)).content.decode()

    assert "The text of the message is empty." in page
    assert f'href="{url("step", workflow.pk, node.node_key)}"' in page
    assert "disabled" in page


def test_publishing_publishes(workflow, english):
    answer = english.post(url("publish", workflow.pk), {"note": "first"})

    workflow.refresh_from_db()
    assert answer.status_code == 302
    assert workflow.published_version.note == "first"


def test_publishing_a_broken_draft_is_refused_with_its_problems(workflow, english):
    WorkflowNode.objects.filter(version=draft_of(workflow), subtype="send_sms").update(config={"body": ""})

    answer = english.post(url("publish", workflow.pk))

    assert answer.status_code == 422
    assert answer.content.decode().count("The text of the message is empty.") >= 3
    workflow.refresh_from_db()
    assert workflow.published_version is None


def test_publishing_twice_says_that_there_is_no_draft(published, english):
    answer = english.post(url("publish", published.pk))

    assert answer.status_code == 409
    assert "There is no draft to publish." in answer.content.decode()


def test_a_new_draft_opens_in_the_builder(published, english):
    answer = english.post(url("new-draft", published.pk))

    assert answer.headers["Location"] == url("builder", published.pk)
    assert draft_of(published).version_number == 2


def test_asking_for_a_draft_twice_opens_the_one_there_is(workflow, english):
    assert english.post(url("new-draft", workflow.pk)).status_code == 302
    assert workflow.versions.count() == 1


def test_archiving_is_refused_while_a_campaign_runs(published, english):
    add_campaign(published)
    answer = english.post(url("archive", published.pk))

    assert answer.status_code == 409
    assert "It is in use." in answer.content.decode()


def test_archive_and_back(published, english):
    assert english.post(url("archive", published.pk)).status_code == 302
    published.refresh_from_db()
    assert published.status == "archived"
    assert english.get(url("detail", published.pk)).status_code == 200

    english.post(url("restore", published.pk))
    published.refresh_from_db()
    assert published.status == "active"


def test_renaming(workflow, english):
    english.post(url("rename", workflow.pk), {"name": "Other name", "description": "why"})

    workflow.refresh_from_db()
    assert (workflow.name, workflow.description) == ("Other name", "why")


def test_renaming_to_nothing_is_refused(workflow, english):
    assert english.post(url("rename", workflow.pk), {"name": " "}).status_code == 422


def test_two_versions_are_compared_word_by_word(published, owner, english):
    draft = publishing.new_draft(published, owner)
    node = WorkflowNode.objects.filter(version=draft, subtype="send_sms").order_by("id").first()
    node.config = node.config | {"body": node.config["body"].replace("خوشحالیم", "خرسندیم")}
    node.save()

    page = english.get(url("version", published.pk, 2)).content.decode()

    assert "removed:</span>خوشحالیم.</del>" in page
    assert "added:</span>خرسندیم.</ins>" in page


def test_a_workflow_the_list_cannot_draw_shows_the_reason(published, owner, english):
    draft = publishing.new_draft(published, owner)
    sends = list(WorkflowNode.objects.filter(version=draft, subtype="send_sms").order_by("id"))
    end = WorkflowNode.objects.get(version=draft, type="end")
    WorkflowEdge.objects.create(
        workspace_id=draft.workspace_id, version=draft, from_node=sends[0], to_node=end, port="failure"
    )
    publishing.publish(published, user=owner)

    page = english.get(url("detail", published.pk)).content.decode()

    assert "The step list cannot show a path for failures." in page
    assert page.count('class="step-card') == 7


@pytest.mark.parametrize("size", [1, 8])
def test_the_page_costs_the_same_whatever_the_size(
    workspace, owner, english, django_assert_max_num_queries, size
):
    workflow = publishing.create_workflow(name="w", template_key="three_step_introduction", user=owner)
    for _number in range(size):
        publishing.publish(workflow, user=owner)
        workflow.refresh_from_db()
        add_campaign(workflow)
        publishing.new_draft(workflow, owner)
    with django_assert_max_num_queries(18):
        english.get(url("detail", workflow.pk))


# Who may


PAGES = ("detail", "rename", "builder", "settings")
POSTS = ("new-draft", "publish", "archive", "restore", "change")


@pytest.mark.parametrize("name", PAGES)
def test_another_workspaces_workflow_is_not_found(workflow, stranger, client_of, name):
    assert client_of(stranger).get(url(name, workflow.pk)).status_code == 404


@pytest.mark.parametrize("name", POSTS)
def test_another_workspaces_workflow_is_not_changed(workflow, stranger, client_of, name):
    assert client_of(stranger).post(url(name, workflow.pk)).status_code == 404


def test_a_seller_sees_no_workflows(workflow, seller, client_of):
    assert client_of(seller).get(url("list")).status_code == 403
    assert client_of(seller).get(url("detail", workflow.pk)).status_code == 403


@pytest.mark.parametrize("name", ["create", "preview"])
def test_an_operator_makes_nothing(workflow, operator, client_of, name):
    assert client_of(operator).post(url(name)).status_code == 403


@pytest.mark.parametrize("name", POSTS)
def test_an_operator_changes_nothing(workflow, operator, client_of, name):
    assert client_of(operator).post(url(name, workflow.pk)).status_code == 403


def test_an_operator_looks_without_buttons(published, operator, client_of):
    page = client_of(operator, language="en").get(url("detail", published.pk)).content.decode()

    assert published.name in page
    assert url("new-draft", published.pk) not in page
    assert url("archive", published.pk) not in page


def test_a_marketer_may_publish(workflow, marketer, client_of):
    assert client_of(marketer).post(url("publish", workflow.pk)).status_code == 302


@pytest.mark.parametrize("name", POSTS)
def test_changes_are_never_made_by_a_link(workflow, english, name):
    assert english.get(url(name, workflow.pk)).status_code == 405
