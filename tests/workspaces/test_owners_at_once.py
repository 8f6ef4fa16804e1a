"""Owners who remove each other at the same moment: one of them stays."""

from __future__ import annotations

import pytest

from core.tenancy import workspace_scope
from tests.concurrency.threads import at_once
from tests.factories import make_membership
from tests.people import make_workspace
from workspaces import actions
from workspaces.errors import LastOwner
from workspaces.models import Membership, Role

pytestmark = [pytest.mark.concurrency, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("attempt", range(5))
def test_a_workspace_keeps_an_owner(attempt: int) -> None:
    workspace = make_workspace("races")
    owners = [make_membership(workspace, role=Role.OWNER) for _ in range(4)]

    def demote_the_next(index: int) -> bool:
        try:
            actions.change_role(owners[(index + 1) % 4], role=Role.SELLER, by=owners[index])
        except LastOwner:
            return False
        return True

    done = at_once(4, demote_the_next, workspace_id=workspace.pk)
    with workspace_scope(workspace.pk):
        assert (sorted(done), Membership.objects.filter(role=Role.OWNER).count()) == (
            [False, True, True, True],
            1,
        )
