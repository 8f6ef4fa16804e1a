"""A person decides about those who are in another campaign; those inside are moved by their buttons."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from automation.models import WorkflowExecution
from campaigns.models import Campaign, EnrollmentBatch
from core import clock as core_clock
from core.tenancy import workspace_scope
from tests.browser.accessibility import assert_accessible
from tests.campaigns import builders
from tests.clocks import MONDAY_MORNING, MovableClock
from tests.people import make_member, make_workspace
from workspaces.models import Role, User

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def boss() -> Iterator[User]:
    """The owner of a workspace with three people in one campaign, of whom two are reviewed for another."""
    core_clock.use_process_clock(MovableClock(MONDAY_MORNING.astimezone(UTC)))
    workspace = make_workspace("kaveh")
    with workspace_scope(workspace.pk):
        people = builders.people(4)
        builders.enrol(builders.running(name="Autumn"), people[:3])
        builders.review(builders.running(name="Winter"), people)
    yield make_member(workspace, Role.OWNER)
    core_clock.use_process_clock(None)


def walks(name: str) -> list[str]:
    rows = WorkflowExecution.unscoped.filter(campaign__name=name).order_by("subject_id")
    return list(rows.values_list("status", flat=True))


def background(button: Locator) -> str:
    return str(button.evaluate("button => getComputedStyle(button).backgroundColor"))


@pytest.mark.parametrize(("screen", "language"), [("phone", "en")], indirect=True)
def test_conflicts_are_decided_and_the_people_inside_are_moved(
    page: Page, sign_in: Callable[[Any], None], boss: User, shot: Callable[[str], None]
) -> None:
    sign_in(boss)
    winter = Campaign.unscoped.get(name="Winter")
    page.goto(f"/automation/campaigns/enrollments/{EnrollmentBatch.unscoped.get(campaign=winter).pk}")
    commit = page.locator("#commit")
    expect(commit).to_be_disabled()
    page.get_by_role("button", name="Where?").first.click()
    expect(page.locator("#elsewhere-content")).to_contain_text("Autumn")
    assert_accessible(page)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Leave all of them out").click()
    expect(commit).to_be_enabled()
    page.locator(".decision button[value=add]").first.click()
    expect(commit).to_have_text("Add 2 people")
    chosen, other = page.locator(".decision").nth(1).locator("button[name=answer]").all()
    assert background(chosen) != background(other)
    assert_accessible(page)
    shot("conflicts")
    commit.click()
    expect(page.locator("#outcome")).to_be_visible()
    assert walks("Winter") == ["active", "active"]

    page.goto(f"/automation/campaigns/{winter.pk}/targets")
    page.get_by_role("button", name="Pause").first.click()
    expect(page.get_by_text("The person is paused.")).to_be_visible()
    assert sorted(walks("Winter")) == ["active", "paused"]
    page.get_by_label("Everybody found (2)").check()
    page.locator("#remove-selection-open").click()
    expect(page.locator("#remove-selection")).to_be_visible()
    assert_accessible(page)
    page.locator("#remove-selection .btn-danger").click()
    expect(page.locator(".toasts")).to_contain_text("2")
    shot("removed")
    assert (walks("Winter"), walks("Autumn")) == (["cancelled"] * 2, ["active"] * 3)
