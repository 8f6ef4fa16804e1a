"""The search over everything: what it finds however it is typed, and what it never shows."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from automation import publishing
from automation.models import AutomationSettings
from campaigns.models import Campaign
from tests.factories import make, make_target
from tests.people import client_of
from workspaces.models import User
from workspaces.search import Wanted

URL, SUGGEST = "/search", "/search/suggestions"


@pytest.fixture
def site(marketer: User) -> Client:
    return client_of(marketer, language="en")


def found(client: Client, text: str, url: str = SUGGEST) -> list[str]:
    response = client.get(url, {"q": text})
    assert response.status_code == 200
    return [hit.label for group in response.context["groups"] for hit in group.hits]


@pytest.mark.parametrize(
    "typed",
    [
        "سارا كريمي", "کریمی سا", "09123456789", "۰۹۱۲۳۴۵۶۷۸۹", "+98 912 345 6789", "00989123456789",
        "6789", "۶۷۸۹", "0912 345", "+98 912 34", "98912345",
    ],
)  # fmt: skip
def test_a_person_is_found_by_name_and_number_in_any_spelling(site, workspace, typed):
    make_target(workspace, name="سارا کریمی", mobile="09123456789")
    make_target(workspace, name="دیگری", mobile="09351112233")
    assert found(site, typed) == ["سارا کریمی"]


def test_campaigns_and_workflows_are_found_by_name(site, workspace, owner):
    make(Campaign, workspace, name="کمپین نوروز ۱۴۰۶")
    publishing.create_workflow(name="خوش‌آمد نوروز", template_key=None, user=owner)
    assert found(site, "نوروز") == ["کمپین نوروز ۱۴۰۶", "خوش‌آمد نوروز"]
    assert found(site, "1406") == ["کمپین نوروز ۱۴۰۶"]
    assert found(site, "خوش امد") == ["خوش‌آمد نوروز"]


@pytest.mark.parametrize(
    "typed",
    [
        "%",
        "%%",
        "__",
        "a%b",
        "'; DROP TABLE x; --",
        "\x00\x00",
        "<script>alert(1)</script>",
        "\u202e\u202e",
        "x" * 5000,
    ],
)
def test_hostile_text_finds_nothing_and_breaks_nothing(site, workspace, typed):
    make_target(workspace, name="Sara Karimi")
    for url in (URL, SUGGEST):
        response = site.get(url, {"q": typed})
        assert (response.status_code, b"<script>alert" in response.content) == (200, False)
        assert response.context["groups"] == []


@pytest.mark.parametrize("typed", ["", " ", "س", "۱"])
def test_too_little_finds_nothing(site, workspace, typed):
    make_target(workspace, name="سارا")
    assert found(site, typed) == []


def test_another_workspace_is_never_searched(site, other_workspace):
    make_target(other_workspace, name="سارا کریمی")
    make(Campaign, other_workspace, name="سارا")
    assert found(site, "سارا") == []


def test_a_seller_finds_their_own_people_and_no_workflow(workspace, seller, owner):
    make_target(workspace, name="سارا یک", owner=seller)
    make_target(workspace, name="سارا دو")
    publishing.create_workflow(name="سارا", template_key=None, user=owner)
    assert found(client_of(seller), "سارا") == ["سارا یک"]


def test_while_automation_is_off_no_campaign_is_offered(site, workspace):
    make(Campaign, workspace, name="بهار")
    assert found(site, "بهار") == ["بهار"]
    AutomationSettings.objects.update_or_create(workspace=workspace, defaults={"enabled": False})
    assert found(site, "بهار") == []


def test_a_removed_person_is_not_found(site, workspace):
    target = make_target(workspace, name="سارا")
    type(target).objects.update(deleted_at=target.created_at)
    assert found(site, "سارا") == []


def test_the_page_shows_more_than_suggestions_and_the_way_to_all(site, workspace):
    for _number in range(25):
        make_target(workspace, name="سارا")
    assert len(found(site, "سارا")) == 5
    response = site.get(URL, {"q": "سارا"})
    assert len(response.context["groups"][0].hits) == 20
    assert "/targets/?q=%D8%B3" in response.content.decode()


def test_the_number_of_queries_does_not_grow(site, workspace, owner):
    def asked() -> int:
        with CaptureQueriesContext(connection) as queries:
            site.get(SUGGEST, {"q": "سارا"})
        return len(queries)

    asked()
    make_target(workspace, name="سارا")
    few = asked()
    for number in range(8):
        make_target(workspace, name="سارا")
        make(Campaign, workspace, name=f"سارا {number}")
        publishing.create_workflow(name=f"سارا {number}", template_key=None, user=owner)
    assert asked() == few


def test_the_box_stands_on_every_page_and_works_without_scripts(site):
    page = site.get("/").content.decode()
    assert 'action="/search"' in page
    assert site.get(URL, {"q": "سارا"}).status_code == 200


@pytest.mark.parametrize(
    ("typed", "number", "digits"),
    [
        ("0912 345 6789", "09123456789", ""), ("+98 912 34", "", "091234"), ("678", "", "678"),
        ("12", "", ""), ("علی ۱۲۳", "", ""),
    ],
)  # fmt: skip
def test_numbers_are_read_as_they_are_stored(typed: str, number: str, digits: str) -> None:
    wanted: Any = Wanted.read(typed)
    assert (wanted.number, wanted.digits) == (number, digits)
