"""What holds the rest up: no call inside a transaction, one database, wide keys, a reaper that goes on."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.apps import apps
from django.conf import settings
from django.db import connection, models

from automation.models import WorkflowExecution
from automation.runtime import claim, reaper
from automation.runtime.runner import process_executions
from core import failpoints
from core.tenancy import WorkspaceModel, current_workspace_id
from sms.types import OutboundSms, SendResult
from tests.clocks import MovableClock
from tests.scenario import Scenario, accept
from workspaces.models import Workspace


@pytest.mark.django_db(transaction=True)
def test_no_transaction_is_open_while_the_provider_is_called(workspace: Workspace, clock: MovableClock):
    """A call of ten seconds must not hold locks, nor be rolled back with what it said."""
    scenario = Scenario()
    open_ones: list[bool] = []

    def look(_sms: OutboundSms, _nth: int) -> SendResult:
        open_ones.append(connection.in_atomic_block)
        return accept()

    scenario.provider.answer = look
    token = uuid4()
    ids = claim.claim_due(scenario.campaign.pk, consuming=True, limit=9, token=token, now=clock.at)
    process_executions(current_workspace_id(), ids, token)
    assert open_ones == [False]


@pytest.mark.django_db
def test_the_reaper_goes_on_behind_rows_it_may_not_touch(
    workspace: Workspace, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
):
    """The first batch is finished by its workers between the reaper's look and its move."""
    monkeypatch.setattr(reaper, "BATCH", 2)
    scenario = Scenario(people=5)
    claim.claim_due(scenario.campaign.pk, consuming=True, limit=9, token=uuid4(), now=clock.at)
    clock.advance(minutes=6)
    first = list(WorkflowExecution.objects.order_by("pk").values_list("pk", flat=True)[:2])

    def a_worker_renews_them() -> None:
        WorkflowExecution.objects.filter(pk__in=first).update(locked_at=clock.at)

    with failpoints.acting("reap_read", a_worker_renews_them):
        assert reaper.reap(clock.at) == 3
    assert scenario.statuses() == {"queued": 2, "active": 3}


def test_every_key_is_wide_enough_for_ever():
    ours = [model for model in apps.get_models() if issubclass(model, WorkspaceModel)]
    narrow = [
        model._meta.label for model in ours if type(model._meta.pk) in (models.AutoField, models.IntegerField)
    ]
    assert narrow == []


def test_claims_and_checks_read_the_one_database_they_write():
    assert (list(settings.DATABASES), settings.DATABASE_ROUTERS) == (["default"], [])
