"""What people and the blacklist put on the start page and into the navigation."""

from __future__ import annotations

from django.test import RequestFactory

from tests.factories import make_blacklist_entry, make_target
from tests.people import client_of
from workspaces import home
from workspaces.models import User, Workspace
from workspaces.permissions import permissions_of
from workspaces.queries import memberships_of


def cards(user: User) -> dict[str, int | None]:
    """The cards this member sees, by the page they lead to."""
    request = RequestFactory().get("/")
    request.membership = memberships_of(user)[0]  # type: ignore[attr-defined]
    request.permissions = permissions_of(request.membership)  # type: ignore[attr-defined]
    return {card.url: card.value for card in home.cards.entries(request)}  # type: ignore[arg-type]


def test_the_start_page_counts_people_and_blocked_numbers(workspace: Workspace, owner: User) -> None:
    make_target(workspace)
    make_blacklist_entry(workspace)
    make_blacklist_entry(workspace, is_active=False)
    seen = cards(owner)
    assert (seen["/targets/"], seen["/automation/blacklist/"]) == (1, 1)


def test_a_seller_counts_own_people_and_no_blocked_numbers(workspace: Workspace, seller: User) -> None:
    make_target(workspace, owner=seller)
    make_target(workspace)
    seen = cards(seller)
    assert seen["/targets/"] == 1
    assert "/automation/blacklist/" not in seen


def test_the_navigation_leads_to_both_for_those_who_may(
    workspace: Workspace, owner: User, seller: User
) -> None:
    full, small = (client_of(user).get("/").content.decode() for user in (owner, seller))
    assert 'href="/targets/"' in full
    assert 'href="/automation/blacklist/"' in full
    assert 'href="/targets/"' in small
    assert 'href="/automation/blacklist/"' not in small
