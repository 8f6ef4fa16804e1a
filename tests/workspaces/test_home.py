"""The start page: what apps contribute, to whom, in which order."""

from __future__ import annotations

import pytest
from django.test import Client

from core.tenancy import current_workspace_id
from tests.people import client_of
from workspaces import home
from workspaces.http import MemberRequest
from workspaces.models import User, Workspace
from workspaces.permissions import Perm


@pytest.fixture(autouse=True)
def _bare_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the apps contribute is theirs to test."""
    for registry in (home.cards, home.steps, home.notices):
        monkeypatch.setattr(registry, "_sources", {})


def step(title: str, *, done: bool) -> home.Step:
    return home.Step(title=title, text="Why", action="Do it", url="/do", icon="upload", done=done)


def shown(client: Client, kind: str) -> list[str]:
    entries = client.get("/").context[kind]
    return [str(getattr(entry, "label", "") or entry.title) for entry in entries]


def test_the_page_is_calm_when_there_is_nothing(member_client: Client) -> None:
    assert member_client.get("/").status_code == 200


def test_entries_stand_in_their_order(member_client: Client) -> None:
    home.register_card("b", lambda _request: home.Card(label="Second", value=2), order=20)
    home.register_card("a", lambda _request: [home.Card(label="First", value=1)], order=10)
    home.register_card("c", lambda _request: None, order=1)

    assert shown(member_client, "cards") == ["First", "Second"]


def test_an_entry_is_shown_to_those_who_may(member_client: Client, seller: User) -> None:
    card = home.Card(label="Messages", value=1)
    home.register_card("a", lambda _request: card, permission=(Perm.SMS_LOGS_VIEW, Perm.SUPPORT))

    assert shown(member_client, "cards") == ["Messages"]
    assert shown(client_of(seller), "cards") == []


def test_an_entry_that_is_registered_again_is_replaced(member_client: Client) -> None:
    home.register_card("a", lambda _request: home.Card(label="Old", value=1))
    home.register_card("a", lambda _request: home.Card(label="New", value=1))

    assert shown(member_client, "cards") == ["New"]


def test_a_builder_works_inside_the_workspace(member_client: Client, workspace: Workspace) -> None:
    seen: list[tuple[int, int]] = []

    def build(request: MemberRequest) -> None:
        seen.append((request.workspace.pk, current_workspace_id()))

    home.register_card("a", build)
    member_client.get("/")

    assert seen == [(workspace.pk, workspace.pk)]


def test_the_first_open_step_is_the_one_to_do(member_client: Client) -> None:
    home.register_step("a", lambda _request: step("People", done=True), order=1)
    home.register_step("b", lambda _request: step("Workflow", done=False), order=2)
    home.register_step("c", lambda _request: step("Campaign", done=False), order=3)
    page = member_client.get("/")

    assert page.context["next_step"].title == "Workflow"
    assert page.content.decode().count('aria-current="step"') == 1


def test_steps_disappear_when_all_are_done(member_client: Client) -> None:
    home.register_step("a", lambda _request: step("People", done=True))

    assert "start-steps" not in member_client.get("/").content.decode()


def test_a_notice_stands_above_everything(member_client: Client) -> None:
    home.register_notice("a", lambda _request: home.Notice(title="The channel is closed", tone="danger"))
    page = member_client.get("/").content.decode()

    assert page.index("The channel is closed") < page.index(
        "cards-title" if "cards-title" in page else "</main>"
    )
