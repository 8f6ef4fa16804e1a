"""A colleague finds a person from anywhere by keyboard, sees why they wait, and notes down what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from core.tenancy import workspace_scope
from targets.models import Target
from tests.browser.accessibility import assert_accessible
from tests.clocks import MovableClock
from tests.factories import make_activity
from tests.people import make_member, make_workspace
from tests.scenario import Scenario, send, wait
from workspaces.models import Role, User

pytestmark = pytest.mark.django_db(transaction=True)
FOLLOW_UP: dict[str, Any] = {
    "type": "action", "subtype": "create_followup",
    "config": {"title": "زنگ به {first_name}", "due_in": {"amount": 2, "unit": "day"}},
}  # fmt: skip


@pytest.fixture
def boss(clock: MovableClock) -> User:
    """The owner of a workspace with people on their way, one of whom is to be called."""
    workspace = make_workspace("kaveh", name="کتاب کاوه")
    with workspace_scope(workspace.pk):
        boss = make_member(workspace, Role.OWNER)
        scenario = Scenario(FOLLOW_UP, send("سلام {first_name}"), wait(2), send("یادآوری"), people=3, cap=1)
        first = scenario.targets[0]
        Target.objects.filter(pk=first.pk).update(first_name="سارا", last_name="کریمی", owner=boss)
        first.refresh_from_db()
        first.save()
        scenario.settle()
        make_activity(workspace, target=first, title="جلسهٔ معرفی", kind="meeting", owner=boss)
    return boss


@pytest.mark.parametrize("screen", ["desktop", "phone"], indirect=True)
def test_from_anywhere_to_a_person_and_what_is_to_be_done(
    page: Page, sign_in: Callable[[Any], None], shot: Callable[[str], None], boss: User, screen: str
) -> None:
    sign_in(boss)
    page.goto("/")
    if screen == "desktop":
        page.keyboard.press("/")
        page.keyboard.type("كريمي")
        option = page.get_by_role("option", name="سارا کریمی")
        expect(option).to_be_visible()
        page.keyboard.press("ArrowDown")
        expect(option).to_have_attribute("aria-selected", "true")
        assert_accessible(page)
        shot("search")
        page.keyboard.press("Enter")
    else:
        page.get_by_role("link", name="جست‌وجو", exact=True).click()
        page.get_by_label("نام، شماره").fill("کریمی")
        page.get_by_role("button", name="جست‌وجو", exact=True).click()
        page.get_by_role("link", name="سارا کریمی").click()
    page.get_by_role("link", name="اتوماسیون").last.click()
    page.get_by_label("کمپین", exact=True).select_option(index=1)
    page.get_by_role("button", name="توضیح بده").click()
    expect(page.locator("#answer")).to_contain_text("در این کمپین است")
    shot("person-why")
    assert_accessible(page)
    page.get_by_role("link", name="فعالیت‌ها", exact=True).last.click()
    expect(page.get_by_text("زنگ به سارا")).to_be_visible()
    page.get_by_role("button", name="انجام شد: جلسهٔ معرفی").click()
    expect(page.get_by_role("button", name="باز کردن دوباره: جلسهٔ معرفی")).to_be_visible()
    shot("person-activities")
    page.goto("/targets/activities/?whose=all")
    shot("activities")
