"""SMS accounts of every kind in a browser: boxes, order, kinds of lines, a test message, mistakes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from script import processes
from sms.models import ProviderAccount
from sms.simulator.server import PASSWORD, USERNAME, Simulator
from tests.browser.accessibility import assert_accessible
from tests.people import make_member, make_workspace
from tests.sms.messages import make_account
from workspaces.models import Role, User, Workspace

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def workspace() -> Workspace:
    return make_workspace("kaveh", name="کتاب کاوه")


@pytest.fixture
def boss(workspace: Workspace) -> User:
    return make_member(workspace, Role.OWNER)


@pytest.fixture
def accounts(workspace: Workspace) -> ProviderAccount:
    """The primary account with a line of every kind, and two that stand in."""
    details = {
        "30007002": {"kind": "service"},
        "4321": {"kind": "pattern", "text": "سلام {0}، کد شما {1} است."},
    }
    first = make_account(
        workspace, title="ملی‌پیامک", lines=["50004001", "30007002", "4321"], line_details=details
    )
    make_account(workspace, title="SOAP", kind="melipayamak_soap", is_primary=False, fallback_position=1)
    make_account(workspace, title="Another", kind="generic", is_primary=False, fallback_position=2)
    return first


@pytest.mark.parametrize("screen", ["desktop", "phone"], indirect=True)
@pytest.mark.parametrize("language", ["fa", "en"], indirect=True)
def test_every_page_of_accounts_is_accessible(
    page: Page,
    sign_in: Callable[[Any], None],
    shot: Callable[[str], None],
    boss: User,
    accounts: ProviderAccount,
) -> None:
    sign_in(boss)
    pages = {
        "sms-accounts": "/settings/sms/",
        "sms-account": f"/settings/sms/accounts/{accounts.pk}",
        "sms-account-soap": "/settings/sms/accounts/new?kind=melipayamak_soap",
        "sms-account-console": "/settings/sms/accounts/new?kind=melipayamak_console",
        "sms-account-generic": "/settings/sms/accounts/new?kind=generic",
    }
    for name, path in pages.items():
        page.goto(path)
        expect(page.locator("h1")).to_be_visible()
        assert_accessible(page)
        shot(name)


@pytest.mark.parametrize("screen", ["desktop", "phone"], indirect=True)
@pytest.mark.parametrize("language", ["fa", "en"], indirect=True)
def test_mistakes_are_shown_at_their_boxes(
    page: Page, sign_in: Callable[[Any], None], shot: Callable[[str], None], boss: User, watch: Any
) -> None:
    watch.allow("422")
    sign_in(boss)
    page.goto("/settings/sms/accounts/new?kind=generic")
    page.locator("#id_title").fill("X")
    page.locator("#id_base_url").fill("https://10.0.0.1/send")
    page.locator("#id_fields").fill("to = {number}")
    page.locator("#id_lines").fill("not a line")
    page.locator("#id_codes").fill("7 = accepted")
    page.locator("main form button.btn-primary").first.click()

    for name in ("base_url", "fields", "lines", "codes", "success_path"):
        expect(page.locator(f"#id_{name}")).to_have_attribute("aria-invalid", "true")
    assert_accessible(page)
    shot("sms-account-mistakes")


def test_a_provider_is_described_and_tried(
    page: Page, sign_in: Callable[[Any], None], boss: User, tmp_path: Path, settings: Any
) -> None:
    simulator = Simulator(tmp_path)
    simulator.start()
    sign_in(boss)
    page.goto("/settings/sms/accounts/new?kind=generic")
    for name, text in {
        "title": "Own", "username": USERNAME, "password": PASSWORD, "lines": "50004001",
        "base_url": f"{simulator.url}/generic/send",
        "fields": "user={username}\nsecret={password}\nto={to}\nline={sender}\nmessage={text}",
        "success_path": "status", "success_value": "ok", "id_path": "data.id",
    }.items():  # fmt: skip
        page.locator(f"#id_{name}").fill(text)
    page.locator("main form button.btn-primary").first.click()
    page.locator("#trial_number").fill("09123456789")
    page.locator("#test button.btn-primary").click()
    came = processes.wait_until(lambda: bool(simulator.accepted()))
    accepted = [message.number for message in simulator.accepted()]
    simulator.stop()

    assert came
    assert accepted == ["09123456789"]


def test_accounts_change_places(
    page: Page, sign_in: Callable[[Any], None], boss: User, accounts: ProviderAccount
) -> None:
    sign_in(boss)
    page.goto("/settings/sms/")
    page.locator('form:has(input[name="move"][value="up"]) button').first.click()

    order = ProviderAccount.unscoped.filter(fallback_position__isnull=False).order_by("fallback_position")
    titles = order.values_list("title", flat=True)
    assert processes.wait_until(lambda: list(titles.all()) == ["Another", "SOAP"])
