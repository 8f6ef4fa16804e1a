"""The roles' rights, word for word, and what a view does with them."""

from __future__ import annotations

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory

from core.errors import Forbidden
from workspaces.decorators import permission_required, workspace_required
from workspaces.http import MemberRequest
from workspaces.models import AuditRecord, Membership, Role, User, Workspace
from workspaces.permissions import ROLE_PERMISSIONS, Perm, has_perm, permissions_of, sees_only_own

ADMINISTRATION = {
    "automation.settings.manage",
    "automation.support",
    "workspace.manage",
    "workspace.members",
    "workspace.audit",
}
EXPECTED = {
    "owner": {perm.value for perm in Perm},
    "admin": {perm.value for perm in Perm},
    "marketer": {perm.value for perm in Perm} - ADMINISTRATION,
    "operator": {
        "automation.workflows.view",
        "automation.campaigns.view",
        "automation.campaigns.manage",
        "automation.blacklist.view",
        "automation.sms_logs.view",
        "journey.read",
        "targets.view",
        "targets.activities",
    },
    "seller": {"targets.view_own", "targets.activities", "automation.campaigns.view"},
}


def request_of(
    user: User, role: str, workspace: Workspace, *, method: str = "GET", **headers: str
) -> HttpRequest:
    membership = Membership(pk=7, user=user, workspace=workspace, role=role)
    request = RequestFactory().generic(method, "/somewhere", headers=headers or None)
    request.user = user
    request.workspace = workspace  # type: ignore[attr-defined]
    request.membership = membership  # type: ignore[attr-defined]
    request.permissions = permissions_of(membership)  # type: ignore[attr-defined]
    return request


@permission_required(Perm.SMS_LOGS_VIEW, Perm.SUPPORT)
def logs(request: MemberRequest, name: str = "") -> HttpResponse:
    return HttpResponse(f"{request.workspace.slug} {name}")


@permission_required(Perm.SMS_LOGS_VIEW, json=True)
def logs_json(request: MemberRequest) -> HttpResponse:
    return HttpResponse("ok")


@workspace_required
def anybody(request: MemberRequest) -> HttpResponse:
    return HttpResponse("ok")


@pytest.mark.parametrize("role", Role.values)
def test_a_role_holds_exactly_its_rights(role: str) -> None:
    assert permissions_of(Membership(role=role)) == EXPECTED[role]


def test_every_role_has_a_set() -> None:
    assert set(ROLE_PERMISSIONS) == set(Role.values)


def test_no_membership_is_no_right() -> None:
    assert permissions_of(None) == frozenset()


def test_a_role_of_a_later_release_is_no_right() -> None:
    assert permissions_of(Membership(role="wizard")) == frozenset()


def test_one_of_several_rights_is_enough() -> None:
    assert has_perm(Membership(role=Role.SELLER), Perm.TARGETS_VIEW, Perm.TARGETS_VIEW_OWN)
    assert not has_perm(Membership(role=Role.SELLER), Perm.TARGETS_VIEW, Perm.TARGETS_MANAGE)


@pytest.mark.parametrize(("role", "limited"), [("owner", False), ("operator", False), ("seller", True)])
def test_only_a_seller_sees_their_own_people_alone(role: str, limited: bool) -> None:
    assert sees_only_own(permissions_of(Membership(role=role))) is limited


def test_a_view_gets_the_request_and_its_arguments(owner: User, workspace: Workspace) -> None:
    assert logs(request_of(owner, Role.OPERATOR, workspace), name="a").content == b"kaveh a"  # type: ignore[attr-defined]


def test_a_page_refuses_by_raising_so_that_one_place_answers(owner: User, workspace: Workspace) -> None:
    with pytest.raises(Forbidden):
        logs(request_of(owner, Role.SELLER, workspace))


def test_a_json_view_refuses_in_json(owner: User, workspace: Workspace) -> None:
    response = logs_json(request_of(owner, Role.SELLER, workspace))

    assert response.status_code == 403
    assert b'"code": "forbidden"' in response.content  # type: ignore[attr-defined]


def test_a_refused_change_is_in_the_audit_log(owner: User, workspace: Workspace) -> None:
    with pytest.raises(Forbidden):
        logs(request_of(owner, Role.SELLER, workspace, method="POST"))

    assert AuditRecord.objects.get().new["needed"] == ["automation.sms_logs.view", "automation.support"]


def test_a_refused_look_is_not(owner: User, workspace: Workspace) -> None:
    with pytest.raises(Forbidden):
        logs(request_of(owner, Role.SELLER, workspace))

    assert not AuditRecord.objects.exists()


def test_an_htmx_request_of_somebody_signed_out_moves_the_whole_page(
    owner: User, workspace: Workspace
) -> None:
    from django.contrib.auth.models import AnonymousUser

    request = RequestFactory().get("/somewhere", headers={"HX-Request": "true"})
    request.user = AnonymousUser()
    response = anybody(request)

    assert (response.status_code, response.headers["HX-Redirect"]) == (401, "/sign-in")


def test_somebody_without_a_workspace_is_shown_the_list(owner: User, workspace: Workspace) -> None:
    request = request_of(owner, Role.OWNER, workspace)
    request.workspace = None  # type: ignore[attr-defined]

    assert anybody(request).headers["Location"] == "/workspaces"


def test_somebody_without_a_workspace_gets_403_in_json(owner: User, workspace: Workspace) -> None:
    request = request_of(owner, Role.OWNER, workspace, Accept="application/json")
    request.workspace = None  # type: ignore[attr-defined]

    assert anybody(request).status_code == 403


def test_a_guard_without_a_permission_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="name a permission"):
        permission_required()
