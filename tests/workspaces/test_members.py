"""Adding, changing and removing members: by whom, and what is never possible."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.factories import make_membership
from tests.people import Answer, client_of, make_member, make_user, make_workspace
from workspaces import actions
from workspaces.errors import AlreadyMember, LastOwner, OwnersOnly
from workspaces.models import AuditRecord, Membership, Role, User, Workspace


def membership_of(user: User) -> Membership:
    return Membership.objects.get(user=user)


def add(client: Client, email: str, role: str = Role.MARKETER) -> Answer:
    return client.post("/settings/members/add", {"email": email, "full_name": "Sara", "role": role})


def set_role(client: Client, user: User, role: str) -> int:
    return client.post(f"/settings/members/{membership_of(user).pk}/role", {"role": role}).status_code


def remove(client: Client, user: User) -> int:
    return client.post(f"/settings/members/{membership_of(user).pk}/remove").status_code


def test_somebody_with_an_account_becomes_a_member(member_client: Client, workspace: Workspace) -> None:
    person = make_user("sara@elsewhere.example")
    add(member_client, "Sara@Elsewhere.example", Role.OPERATOR)

    assert membership_of(person).role == Role.OPERATOR


def test_somebody_new_gets_an_account_without_a_password(member_client: Client, workspace: Workspace) -> None:
    add(member_client, "new@kaveh.example")
    person = User.objects.get(email="new@kaveh.example")

    assert not person.has_usable_password()
    assert membership_of(person).role == Role.MARKETER


def test_the_link_of_somebody_new_is_shown_once(member_client: Client, workspace: Workspace) -> None:
    shown = add(member_client, "new@kaveh.example").context["link"]

    assert shown.startswith("http://testserver/invitation/")
    assert "link" not in member_client.get("/settings/members").context


def test_the_shown_link_works(member_client: Client, workspace: Workspace, client: Client) -> None:
    shown = add(member_client, "new@kaveh.example").context["link"]

    assert client.get(shown).status_code == 200


def test_a_link_can_be_made_again_until_there_is_a_password(
    member_client: Client, workspace: Workspace
) -> None:
    add(member_client, "new@kaveh.example")
    pk = membership_of(User.objects.get(email="new@kaveh.example")).pk

    assert "link" in member_client.post(f"/settings/members/{pk}/invitation").context


def test_no_link_opens_an_account_that_has_a_password(member_client: Client, marketer: User) -> None:
    pk = membership_of(marketer).pk

    assert member_client.post(f"/settings/members/{pk}/invitation").status_code == 409


def test_no_link_opens_an_account_that_another_workspace_shares(
    member_client: Client, workspace: Workspace, other_workspace: Workspace
) -> None:
    person = User.objects.create_user("new@shirin.example")
    Membership.unscoped.create(workspace=other_workspace, user=person, role=Role.OWNER)
    pk = make_membership(workspace, user=person).pk

    assert member_client.post(f"/settings/members/{pk}/invitation").status_code == 409


def test_a_member_is_not_added_twice(member_client: Client, marketer: User) -> None:
    assert add(member_client, marketer.email).status_code == 409
    assert Membership.objects.filter(user=marketer).count() == 1


@pytest.mark.parametrize(
    "form", [{"email": "no", "role": "seller"}, {"email": "a@b.example", "role": "wizard"}, {}]
)
def test_a_wrong_form_adds_nobody(member_client: Client, form: dict[str, str]) -> None:
    response = member_client.post("/settings/members/add", form)

    assert response.status_code == 422
    assert Membership.objects.count() == 1


def test_adding_changing_and_removing_leave_an_audit_row_each(member_client: Client, owner: User) -> None:
    add(member_client, "new@kaveh.example", Role.SELLER)
    person = User.objects.get(email="new@kaveh.example")
    set_role(member_client, person, Role.OPERATOR)
    remove(member_client, person)
    rows = AuditRecord.objects.order_by("pk").values_list("event", "old", "new", "user")
    email = {"email": "new@kaveh.example"}

    assert list(rows) == [
        ("member.added", {}, {**email, "role": "seller"}, owner.pk),
        ("member.role_changed", {"role": "seller"}, {**email, "role": "operator"}, owner.pk),
        ("member.removed", {**email, "role": "operator"}, {}, owner.pk),
    ]


def test_a_role_that_stays_the_same_is_no_event(member_client: Client, marketer: User) -> None:
    set_role(member_client, marketer, Role.MARKETER)

    assert not AuditRecord.objects.exists()


def test_a_role_that_does_not_exist_is_refused(member_client: Client, marketer: User) -> None:
    assert set_role(member_client, marketer, "wizard") == 422


def test_the_last_owner_stays_owner(member_client: Client, owner: User) -> None:
    assert set_role(member_client, owner, Role.ADMIN) == 409
    assert membership_of(owner).role == Role.OWNER


def test_the_last_owner_is_not_removed(member_client: Client, owner: User) -> None:
    assert remove(member_client, owner) == 409
    assert Membership.objects.filter(user=owner).exists()


def test_an_owner_may_step_down_when_there_is_another(
    member_client: Client, owner: User, workspace: Workspace
) -> None:
    make_member(workspace, Role.OWNER, email="second@kaveh.example")

    assert set_role(member_client, owner, Role.ADMIN) == 302


def test_an_owner_whose_account_is_closed_does_not_count(
    member_client: Client, owner: User, workspace: Workspace
) -> None:
    second = make_member(workspace, Role.OWNER, email="second@kaveh.example")
    User.objects.filter(pk=second.pk).update(is_active=False)

    assert set_role(member_client, owner, Role.ADMIN) == 409


def test_an_owner_of_another_workspace_does_not_count(
    member_client: Client, owner: User, stranger: User
) -> None:
    assert remove(member_client, owner) == 409


def test_an_administrator_does_not_become_owner(admin: User, owner: User) -> None:
    assert set_role(client_of(admin), admin, Role.OWNER) == 403
    assert membership_of(admin).role == Role.ADMIN


def test_an_administrator_does_not_touch_an_owner(admin: User, owner: User) -> None:
    assert set_role(client_of(admin), owner, Role.SELLER) == 403
    assert remove(client_of(admin), owner) == 403


def test_an_administrator_adds_no_owner(admin: User, owner: User) -> None:
    assert add(client_of(admin), "new@kaveh.example", Role.OWNER).status_code == 403
    assert not User.objects.filter(email="new@kaveh.example").exists()


def test_a_marketer_does_not_raise_their_own_role(marketer: User) -> None:
    assert set_role(client_of(marketer), marketer, Role.ADMIN) == 403
    assert membership_of(marketer).role == Role.MARKETER


def test_a_removed_member_is_out_at_the_next_request(member_client: Client, marketer: User) -> None:
    theirs = client_of(marketer)
    assert theirs.get("/").status_code == 200
    remove(member_client, marketer)

    assert theirs.get("/")["Location"] == "/workspaces"


def test_a_member_of_another_workspace_cannot_be_touched(member_client: Client, stranger: User) -> None:
    pk = Membership.unscoped.get(user=stranger).pk

    assert member_client.post(f"/settings/members/{pk}/remove").status_code == 404


def test_two_owners_who_demote_each_other_leave_one(workspace: Workspace, owner: User) -> None:
    second = make_member(workspace, Role.OWNER, email="second@kaveh.example")
    ours, theirs = membership_of(owner), membership_of(second)
    actions.change_role(theirs, role=Role.ADMIN, by=ours)

    with pytest.raises(LastOwner):
        actions.change_role(ours, role=Role.ADMIN, by=theirs)


def test_the_list_takes_the_same_queries_for_two_and_for_forty(
    member_client: Client, workspace: Workspace, django_assert_max_num_queries: object
) -> None:
    for _ in range(40):
        make_membership(workspace)
    member_client.get("/settings/members")  # the first visit dates the session
    # session, person, memberships, count, members, the switch of the menu
    with django_assert_max_num_queries(6):  # type: ignore[operator]
        page = member_client.get("/settings/members")

    assert len(page.context["page"]) == 41


def test_the_list_holds_nobody_of_another_workspace(member_client: Client, stranger: User) -> None:
    assert stranger.email not in member_client.get("/settings/members").content.decode()


def test_an_administrator_is_offered_no_owner_role(admin: User, owner: User) -> None:
    page = client_of(admin).get("/settings/members").content.decode()

    assert 'value="owner"' not in page


def test_the_command_line_adds_the_first_owner(db: None) -> None:
    workspace = make_workspace("fresh")
    added = actions.add_member(workspace, email="first@fresh.example", role=Role.OWNER, by=None)

    assert (added.is_new, added.membership.role) == (True, Role.OWNER)


def test_a_refusal_changes_nothing(workspace: Workspace, owner: User, admin: User) -> None:
    with pytest.raises(OwnersOnly):
        actions.remove_member(membership_of(owner), by=membership_of(admin))
    with pytest.raises(AlreadyMember):
        actions.add_member(workspace, email=admin.email, role=Role.SELLER, by=membership_of(owner))

    assert not AuditRecord.objects.exists()
