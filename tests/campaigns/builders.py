"""Campaigns, their people and a channel, made by the product's own actions."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from automation.models import Workflow, WorkflowExecution
from automation.publishing import create_workflow, publish
from campaigns import actions
from campaigns.details import CampaignDetails
from campaigns.enrollment import batches, committer, decisions
from campaigns.models import Campaign, EnrollmentBatch
from core.crypto import seal
from core.tenancy import current_workspace_id
from sms.models import ProviderAccount
from targets.models import Target, TargetList, TargetListMember
from targets.queries import Visibility
from workspaces.models import User

_numbers = itertools.count(1)


def people(count: int = 1, **columns: Any) -> list[int]:
    """New people with a mobile number each; their ids."""
    rows = [
        Target(
            workspace_id=current_workspace_id(),
            first_name=f"نفر{n}",
            search_text=f"نفر{n}",
            **{"mobile": f"0912{n:07d}", **columns},
        )
        for n in itertools.islice(_numbers, count)
    ]
    return [row.pk for row in Target.objects.bulk_create(rows)]


def on_list(ids: Sequence[int], name: str = "مشتریان") -> TargetList:
    workspace_id = current_workspace_id()
    made = TargetList.objects.create(workspace_id=workspace_id, name=name)
    TargetListMember.objects.bulk_create(
        TargetListMember(workspace_id=workspace_id, list=made, target_id=pk) for pk in ids
    )
    return made


def workflow(template: str = "single_message", *, user: User | None = None) -> Workflow:
    """A published workflow."""
    made = create_workflow(name="خوشامد", template_key=template, user=user)
    publish(made, user=user)
    made.refresh_from_db()
    return made


def channel() -> ProviderAccount:
    """A provider account that could send."""
    account = ProviderAccount(
        workspace_id=current_workspace_id(), kind="null", title="آزمایشی", lines=["50001"], is_primary=True
    )
    account.sealed_credentials = seal("{}", bound_to=account.seal_binding)
    account.save()
    return account


def draft(of: Workflow | None = None, *, user: User | None = None, **details: Any) -> Campaign:
    return actions.create_campaign(
        workflow_id=(of or workflow()).pk,
        details=CampaignDetails(**{"name": "پاییزه", **details}),
        user=user,
    )


def running(of: Workflow | None = None, *, user: User | None = None, **details: Any) -> Campaign:
    """A campaign that is active, with a channel to send through."""
    if not ProviderAccount.objects.exists():
        channel()
    return actions.activate(draft(of, user=user, **details).pk, user=user)


def review(
    campaign: Campaign, ids: Sequence[int], *, default: Any = None, user: User | None = None
) -> EnrollmentBatch:
    """A selection in review, with one answer for everybody if `default` is given."""
    batch = batches.create(campaign, ids, user=user)
    if default is not None:
        batches.decide(batch, decisions.Decisions(default=default))
    return batch


def enrol(
    campaign: Campaign, ids: Sequence[int], *, default: Any = None, user: User | None = None
) -> EnrollmentBatch:
    """Review and add; the batch as it is afterwards."""
    batch = review(campaign, ids, default=default, user=user)
    committer.commit(batch, user=user)
    batch.refresh_from_db()
    return batch


def statuses(campaign: Campaign) -> dict[str, int]:
    """How many executions of the campaign are in which status."""
    found: dict[str, int] = {}
    for status in WorkflowExecution.objects.filter(campaign=campaign).values_list("status", flat=True):
        found[status] = found.get(status, 0) + 1
    return found


def execution_of(campaign: Campaign, subject_id: int) -> WorkflowExecution:
    return WorkflowExecution.objects.get(campaign=campaign, subject_id=subject_id)


EVERYONE = Visibility.everyone
