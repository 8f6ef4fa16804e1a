"""What a browser of somebody else, or a forged header, cannot do."""

from __future__ import annotations

import re

import pytest
from django.conf import settings
from django.test import Client

from tests.people import client_of
from workspaces.models import User, Workspace


def token_of(client: Client) -> str:
    found = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', client.get("/account").content.decode())
    assert found
    return found.group(1)


def save_name(client: Client, **headers: str) -> int:
    form = {"full_name": "New name", "language": "", "csrfmiddlewaretoken": token_of(client)}
    return client.post("/account", form, headers=headers).status_code


def test_a_form_of_this_site_is_taken(owner: User) -> None:
    client = client_of(owner, enforce_csrf_checks=True)

    assert save_name(client, Origin="http://testserver") == 302


@pytest.mark.parametrize(
    "headers",
    [{"Origin": "https://evil.example"}, {"Origin": "null"}, {"Origin": "http://testserver.evil.example"}],
)
def test_a_form_from_elsewhere_is_refused(owner: User, headers: dict[str, str]) -> None:
    client = client_of(owner, enforce_csrf_checks=True)

    assert save_name(client, **headers) == 403


@pytest.mark.parametrize(
    "host", ["evil.example", "testserver:80@evil.example", "testserver.evil.example", "a b"]
)
def test_another_host_name_is_no_host_of_ours(client: Client, host: str, db: None) -> None:
    assert client.get("/sign-in", headers={"Host": host}).status_code == 400


def test_an_invitation_link_is_never_built_from_a_forged_host(
    member_client: Client, workspace: Workspace
) -> None:
    form = {"email": "new@kaveh.example", "full_name": "", "role": "seller"}
    answer = member_client.post("/settings/members/add", form, headers={"Host": "evil.example"})

    assert answer.status_code == 400
    assert not User.objects.filter(email="new@kaveh.example").exists()


def test_a_forwarded_host_is_not_believed(client: Client, db: None) -> None:
    page = client.get("/sign-in", headers={"X-Forwarded-Host": "evil.example"}).content.decode()

    assert "evil.example" not in page


def test_no_page_holds_an_inline_script_or_style(member_client: Client) -> None:
    for path in ("/", "/account", "/settings", "/settings/members", "/settings/audit", "/workspaces"):
        page = member_client.get(path).content.decode()
        inline = re.findall(r"<script(?![^>]*\bsrc=)[^>]*>|\sstyle=|\son\w+=", page)
        assert not [tag for tag in inline if "application/json" not in tag], path


def test_a_person_may_be_signed_in_on_two_devices(owner: User) -> None:
    first, second = client_of(owner), client_of(owner)

    assert (first.get("/").status_code, second.get("/").status_code) == (200, 200)
    assert (
        first.cookies[settings.SESSION_COOKIE_NAME].value
        != second.cookies[settings.SESSION_COOKIE_NAME].value
    )
