"""What the three daily limits of a campaign let through: the smallest of those that are set."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from automation import counters
from automation.runtime.policy import RunPolicy
from tests.clocks import MovableClock
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db
SCOPES = ("campaign_limit", "workflow_limit", "workspace_limit")


@pytest.fixture
def unlimited(workspace: Workspace) -> RunPolicy:
    return RunPolicy(campaign_id=1, workspace_id=workspace.pk, workflow_id=2, version_id=3)


def test_no_limit_is_no_limit(unlimited: RunPolicy, clock: MovableClock) -> None:
    assert counters.Budgets([unlimited], clock.now()).left(unlimited) is None
    assert counters.reserve(unlimited, clock.now(), 100_000) == 100_000


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize(("limit", "granted"), [(0, 0), (3, 3)])
def test_each_limit_alone_decides(
    unlimited: RunPolicy, clock: MovableClock, scope: str, limit: int, granted: int
) -> None:
    """Zero is a limit: nothing goes out."""
    changed: dict[str, Any] = {scope: limit}
    policy = replace(unlimited, **changed)
    assert counters.Budgets([policy], clock.now()).left(policy) == granted
    assert counters.reserve(policy, clock.now(), 5) == granted
    assert counters.reserve(policy, clock.now(), 5) == 0
