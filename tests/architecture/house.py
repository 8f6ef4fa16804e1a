"""A workspace with a member of every role, made once for a whole module of tests; each test is undone.

`house` opens one transaction for the module and rolls it back at its end; what a test changes is taken back
by its own (`pytest.mark.django_db`), what one of several requests changes by `undone`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pytest
from django.core.cache import cache
from django.db import transaction
from django.test import Client
from django.urls import reverse

from automation import definition_cache
from core.tenancy import workspace_scope
from tests.architecture.url_matrix import MATRIX
from tests.people import client_of, make_member, make_user, make_workspace
from workspaces import tokens
from workspaces.models import Membership, Role, User, Workspace


@dataclass
class House:
    """`people`: a member of each role in `ours`; `stranger` owns `theirs`; `homeless` is in no workspace."""

    ours: Workspace
    theirs: Workspace
    people: Mapping[str, User]
    stranger: User
    homeless: User

    @property
    def boss(self) -> User:
        return self.people[Role.OWNER]

    @cached_property
    def _signed_in(self) -> Mapping[int, Client]:
        users = [*self.people.values(), self.stranger, self.homeless]
        return {user.pk: client_of(user) for user in users}

    def browser(self, user: User, *, enforce_csrf_checks: bool = False) -> Client:
        """A new browser in which `user` is signed in; what happens in it is nothing to the next one."""
        client = Client(enforce_csrf_checks=enforce_csrf_checks)
        client.cookies.load({key: morsel.value for key, morsel in self._signed_in[user.pk].cookies.items()})
        return client

    def address(self, name: str, user: User) -> str:
        """The address of an object of `user` in `ours`."""
        row = MATRIX[name]
        with workspace_scope(self.ours.pk):
            kwargs = dict(row.kwargs(self.ours, user)) if row.kwargs else {}
        return reverse(name, kwargs=kwargs) + (f"?{row.query}" if row.query else "")

    def bearer(self, *permissions: str) -> dict[str, str]:
        """The header of a new token of the owner with these permissions."""
        membership = Membership.unscoped.get(workspace=self.ours, user=self.boss)
        with workspace_scope(self.ours.pk):
            issued = tokens.issue(membership, name="Test", permissions=permissions, expires_at=None)
        return {"Authorization": f"Bearer {issued.secret}"}


@contextmanager
def undone() -> Iterator[None]:
    """Whatever the block writes is taken back, in memory too."""
    point = transaction.savepoint()
    try:
        yield
    finally:
        transaction.savepoint_rollback(point)
        cache.clear()
        definition_cache.clear()


def _build() -> House:
    ours, theirs = make_workspace("ours"), make_workspace("theirs")
    return House(
        ours=ours,
        theirs=theirs,
        people={role: make_member(ours, role) for role in Role.values},
        stranger=make_member(theirs, Role.OWNER),
        homeless=make_user("homeless@nowhere.example"),
    )


@pytest.fixture(scope="module")
def house(django_db_setup: None, django_db_blocker: Any) -> Iterator[House]:
    outermost = transaction.atomic()
    outermost._from_testcase = True  # type: ignore[attr-defined]  # as Django's own test case: durable blocks may open
    with django_db_blocker.unblock(), outermost:
        made = _build()
        made.browser(made.boss)  # all sign in now: their sessions are rows of the outermost transaction
        yield made
        transaction.set_rollback(True)
