"""The page that says what publishing means, in both languages, wide and narrow."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from automation import publishing
from automation.models import WorkflowNode
from core.tenancy import workspace_scope
from tests.browser.accessibility import assert_accessible
from tests.factories import make_campaign, make_execution
from tests.people import make_member, make_workspace
from workspaces.models import Role

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize(
    ("screen", "language"), [("desktop", "fa"), ("phone", "fa"), ("phone", "en")], indirect=True
)
def test_who_is_where_and_which_texts_differ(
    page: Page, sign_in: Callable[..., None], shot: Callable[[str], None]
) -> None:
    workspace = make_workspace("kaveh")
    owner = make_member(workspace, Role.OWNER)
    with workspace_scope(workspace.pk):
        workflow = publishing.create_workflow(
            name="آشنایی", template_key="three_step_introduction", user=owner
        )
        first = publishing.publish(workflow, user=owner)
        campaign = make_campaign(workspace, workflow_version=first, status="active", name="کمپین پاییز")
        node = WorkflowNode.objects.filter(version=first, subtype="send_sms").earliest("pk")
        for _ in range(3):
            make_execution(workspace, campaign=campaign, current_node=node)
        draft = publishing.new_draft(workflow, owner)
        changed = WorkflowNode.objects.get(version=draft, node_key=node.node_key)
        changed.config = changed.config | {"body": "سلام {target.first_name|دوست}، متن تازه است."}
        changed.save()
    sign_in(owner)
    page.goto(f"/automation/workflows/{workflow.pk}/publish/plan")
    expect(page.get_by_role("table")).to_contain_text("کمپین پاییز")
    expect(page.locator(".side-by-side")).to_have_count(1)
    assert_accessible(page)
    shot("publish-plan")
