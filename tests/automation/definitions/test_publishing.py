"""Workflows are made, published, copied and put away."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction

from automation import publishing
from automation.models import Workflow, WorkflowEdge, WorkflowNode, WorkflowVersion
from core.errors import Invalid, NotFound, Refused
from core.tenancy import workspace_scope
from workspaces.models import AuditRecord


@pytest.fixture
def workflow(workspace, owner) -> Workflow:
    return publishing.create_workflow(
        name="آشنایی", template_key="three_step_introduction", user=owner, description="سه پیام"
    )


def _draft(workflow: Workflow) -> WorkflowVersion:
    return WorkflowVersion.objects.get(workflow=workflow, status="draft")


def _keys(version: WorkflowVersion) -> set[str]:
    return set(version.nodes.values_list("node_key", flat=True))


def _break_text(version: WorkflowVersion, body: str = " ") -> WorkflowNode:
    node = WorkflowNode.objects.filter(version=version, subtype="send_sms").order_by("id").first()
    assert node is not None
    node.config = node.config | {"body": body}
    node.save()
    return node


def test_a_new_workflow_has_draft_version_one(workflow):
    draft = _draft(workflow)

    assert (draft.version_number, workflow.status, workflow.category) == (1, "draft", "sms")
    assert draft.nodes.count() == 7
    assert draft.edges.count() == 6


def test_without_a_template_there_are_start_and_end_only(workspace, owner):
    workflow = publishing.create_workflow(name="خالی", template_key=None, user=owner)

    assert list(_draft(workflow).nodes.order_by("id").values_list("type", flat=True)) == ["start", "end"]


def test_two_workflows_from_one_template_share_no_node_key(workflow, owner):
    other = publishing.create_workflow(name="دیگری", template_key="three_step_introduction", user=owner)

    assert not _keys(_draft(workflow)) & _keys(_draft(other))
    assert all(key.startswith("n_") and len(key) == 8 for key in _keys(_draft(other)))


def test_an_unknown_template_is_refused(workspace, owner):
    with pytest.raises(Invalid) as caught:
        publishing.create_workflow(name="x", template_key="nope", user=owner)

    assert caught.value.code == "template_unknown"
    assert Workflow.objects.count() == 0


@pytest.mark.parametrize("name", ["", "  \n ", "x" * 121])
def test_a_workflow_needs_a_fitting_name(workspace, owner, name):
    with pytest.raises(Invalid):
        publishing.create_workflow(name=name, template_key=None, user=owner)


def test_publishing_makes_the_draft_the_published_version(workflow, owner, clock):
    version = publishing.publish(workflow, user=owner, note="نخستین نسخه")

    workflow.refresh_from_db()
    assert workflow.published_version == version
    assert workflow.status == "active"
    assert (version.status, version.published_by, version.published_at, version.note) == (
        "published",
        owner,
        clock.at,
        "نخستین نسخه",
    )


def test_only_messages_use_up_budget(workflow, owner):
    version = publishing.publish(workflow, user=owner)

    budgeted = version.nodes.filter(consumes_budget=True)
    assert {node.subtype for node in budgeted} == {"send_sms"}
    assert budgeted.count() == 3


def test_publishing_again_replaces_the_version_before(workflow, owner):
    first = publishing.publish(workflow, user=owner)
    publishing.new_draft(workflow, owner)
    second = publishing.publish(workflow, user=owner)

    assert {v.version_number: v.status for v in workflow.versions.all()} == {1: "superseded", 2: "published"}
    assert second.version_number == first.version_number + 1


def test_a_second_publication_finds_no_draft(workflow, owner):
    publishing.publish(workflow, user=owner)

    with pytest.raises(Refused) as caught:
        publishing.publish(workflow, user=owner)
    assert caught.value.code == "no_draft"


def test_every_problem_is_listed_at_once_with_its_step(workflow, owner):
    draft = _draft(workflow)
    broken = list(draft.nodes.filter(subtype="send_sms").order_by("id"))[:2]
    broken[0].config = broken[0].config | {"body": " "}
    broken[1].config = broken[1].config | {"body": "{target.shoe_size}"}
    for node in broken:
        node.save()

    with pytest.raises(Invalid) as caught:
        publishing.publish(workflow, user=owner)

    found = {(problem.node, problem.code) for problem in caught.value.problems}
    assert found == {(broken[0].node_key, "text_empty"), (broken[1].node_key, "variable_unknown")}
    assert all(str(problem).startswith(problem.node_name + ": ") for problem in caught.value.problems)


def test_a_refused_publication_changes_nothing(workflow, owner):
    draft = _draft(workflow)
    _break_text(draft)
    before = AuditRecord.objects.count()

    with pytest.raises(Invalid):
        publishing.publish(workflow, user=owner)

    workflow.refresh_from_db()
    draft.refresh_from_db()
    assert (workflow.status, workflow.published_version, draft.status) == ("draft", None, "draft")
    assert AuditRecord.objects.count() == before


def test_a_failure_in_the_middle_changes_nothing(workflow, owner, monkeypatch):
    def lost(*args, **kwargs):
        raise RuntimeError("the log is full")

    monkeypatch.setattr("workspaces.audit.record", lost)
    with pytest.raises(RuntimeError):
        publishing.publish(workflow, user=owner)

    assert _draft(workflow).nodes.filter(consumes_budget=True).count() == 0


def test_an_opt_out_without_a_text_stops_the_publication(workflow, owner):
    node = WorkflowNode.objects.filter(version=_draft(workflow), subtype="send_sms").first()
    node.config = node.config | {"append_opt_out": True}
    node.save()

    with pytest.raises(Invalid) as caught:
        publishing.publish(workflow, user=owner)
    assert [(problem.node, problem.code) for problem in caught.value.problems] == [
        (node.node_key, "opt_out_text_missing")
    ]


def test_a_provider_of_another_workspace_stops_the_publication(workflow, owner, other_workspace):
    from sms.models import ProviderAccount

    account = ProviderAccount.unscoped.create(workspace=other_workspace, kind="melipayamak", title="x")
    node = WorkflowNode.objects.filter(version=_draft(workflow), subtype="send_sms").earliest("pk")
    node.config = node.config | {"provider": str(account.pk)}
    node.save()

    with pytest.raises(Invalid) as caught:
        publishing.publish(workflow, user=owner)
    assert [problem.code for problem in caught.value.problems] == ["provider_unknown"]


def test_a_new_draft_keeps_the_node_keys_and_settings(workflow, owner):
    published = publishing.publish(workflow, user=owner)
    draft = publishing.new_draft(workflow, owner)

    assert (draft.version_number, draft.status, draft.settings) == (2, "draft", published.settings)
    assert publishing.load_definition(draft) == publishing.load_definition(published)


def test_a_second_draft_is_refused(workflow, owner):
    publishing.publish(workflow, user=owner)
    publishing.new_draft(workflow, owner)

    with pytest.raises(Refused) as caught:
        publishing.new_draft(workflow, owner)
    assert caught.value.code == "draft_exists"


def test_the_database_refuses_a_second_draft(workflow):
    with pytest.raises(IntegrityError), transaction.atomic():
        WorkflowVersion.objects.create(
            workspace_id=workflow.workspace_id, workflow=workflow, version_number=9
        )


def test_archiving_and_restoring(workflow, owner):
    publishing.publish(workflow, user=owner)
    assert publishing.archive(workflow, user=owner).status == "archived"

    with pytest.raises(Refused) as caught:
        publishing.new_draft(workflow, owner)
    assert caught.value.code == "workflow_archived"
    assert publishing.restore(workflow, user=owner).status == "active"


def test_a_workflow_with_a_running_campaign_is_not_archived(workflow, owner):
    from campaigns.models import Campaign

    version = publishing.publish(workflow, user=owner)
    Campaign.objects.create(
        workspace_id=workflow.workspace_id,
        name="c",
        workflow=workflow,
        workflow_version=version,
        status="active",
    )

    with pytest.raises(Refused) as caught:
        publishing.archive(workflow, user=owner)
    assert caught.value.code == "workflow_in_use"


def test_another_workspaces_workflow_does_not_exist(workflow, other_workspace, stranger):
    with workspace_scope(other_workspace.pk), pytest.raises(NotFound):
        publishing.publish(workflow, user=stranger)


def test_each_change_leaves_one_audit_row(workflow, owner):
    publishing.publish(workflow, user=owner)
    publishing.new_draft(workflow, owner)
    publishing.rename(workflow, name="نام تازه", description="", user=owner)
    publishing.archive(workflow, user=owner)
    publishing.restore(workflow, user=owner)

    assert list(AuditRecord.objects.order_by("id").values_list("event", flat=True)) == [
        "workflow.created",
        "workflow.published",
        "workflow.draft_created",
        "workflow.renamed",
        "workflow.archived",
        "workflow.restored",
    ]


def test_loading_takes_two_queries_whatever_the_size(workflow, django_assert_num_queries):
    draft = _draft(workflow)

    with django_assert_num_queries(2):
        definition = publishing.load_definition(draft)
    assert len(definition.nodes) == WorkflowNode.objects.filter(version=draft).count()
    assert len(definition.edges) == WorkflowEdge.objects.filter(version=draft).count()
