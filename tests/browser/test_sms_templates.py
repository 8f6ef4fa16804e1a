"""One SMS template from its first word to its removal, at the width of a desk and of a phone."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.utils import translation
from django.utils.translation import gettext as _
from playwright.sync_api import Page, ViewportSize, expect

from automation import publishing
from automation.builder import outline
from automation.models import Workflow, WorkflowVersion
from core.tenancy import workspace_scope
from sms.models import SmsTemplate
from tests.browser.accessibility import assert_accessible
from tests.people import make_member, make_workspace
from workspaces.models import Role, User, Workspace

pytestmark = pytest.mark.django_db(transaction=True)
PAGE = "/automation/sms-templates/"
WIDE: ViewportSize = {"width": 1280, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}
_TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture
def home() -> Workspace:
    return make_workspace("kaveh", name="کتاب کاوه")


@pytest.fixture
def boss(home: Workspace) -> User:
    return make_member(home, Role.OWNER)


def first_text(workflow: Workflow) -> str:
    """What the first step of the draft says."""
    with workspace_scope(workflow.workspace_id):
        draft = WorkflowVersion.objects.get(workflow=workflow, status="draft")
        lists = outline.read(publishing.load_definition(draft))
    return str(lists.lists[lists.root][0].config["body"])


def insert_into_a_step(page: Page, workflow: Workflow, name: str) -> None:
    """Through the button of the step's editor, in place of the text that stood there."""
    with workspace_scope(workflow.workspace_id):
        draft = WorkflowVersion.objects.get(workflow=workflow, status="draft")
        lists = outline.read(publishing.load_definition(draft))
    page.goto(f"/automation/workflows/{workflow.pk}/builder/steps/{lists.lists[lists.root][0].key}")
    page.locator("#id_body").fill("")
    page.locator("summary", has_text=_("Insert a template")).click()
    page.get_by_role("button", name=name, exact=True).click()
    page.get_by_role("button", name=_("Save and go back")).click()
    page.wait_for_url(re.compile("/builder#step-"))


def look(page: Page, shot: Callable[[str], None], name: str) -> None:
    assert page.evaluate(_TOO_WIDE) <= 0, f"{name} is too wide"
    assert_accessible(page)
    shot(name)


@pytest.mark.parametrize("language", ["fa", "en"], indirect=True)
def test_a_template_is_written_copied_changed_downloaded_and_removed(
    page: Page, sign_in: Callable[[Any], None], shot: Callable[[str], None], home: Workspace, boss: User,
    language: str,
) -> None:  # fmt: skip
    with workspace_scope(home.pk), translation.override("en"):
        workflow = publishing.create_workflow(name="A", template_key="single_message", user=boss)
    sign_in(boss)
    with translation.override(language):
        _written(page, shot)
        insert_into_a_step(page, workflow, "Offer")
        assert first_text(workflow).startswith("Hi {target.first_name}")
        _changed_on_a_phone(page, shot)
        assert first_text(workflow).startswith("Hi {target.first_name}"), "a step keeps its copy"
        _downloaded_and_removed(page)
    assert SmsTemplate.unscoped.get().deleted_at is not None


def _written(page: Page, shot: Callable[[str], None]) -> None:
    """An empty list, the form with its variables, its counter and its preview, and the list with a row."""
    page.goto(PAGE)
    expect(page.get_by_text(_("No template yet"))).to_be_visible()
    page.get_by_role("link", name=_("New template")).first.click()
    page.locator("summary", has_text=_("Variables")).click()
    expect(page.get_by_text("{target.first_name}").first).to_be_visible()
    page.get_by_label(_("Name"), exact=True).fill("Offer")
    text = page.get_by_label(_("Text"), exact=True)
    text.fill("Hi {target.first_name}, " + "all books are cheaper. " * 7)
    one = page.locator("part-counter").inner_text()
    expect(page.locator("#preview")).not_to_contain_text("{target.first_name}")
    text.fill("Hi {target.first_name}, “" + "all books are cheaper. " * 7)
    expect(page.locator("#preview mark", has_text="“").first).to_be_visible()
    assert page.locator("part-counter").inner_text() != one  # one such character makes every letter dearer
    look(page, shot, "template-form")
    page.get_by_role("button", name=_("Save"), exact=True).click()
    expect(page.get_by_role("link", name="Offer")).to_be_visible()
    look(page, shot, "templates")


def _changed_on_a_phone(page: Page, shot: Callable[[str], None]) -> None:
    page.set_viewport_size(PHONE)
    page.goto(PAGE)
    look(page, shot, "templates-phone")
    page.get_by_role("link", name="Offer").click()
    look(page, shot, "template-form-phone")
    page.get_by_label(_("Text"), exact=True).fill("سلام")
    page.get_by_role("button", name=_("Save"), exact=True).click()
    expect(page.get_by_text(_("The template was saved. Steps that use it keep their text."))).to_be_visible()


def _downloaded_and_removed(page: Page) -> None:
    page.locator("summary", has_text=_("Download")).click()
    with page.expect_download() as waiting:
        page.get_by_role("link", name=_("CSV"), exact=True).click()
    assert waiting.value.suggested_filename == "sms-templates.csv"
    page.get_by_role("button", name=_("Remove")).first.click()
    page.locator("dialog[open]").get_by_role("button", name=_("Yes, remove")).click()
    expect(page.get_by_text(_("No template yet"))).to_be_visible()
