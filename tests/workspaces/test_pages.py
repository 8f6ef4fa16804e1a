"""Every page of this app answers in both languages, with nobody's help."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.people import client_of
from workspaces.models import User

PAGES = [
    "/",
    "/workspaces",
    "/account",
    "/account/password",
    "/settings",
    "/settings/members",
    "/settings/audit",
]


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize(("language", "direction"), [("fa", "rtl"), ("en", "ltr")])
def test_a_page_is_written_in_the_readers_language(
    owner: User, path: str, language: str, direction: str
) -> None:
    page = client_of(owner, language=language).get(path)

    assert page.status_code == 200
    assert f'<html lang="{language}" dir="{direction}"' in page.content.decode()


@pytest.mark.parametrize("path", PAGES)
def test_a_visitor_is_asked_to_sign_in_and_comes_back(client: Client, path: str, db: None) -> None:
    response = client.get(path)

    assert response.status_code == 302
    assert response["Location"] == f"/sign-in?next={path}"


@pytest.mark.parametrize("path", PAGES)
def test_a_private_page_is_kept_by_no_cache(member_client: Client, path: str) -> None:
    assert "no-store" in member_client.get(path)["Cache-Control"]
