"""Which workspace, language and zone a request stands in, and that none of them outlives it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.test import Client, RequestFactory
from django.utils import timezone, translation

from core.tenancy import WorkspaceRequired, current_workspace_id
from tests.people import client_of, make_member, make_user, make_workspace
from workspaces.middleware import WorkspaceMiddleware
from workspaces.models import Membership, Role, User, Workspace

pytestmark = pytest.mark.django_db


@pytest.fixture
def kaveh() -> Workspace:
    return make_workspace("kaveh")


@pytest.fixture
def shirin() -> Workspace:
    return make_workspace("shirin")


@pytest.fixture
def parisa(kaveh: Workspace) -> User:
    return make_member(kaveh, Role.OWNER, email="parisa@kaveh.example")


def seen_by(client: Client) -> str:
    """The slug of the workspace a page is made in."""
    workspace = getattr(client.get("/workspaces").wsgi_request, "workspace", None)
    return workspace.slug if workspace else ""


def request_of(user: User) -> HttpRequest:
    request = RequestFactory().get("/")
    request.user = user
    request.session = {}  # type: ignore[assignment]  # all the middleware asks of a session is a mapping
    return request


def switch(client: Client, workspace: Workspace, **extra: str) -> int:
    return client.post("/workspaces/switch", {"workspace": workspace.pk, **extra}).status_code


def test_a_member_of_one_workspace_stands_in_it(parisa: User) -> None:
    assert seen_by(client_of(parisa)) == "kaveh"


def test_somebody_new_stands_nowhere(db: None) -> None:
    client = client_of(make_user("new@kaveh.example"))

    assert seen_by(client) == ""
    assert client.get("/")["Location"] == "/workspaces"


def test_a_member_of_two_may_switch(parisa: User, shirin: Workspace) -> None:
    Membership.unscoped.create(workspace=shirin, user=parisa, role=Role.SELLER)
    client = client_of(parisa)
    assert switch(client, shirin) == 302

    assert seen_by(client) == "shirin"


def test_nobody_switches_to_a_workspace_they_are_not_in(parisa: User, shirin: Workspace) -> None:
    client = client_of(parisa)

    assert switch(client, shirin) == 404
    assert seen_by(client) == "kaveh"


def test_a_switch_goes_back_within_the_site_only(parisa: User, kaveh: Workspace) -> None:
    response = client_of(parisa).post("/workspaces/switch", {"workspace": kaveh.pk, "next": "//evil.example"})

    assert response["Location"] == "/"


def test_the_role_in_the_chosen_workspace_counts(parisa: User, shirin: Workspace) -> None:
    Membership.unscoped.create(workspace=shirin, user=parisa, role=Role.SELLER)
    client = client_of(parisa)
    switch(client, shirin)

    assert client.get("/settings").status_code == 403


def test_a_removed_member_is_out_at_the_next_request(parisa: User, shirin: Workspace) -> None:
    Membership.unscoped.create(workspace=shirin, user=parisa, role=Role.SELLER)
    client = client_of(parisa)
    switch(client, shirin)
    Membership.unscoped.filter(workspace=shirin, user=parisa).delete()

    assert seen_by(client) == "kaveh"


def test_a_closed_workspace_is_gone_at_the_next_request(parisa: User, kaveh: Workspace) -> None:
    client = client_of(parisa)
    assert seen_by(client) == "kaveh"
    Workspace.objects.filter(pk=kaveh.pk).update(is_active=False)

    assert seen_by(client) == ""


def test_a_changed_role_counts_at_the_next_request(parisa: User) -> None:
    client = client_of(parisa)
    assert client.get("/settings").status_code == 200
    Membership.unscoped.filter(user=parisa).update(role=Role.OPERATOR)

    assert client.get("/settings").status_code == 403


def test_a_request_of_a_member_asks_four_questions_of_the_database(
    parisa: User, django_assert_num_queries: object
) -> None:
    client = client_of(parisa)
    client.get("/workspaces")
    # session, person, memberships, and whether automation is on (the menu shows it)
    with django_assert_num_queries(4):  # type: ignore[operator]
        client.get("/workspaces")


def test_a_visitors_request_asks_none(client: Client, django_assert_num_queries: object) -> None:
    with django_assert_num_queries(0):  # type: ignore[operator]
        client.get("/sign-in")


def test_the_view_runs_inside_the_scope(parisa: User, kaveh: Workspace) -> None:
    inside: list[int] = []

    def view(request: HttpRequest) -> HttpResponse:
        inside.append(current_workspace_id())
        return HttpResponse()

    WorkspaceMiddleware(view)(request_of(parisa))
    assert inside == [kaveh.pk]


def test_the_scope_ends_with_the_request(parisa: User) -> None:
    WorkspaceMiddleware(lambda _request: HttpResponse())(request_of(parisa))

    with pytest.raises(WorkspaceRequired):
        current_workspace_id()


def test_the_scope_ends_when_the_view_breaks_down(parisa: User) -> None:
    def view(request: HttpRequest) -> HttpResponse:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        WorkspaceMiddleware(view)(request_of(parisa))
    with pytest.raises(WorkspaceRequired):
        current_workspace_id()


def test_a_streamed_answer_is_made_inside_the_scope(parisa: User, kaveh: Workspace) -> None:
    def rows() -> Iterator[bytes]:
        for _ in range(2):
            yield f"{current_workspace_id()} {translation.get_language()} ".encode()

    response = WorkspaceMiddleware(lambda _request: StreamingHttpResponse(rows()))(request_of(parisa))

    assert b"".join(response) == f"{kaveh.pk} fa {kaveh.pk} fa ".encode()


def test_between_two_chunks_nothing_is_open(parisa: User) -> None:
    chunks = [b"a", b"b"]
    response = WorkspaceMiddleware(lambda _request: StreamingHttpResponse(iter(chunks)))(request_of(parisa))
    next(iter(response))

    with pytest.raises(WorkspaceRequired):
        current_workspace_id()


@pytest.mark.parametrize(
    ("own", "chosen", "of_workspace", "shown"),
    [
        ("", "", "fa", "fa"),
        ("", "", "en", "en"),
        ("", "en", "fa", "en"),
        ("fa", "en", "en", "fa"),
        ("en", "", "fa", "en"),
        ("", "xx", "en", "en"),
    ],
)
def test_the_language_is_ones_own_then_the_browsers_then_the_workspaces(
    own: str, chosen: str, of_workspace: str, shown: str
) -> None:
    user = make_member(make_workspace("kaveh", language=of_workspace), Role.OWNER)
    User.objects.filter(pk=user.pk).update(language=own)

    assert client_of(user, language=chosen).get("/workspaces")["Content-Language"] == shown


def test_a_visitor_reads_persian(client: Client) -> None:
    assert client.get("/sign-in")["Content-Language"] == "fa"


def test_choosing_a_language_is_kept_in_the_browser(client: Client) -> None:
    client.post("/language", {"language": "en", "next": "/sign-in"})

    assert client.get("/sign-in")["Content-Language"] == "en"


def test_choosing_a_language_is_kept_in_the_account(parisa: User) -> None:
    client_of(parisa).post("/language", {"language": "en"})
    parisa.refresh_from_db()

    assert parisa.language == "en"


def test_an_unknown_language_is_refused(client: Client) -> None:
    assert client.post("/language", {"language": "tlh"}).status_code == 422


def test_the_language_switch_goes_back_within_the_site_only(client: Client) -> None:
    response = client.post("/language", {"language": "en", "next": "https://evil.example/"})

    assert response["Location"] == "/"


def test_the_language_of_one_request_is_not_the_next_ones(parisa: User) -> None:
    with translation.override("fa"):
        client_of(parisa, language="en").get("/workspaces")

        assert translation.get_language() == "fa"


def test_times_are_in_the_workspaces_zone(parisa: User, kaveh: Workspace) -> None:
    Workspace.objects.filter(pk=kaveh.pk).update(timezone="Asia/Dubai")
    zones: list[str] = []

    def view(request: HttpRequest) -> HttpResponse:
        zones.append(timezone.get_current_timezone_name())
        return HttpResponse()

    WorkspaceMiddleware(view)(request_of(parisa))
    assert zones == ["Asia/Dubai"]


def test_a_zone_the_host_does_not_know_shows_the_default_one(parisa: User, kaveh: Workspace) -> None:
    Workspace.objects.filter(pk=kaveh.pk).update(timezone="Mars/Base")

    assert client_of(parisa).get("/workspaces").status_code == 200
