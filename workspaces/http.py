"""The request as a member's view sees it."""

from __future__ import annotations

from django.http import HttpRequest

from core.views import speaks_json
from workspaces.models import Membership, User, Workspace


class MemberRequest(HttpRequest):
    """A request that passed `workspace_required`: somebody signed in, standing in one workspace.

    Only a type: the attributes are put there by WorkspaceMiddleware.
    """

    user: User
    workspace: Workspace
    membership: Membership
    permissions: frozenset[str]
    workspace_choices: list[Workspace]


class UserRequest(HttpRequest):
    """A request that passed `sign_in_required`; the person may have no workspace."""

    user: User
    workspace: Workspace | None
    membership: Membership | None
    permissions: frozenset[str]
    workspace_choices: list[Workspace]


def wants_json(request: HttpRequest) -> bool:
    """Whether the caller reads JSON rather than a page."""
    return speaks_json(request)
