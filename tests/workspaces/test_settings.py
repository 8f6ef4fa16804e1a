"""The workspace's name, time zone and language."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.people import client_of
from workspaces.models import AuditRecord, User, Workspace

FORM = {"name": "فروشگاه کاوه", "timezone": "Asia/Tehran", "language": "fa"}


def save(client: Client, **values: str) -> int:
    return client.post("/settings", {**FORM, **values}).status_code


def test_every_value_is_kept_and_shown(member_client: Client, workspace: Workspace) -> None:
    assert save(member_client, timezone="Asia/Dubai", language="en") == 302
    workspace.refresh_from_db()
    form = member_client.get("/settings").context["form"]

    assert (workspace.name, workspace.timezone, workspace.language) == ("فروشگاه کاوه", "Asia/Dubai", "en")
    assert {key: form[key].value() for key in FORM} == {**FORM, "timezone": "Asia/Dubai", "language": "en"}


def test_the_next_page_says_that_it_was_saved_once(member_client: Client, workspace: Workspace) -> None:
    save(member_client)
    first, second = (member_client.get("/settings").context["messages"] for _ in range(2))

    assert (len(first), len(second)) == (1, 0)


@pytest.mark.parametrize(
    "wrong",
    [{"timezone": "Mars/Base"}, {"timezone": ""}, {"name": ""}, {"name": "x" * 121}, {"language": "tlh"}],
)
def test_a_wrong_value_is_refused_and_nothing_is_kept(
    member_client: Client, workspace: Workspace, wrong: dict[str, str]
) -> None:
    assert save(member_client, **wrong) == 422
    workspace.refresh_from_db()

    assert (workspace.name, workspace.timezone, workspace.language) == ("Kaveh", "Asia/Tehran", "fa")


def test_a_refused_name_does_not_stand_in_the_shell(member_client: Client, workspace: Workspace) -> None:
    page = member_client.post("/settings", {**FORM, "name": "Renamed", "timezone": "Mars/Base"})

    assert page.context["shell"].workspace.name == "Kaveh"


def test_the_audit_row_holds_what_changed_and_no_more(
    member_client: Client, workspace: Workspace, owner: User
) -> None:
    save(member_client, name="Kaveh", timezone="Asia/Dubai")
    row = AuditRecord.objects.get()

    assert (row.event, row.old, row.new) == (
        "workspace.changed",
        {"timezone": "Asia/Tehran"},
        {"timezone": "Asia/Dubai"},
    )
    assert (row.user, row.entity_type, row.entity_id) == (owner, "workspaces.workspace", str(workspace.pk))


def test_saving_without_a_change_is_no_event(member_client: Client, workspace: Workspace) -> None:
    save(member_client, name="Kaveh")

    assert not AuditRecord.objects.exists()


def test_a_workspace_is_closed_and_renamed_for_commands_by_nobody_here(
    member_client: Client, workspace: Workspace
) -> None:
    save(member_client, slug="other", is_active="")
    workspace.refresh_from_db()

    assert (workspace.slug, workspace.is_active) == ("kaveh", True)


def test_a_marketer_does_not_see_the_settings(marketer: User) -> None:
    assert client_of(marketer).get("/settings").status_code == 403


def test_the_new_language_is_the_members_who_chose_none(member_client: Client, marketer: User) -> None:
    save(member_client, language="en")

    assert client_of(marketer, language="").get("/")["Content-Language"] == "en"
