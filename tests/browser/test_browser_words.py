"""What a browser would say in its own language is said in the page's, and what is at hand can be reached."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from core.tenancy import workspace_scope
from tests.factories import make_target
from tests.people import make_member, make_workspace
from workspaces.models import Role

pytestmark = pytest.mark.django_db(transaction=True)
_SAID = "(control) => control.validationMessage"


@pytest.mark.parametrize("screen", ["phone"], indirect=True)
def test_fields_speak_the_pages_language_and_ticked_people_lead_to_the_actions(
    page: Page, sign_in: Callable[[Any], None]
) -> None:
    workspace = make_workspace()
    sign_in(make_member(workspace, Role.OWNER))
    with workspace_scope(workspace.pk):
        make_target(workspace)
    page.goto("/targets/imports/new/")
    chosen, upload = page.locator("input.file"), page.locator("main form .btn-primary")
    expect(page.locator(".file-name")).to_have_text("هنوز فایلی انتخاب نشده")
    upload.click()
    assert chosen.evaluate(_SAID) == "این را پر کنید."
    chosen.set_input_files({"name": "people.csv", "mimeType": "text/csv", "buffer": b"mobile\n09121112233\n"})
    expect(page.locator(".file-name")).to_have_text("people.csv")
    assert chosen.evaluate(_SAID) == ""
    upload.click()
    expect(page).not_to_have_url("/targets/imports/new/")

    page.goto("/targets/")
    jump = page.locator(".selection-jump a")
    expect(jump).to_be_hidden()
    page.locator("tbody input[type=checkbox]").check()
    jump.click()
    expect(page.locator("#selection-title")).to_be_in_viewport()

    page.locator(".page-actions details.menu summary").first.click()
    box = page.locator(".page-actions .menu-list").first.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
