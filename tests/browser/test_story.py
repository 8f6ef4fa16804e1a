"""The main job as a marketer does it: from a messy spreadsheet to numbers that move."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from automation.models import Workflow
from automation.runtime.tick import run_tick
from campaigns.models import Campaign
from core.tenancy import workspace_scope
from script import processes
from targets.models import Target
from tests import people
from tests.browser.accessibility import assert_accessible
from tests.clocks import MovableClock
from tests.scenario import open_scripted_channel

pytestmark = pytest.mark.django_db(transaction=True)
PEOPLE = Path(__file__).resolve().parents[2] / "demo" / "people.xlsx"


class Visit:
    """A page with a habit: every stop is checked for accessibility, overflow and shown on a picture."""

    def __init__(self, page: Page, shot: Callable[[str], None]) -> None:
        self.page, self.shot = page, shot

    def look(self, name: str) -> None:
        self.page.wait_for_load_state("load")
        assert_accessible(self.page)
        wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert self.page.evaluate(wide) <= 0, f"{name} scrolls sideways"
        self.shot(name)

    def submit(self, form: str = "form.form") -> None:
        self.page.locator(f"{form} button.btn-primary").first.click()

    def confirm(self, dialog: str) -> None:
        self.page.locator(f"#{dialog}-open").click()
        expect(self.page.locator(f"#{dialog}")).to_be_visible()
        self.page.locator(f"#{dialog} .sheet-foot .btn:not([data-sheet-close])").click()


@pytest.fixture
def visit(page: Page, shot: Callable[[str], None]) -> Visit:
    return Visit(page, shot)


@pytest.mark.parametrize("screen", ["desktop", "phone"], indirect=True)
@pytest.mark.parametrize("language", ["fa", "en"], indirect=True)
def test_from_a_spreadsheet_to_numbers_that_move(
    visit: Visit, page: Page, clock: MovableClock, language: str, screen: str
):
    home = people.make_workspace("bazaar", name="بازار")
    owner = people.make_member(home, "owner", email="owner@bazaar.example")
    with workspace_scope(home.pk):
        provider = open_scripted_channel()

    sign_in(visit, owner.email)
    visit.look("story-home")
    import_people(visit)
    workflow_from_template(visit, home.pk)
    campaign = create_campaign(visit, home.pk)
    enrol_everybody(visit)
    activate(visit, campaign)

    before = page.locator("#card-sent .card-value").inner_text()
    with workspace_scope(home.pk):
        run_tick()
    assert len(provider.accepted) == 100
    expect(page.locator("#card-sent .card-value")).not_to_have_text(before, timeout=15_000)
    visit.look("story-running")
    walk_round(visit, campaign, home.pk)


def sign_in(visit: Visit, email: str) -> None:
    page = visit.page
    page.goto("/")
    visit.look("story-sign-in")
    page.locator("input[name=username]").fill(email)
    page.locator("input[name=password]").fill(people.PASSWORD)
    page.locator("main form button.btn-primary").click()
    expect(page.locator("h1")).to_be_visible()


def import_people(visit: Visit) -> None:
    page = visit.page
    page.goto("/targets/imports/new/")
    visit.look("story-upload")
    page.locator("input[type=file]").set_input_files(PEOPLE)
    visit.submit()
    page.wait_for_selector("#mapping")
    visit.look("story-mapping")
    page.locator("input[name=new_list]").fill("فهرست بازار")
    visit.submit("#mapping")
    page.wait_for_selector("a[href$='refused.xlsx']", timeout=30_000)
    visit.look("story-imported")
    page.goto("/targets/")
    visit.look("story-people")


def workflow_from_template(visit: Visit, workspace_id: int) -> None:
    page = visit.page
    page.goto("/automation/workflows/create")
    page.locator("input[name=name]").fill("معرفی سه‌مرحله‌ای")
    page.locator("input[name=template][value=three_step_introduction]").check()
    visit.look("story-workflow-new")
    visit.submit()
    page.wait_for_url("**/builder**")
    visit.look("story-builder")
    visit.confirm("publish")
    published = Workflow.unscoped.filter(workspace_id=workspace_id, published_version__isnull=False)
    assert processes.wait_until(published.exists)
    page.wait_for_load_state("networkidle")
    page.goto("/automation/workflows/")
    visit.look("story-workflows")


def create_campaign(visit: Visit, workspace_id: int) -> Campaign:
    page = visit.page
    page.goto("/automation/campaigns/create")
    page.locator("input[name=name]").fill("کمپین پاییز")
    page.locator("[name=daily_limit]").fill("۱۰۰")
    visit.look("story-campaign-new")
    visit.submit("main form")
    assert processes.wait_until(Campaign.unscoped.filter(workspace_id=workspace_id).exists)
    page.wait_for_load_state("networkidle")
    campaign = Campaign.unscoped.get(workspace_id=workspace_id)
    assert campaign.daily_limit == 100
    page.goto(f"/automation/campaigns/{campaign.pk}/enrol?source=list")
    return campaign


def enrol_everybody(visit: Visit) -> None:
    page = visit.page
    page.locator("input[name=list]").first.check()
    visit.look("story-choose")
    visit.submit("#choose")
    page.wait_for_selector("#review")
    visit.look("story-review")
    page.locator("#commit").click()
    page.wait_for_load_state("networkidle")
    page.wait_for_selector("#outcome", timeout=30_000)
    visit.look("story-added")


def activate(visit: Visit, campaign: Campaign) -> None:
    visit.page.goto(f"/automation/campaigns/{campaign.pk}")
    visit.look("story-draft")
    visit.confirm("activate")
    assert processes.wait_until(Campaign.unscoped.filter(pk=campaign.pk, status="active").exists)
    visit.page.wait_for_load_state("networkidle")


def walk_round(visit: Visit, campaign: Campaign, workspace_id: int) -> None:
    """Every other page of the release, with data on it."""
    with workspace_scope(workspace_id):
        person = Target.objects.exclude(mobile="").order_by("pk")[0]
    pages: dict[str, str] = {
        "people-of-campaign": f"/automation/campaigns/{campaign.pk}/targets",
        "campaign-log": f"/automation/campaigns/{campaign.pk}/logs",
        "campaigns": "/automation/campaigns/",
        "person": f"/targets/{person.pk}/",
        "sms-log": "/automation/sms-logs/",
        "blacklist": "/automation/blacklist/",
        "sms-settings": "/settings/sms/",
        "settings": "/settings",
        "members": "/settings/members",
        "audit": "/settings/audit",
        "home": "/",
    }
    for name, address in pages.items():
        response: Any = visit.page.goto(address)
        assert response.status == 200, address
        visit.look(f"story-{name}")
