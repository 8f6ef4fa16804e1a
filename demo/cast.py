"""Who and what the story is about: a workspace, its owner, an SMS account, a workflow, people, a campaign.

Everything is made with the product's own actions, the way its pages make it.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from automation import publishing
from automation.models import WorkflowNode
from core.tenancy import workspace_scope
from sms.accounts import AccountValues, add_account
from workspaces.actions import add_member, create_workspace
from workspaces.models import Role, User, Workspace

TEMPLATE = "three_step_introduction"
EMAIL = "demo@peyk.example"
# The simulator's own account (`sms.simulator.plan.Account`).
USERNAME, PASSWORD, LINE = "peyk", "simulator", "50004001"


@dataclass(frozen=True, slots=True)
class Step:
    """One sending step of the workflow, as the proof calls it."""

    name: str
    node_id: int
    text: str


@dataclass(frozen=True, slots=True)
class Cast:
    """What the story's later parts need to know."""

    workspace: Workspace
    owner: User
    password: str
    workflow_id: int
    version_id: int
    steps: tuple[Step, ...]  # the sending steps, in order


def gather(provider_url: str) -> Cast:
    """Make everything that exists before the first person comes."""
    password = secrets.token_urlsafe(9)
    workspace = create_workspace(name="فروشگاه پیک", slug="demo", timezone="Asia/Tehran", language="fa")
    member = add_member(
        workspace, email=EMAIL, role=Role.OWNER, full_name="سارا مدیری", by=None, password=password
    )
    owner = member.membership.user
    with workspace_scope(workspace.pk):
        _connect_provider(workspace, provider_url, owner)
        workflow = publishing.create_workflow(name="آشنایی در سه پیام", template_key=TEMPLATE, user=owner)
        version = publishing.publish(workflow, user=owner)
        return Cast(workspace, owner, password, workflow.pk, version.pk, _steps(version.pk))


def _connect_provider(workspace: Workspace, url: str, owner: User) -> None:
    values = AccountValues(
        title="شبیه‌ساز", kind="melipayamak", base_url=url, lines=[LINE], rate_per_second=1000, is_active=True,
        username=USERNAME, password=PASSWORD,
    )  # fmt: skip
    add_account(workspace, values, user=owner)


def _steps(version_id: int) -> tuple[Step, ...]:
    nodes = WorkflowNode.objects.filter(version_id=version_id, subtype="send_sms").order_by("pk")
    return tuple(
        Step(f"message {number}", node.pk, str(node.config["body"]))
        for number, node in enumerate(nodes, start=1)
    )
