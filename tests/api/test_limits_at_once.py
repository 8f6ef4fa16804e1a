"""Requests that come together pass no limit between them."""

from __future__ import annotations

import pytest
from django.core.cache import cache

from core.tenancy import workspace_scope
from sms.webhooks import past_limit
from tests.clocks import MovableClock
from tests.concurrency.threads import at_once
from tests.factories import make_membership
from tests.people import make_workspace
from workspaces import tokens
from workspaces.models import ApiToken, Membership, Role
from workspaces.permissions import Perm

pytestmark = [pytest.mark.concurrency, pytest.mark.django_db(transaction=True)]
THREADS, EACH, LIMIT = 10, 5, 10


@pytest.fixture
def owner() -> Membership:
    return make_membership(make_workspace("races"), role=Role.OWNER)


def test_of_fifty_requests_with_a_token_ten_are_let_in(
    owner: Membership, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "PER_MINUTE", LIMIT)
    with workspace_scope(owner.workspace_id):
        issued = tokens.issue(owner, name="CRM", permissions=[Perm.WORKFLOWS_VIEW], expires_at=None)

    def ask(_index: int) -> int:
        return sum(tokens.admit(issued.token) == 0 for _ in range(EACH))

    assert sum(at_once(THREADS, ask, workspace_id=owner.workspace_id)) == LIMIT
    assert ApiToken.unscoped.get().used == LIMIT


def test_of_fifty_reports_ten_are_let_in(owner: Membership, clock: MovableClock) -> None:
    cache.delete_many([f"races:{int(clock.now().timestamp()) // 60}"])

    def report(_index: int) -> int:
        return sum(not past_limit("races", LIMIT) for _ in range(EACH))

    assert sum(at_once(THREADS, report, workspace_id=owner.workspace_id)) == LIMIT
