"""Block-list files and API tokens, as the people who look after a workspace go about them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from blacklist.models import BlacklistEntry
from core.tenancy import workspace_scope
from tests.api.conftest import caller
from tests.browser.conftest import Watch
from tests.people import make_member, make_workspace
from workspaces.models import Role

pytestmark = pytest.mark.django_db(transaction=True)
# Both languages and both widths, each once: the pages themselves are looked at in every pair elsewhere.
PLACES = pytest.mark.parametrize(
    ("language", "screen"), [("fa", "phone"), ("en", "desktop")], indirect=True, ids=["fa-phone", "en-wide"]
)
NUMBERS = "name,mobile\nسارا,09121112233\nAli,۰۹۳۵۱۲۳۴۵۶۷\nMina,0912\nReza,09121112233\n"


def upload(page: Page, name: str, content: bytes) -> None:
    page.locator("input.file").set_input_files({"name": name, "mimeType": "text/csv", "buffer": content})
    page.locator("main form .btn-primary").click()


def block_a_file(page: Page, shot: Callable[[str], None], language: str) -> None:
    """First a wrong file, then a right one; the page says what became of its cells."""
    page.goto("/automation/blacklist/import/")
    upload(page, "people.csv", b"name,city\nSara,Tehran\n")
    expect(page.locator("[role=alert]").first).to_be_visible()
    shot("block-import-refused")
    upload(page, "numbers.csv", NUMBERS.encode())
    expect(page.locator("#result-title")).to_be_focused()
    cards = page.locator(".card-value").all_inner_texts()
    assert cards == {"fa": ["۲", "۰", "۰", "۱"], "en": ["2", "0", "0", "1"]}[language]
    expect(page.locator("tbody tr")).to_contain_text("0912")
    shot("block-import-result")


@PLACES
def test_a_file_of_numbers_is_blocked_and_a_key_is_made_used_and_revoked(
    page: Page, sign_in: Callable[[Any], None], shot: Callable[[str], None], watch: Watch, language: str
) -> None:
    watch.allow("422")  # the wrong file
    workspace = make_workspace()
    sign_in(make_member(workspace, Role.OWNER))

    block_a_file(page, shot, language)
    with workspace_scope(workspace.pk):
        assert set(BlacklistEntry.objects.values_list("value", flat=True)) == {"09121112233", "09351234567"}

    page.goto("/settings/tokens/new")
    page.locator("#id_name").fill("Shop")
    page.locator("input[name=permissions][value='automation.workflows.view']").check()
    page.locator("main form .btn-primary").click()
    secret = page.locator("#token-secret").input_value()
    assert caller(secret)("GET", "/catalog").status_code == 200
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator("[data-copy=token-secret]").click()
    expect(page.locator("#live .toast")).to_have_text({"fa": "کپی شد.", "en": "Copied."}[language])
    assert page.evaluate("navigator.clipboard.readText()") == secret
    shot("token-made")

    page.goto("/settings/tokens")
    expect(page.locator("#token-secret")).to_have_count(0)
    assert secret not in page.content()
    page.locator("[id^=revoke-][id$=-open]").click()
    page.locator("dialog[open] .btn-danger").click()
    expect(page.locator("tbody tr")).to_contain_text({"fa": "باطل", "en": "Revoked"}[language])
    assert caller(secret)("GET", "/catalog").status_code == 401
