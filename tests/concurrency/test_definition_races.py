"""Two people change or publish one workflow at the same moment: they take turns, and one of them loses."""

from __future__ import annotations

import pytest

from automation import publishing
from automation.builder import drafts
from automation.builder.claiming import Base
from automation.models import Workflow, WorkflowNode, WorkflowVersion
from core.errors import Refused
from core.tenancy import workspace_scope
from tests.concurrency.threads import at_once
from tests.people import make_workspace
from workspaces.models import AuditRecord, Workspace

pytestmark = [pytest.mark.concurrency, pytest.mark.django_db(transaction=True)]
THREADS = 4


@pytest.fixture
def home(transactional_db: None) -> Workspace:
    return make_workspace("races")


@pytest.fixture
def workflow(home: Workspace) -> Workflow:
    with workspace_scope(home.pk):
        return publishing.create_workflow(name="w", template_key="three_step_introduction", user=None)


def outcome(work) -> str:
    try:
        work()
    except Refused as exc:
        return exc.code
    return "done"


def test_one_of_many_publications_wins_and_the_others_find_no_draft(home, workflow):
    answers = at_once(
        THREADS,
        lambda _index: outcome(lambda: publishing.publish(workflow, user=None)),
        workspace_id=home.pk,
    )

    assert sorted(answers) == ["done", *["no_draft"] * (THREADS - 1)]
    assert AuditRecord.unscoped.filter(event="workflow.published").count() == 1
    assert list(WorkflowVersion.unscoped.values_list("status", flat=True)) == ["published"]


def test_one_of_many_new_drafts_is_made(home, workflow):
    with workspace_scope(home.pk):
        publishing.publish(workflow, user=None)
    answers = at_once(
        THREADS, lambda _index: outcome(lambda: publishing.new_draft(workflow, None)), workspace_id=home.pk
    )

    assert sorted(answers) == ["done", *["draft_exists"] * (THREADS - 1)]


def test_one_of_many_editors_of_one_state_saves(home, workflow):
    node = WorkflowNode.unscoped.filter(version__workflow=workflow, subtype="send_sms").order_by("id")[0]

    def save(index: int) -> str:
        return outcome(
            lambda: drafts.save_step(
                workflow,
                node.node_key,
                base=Base(1, 0),
                name="n",
                config=node.config | {"body": f"text {index}"},
                is_enabled=True,
                user=None,
            )
        )

    answers = at_once(THREADS, save, workspace_id=home.pk)

    winner = answers.index("done")
    node.refresh_from_db(from_queryset=WorkflowNode.unscoped.all())
    assert sorted(answers) == ["done", *["draft_changed"] * (THREADS - 1)]
    assert node.config["body"] == f"text {winner}"


def test_saving_and_publishing_at_once_never_loses_an_accepted_text(home, workflow):
    node = WorkflowNode.unscoped.filter(version__workflow=workflow, subtype="send_sms").order_by("id")[0]

    def work(index: int) -> str:
        if index == 0:
            return outcome(lambda: publishing.publish(workflow, user=None))
        return outcome(
            lambda: drafts.save_step(
                workflow,
                node.node_key,
                base=Base(1, 0),
                name="n",
                config=node.config | {"body": "the new text"},
                is_enabled=True,
                user=None,
            )
        )

    published, saved = at_once(2, work, workspace_id=home.pk)

    node.refresh_from_db(from_queryset=WorkflowNode.unscoped.all())
    assert published == "done"
    assert (node.config["body"] == "the new text") == (saved == "done")
