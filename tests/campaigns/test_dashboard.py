"""The page of one campaign: its numbers, its people, its log."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from automation.models import AutomationSettings, CounterScope, DailyCounter, WorkflowExecution
from campaigns import actions
from campaigns.models import Campaign
from core.heartbeat import beat
from sms.models import SmsLog
from targets.models import Target
from tests.campaigns import builders
from tests.campaigns.reading import card, statements, text_of, url
from tests.clocks import MovableClock
from workspaces.models import User, Workspace

pytestmark = pytest.mark.usefixtures("workspace", "clock")
ClientOf = Callable[..., Client]


def log(campaign: Campaign, status: str, *, attempt: int = 1, subject_id: int = 0) -> None:
    number = SmsLog.objects.count()
    SmsLog.objects.create(
        workspace_id=campaign.workspace_id,
        campaign_id=campaign.pk,
        subject_id=subject_id,
        status=status,
        attempt_number=attempt,
        idempotency_key=f"k{number}",
        partition_key=f"p{number}",
        row_key=f"r{number}",
    )


# -- dashboard ----------------------------------------------------------------------------------------


def prepared(clock: MovableClock) -> Campaign:
    """A campaign with people in every state and messages of every fate."""
    campaign = builders.running(daily_limit=10)
    ids = builders.people(9)
    builders.enrol(campaign, ids)
    ended = {"active_key": None, "completed_at": clock.now()}
    states: list[tuple[str, dict[str, Any]]] = [
        ("waiting", {"next_run_at": clock.now() + timedelta(days=1)}),
        ("waiting", {"next_run_at": clock.now() + timedelta(days=2)}),
        ("completed", ended),
        ("completed", ended),
        ("completed", ended),
        ("failed", ended),
        ("blacklisted", {"active_key": None}),
    ]
    for pk, (status, columns) in zip(ids, states, strict=False):
        WorkflowExecution.objects.filter(subject_id=pk).update(status=status, **columns)
    for status in ("submitted", "sent", "delivered", "undelivered", "failed", "rejected", "unknown"):
        log(campaign, status)
    log(campaign, "delivered", attempt=2)
    return campaign


def test_the_cards_show_what_the_rows_say(web: Client, clock: MovableClock) -> None:
    campaign = prepared(clock)
    page = web.get(url("detail", campaign.pk))
    found = {
        key: card(page, key)
        for key in (
            "total", "active", "waiting", "completed", "failed", "blacklisted",
            "sent", "sms-failed", "retried", "unknown", "limit",
        )
    }  # fmt: skip
    assert found == {
        "total": "9", "active": "2", "waiting": "2", "completed": "3", "failed": "1", "blacklisted": "1",
        "sent": "5", "sms-failed": "2", "retried": "1", "unknown": "1", "limit": "10",
    }  # fmt: skip


def test_what_is_left_for_today_is_the_counter_the_sending_uses(
    web: Client, clock: MovableClock, workspace: Workspace
) -> None:
    campaign = builders.running(daily_limit=10)
    DailyCounter.objects.create(
        workspace=workspace,
        scope_type=CounterScope.CAMPAIGN,
        scope_id=campaign.pk,
        day="2026-11-30",
        used=7,
    )
    assert card(web.get(url("detail", campaign.pk)), "remaining") == "3"


def test_a_smaller_room_of_the_workspace_is_what_is_left(
    web: Client, clock: MovableClock, workspace: Workspace
) -> None:
    AutomationSettings.objects.create(workspace=workspace, global_daily_limit=12)
    campaign = builders.running(daily_limit=10)
    DailyCounter.objects.create(
        workspace=workspace,
        scope_type=CounterScope.WORKSPACE,
        scope_id=workspace.pk,
        day="2026-11-30",
        used=11,
    )
    page = web.get(url("detail", campaign.pk))
    assert (card(page, "remaining"), card(page, "workspace-limit")) == ("1", "12")


def test_the_next_ten_stand_in_claim_order(web: Client, clock: MovableClock) -> None:
    campaign = builders.running()
    ids = builders.people(12)
    builders.enrol(campaign, ids)
    for place, pk in enumerate(reversed(ids)):
        WorkflowExecution.objects.filter(subject_id=pk).update(
            next_run_at=clock.now() + timedelta(hours=place + 1)
        )
    page = web.get(url("live", campaign.pk)).content.decode()
    names = re.findall(r"<bdi>(نفر\d+)</bdi>", page)
    people = Target.objects.in_bulk(ids)
    assert names == [people[pk].first_name for pk in list(reversed(ids))[:10]]


def test_whoever_found_no_room_is_in_line_and_has_no_past_time(web: Client, clock: MovableClock) -> None:
    campaign = builders.running(daily_limit=0)
    builders.enrol(campaign, builders.people(1))
    clock.advance(hours=3)

    page = text_of(web.get(url("live", campaign.pk)))
    assert "in line to send" in page
    assert "30 Nov 2026, 09:00" not in page
    assert "Those in line go on from tomorrow, 09:00." in page


def test_the_dashboard_costs_the_same_however_many_people(web: Client) -> None:
    beat("tick")
    campaign = builders.running()
    addresses = [url(name, campaign.pk) for name in ("detail", "live", "people", "logs")]
    builders.enrol(campaign, builders.people(2))
    few = [statements(web, address) for address in addresses]
    builders.enrol(campaign, builders.people(45))

    assert [statements(web, address) for address in addresses] == few
    assert max(few) <= 32


def test_the_numbers_ask_for_themselves_until_the_campaign_is_over(web: Client) -> None:
    campaign = builders.running()
    assert 'hx-trigger="every 5s, refresh"' in web.get(url("live", campaign.pk)).content.decode()
    actions.end(campaign.pk, user=None)
    Campaign.objects.update(draining=False)
    assert "hx-trigger" not in web.get(url("live", campaign.pk)).content.decode()


def test_a_changed_status_asks_for_the_whole_page(web: Client) -> None:
    campaign = builders.running()
    assert "HX-Refresh" not in web.get(url("live", campaign.pk), {"status": "active"}).headers
    assert web.get(url("live", campaign.pk), {"status": "draft"})["HX-Refresh"] == "true"


def test_the_buttons_fit_the_state(web: Client) -> None:
    campaign = builders.running()
    assert 'id="pause-open"' in web.get(url("detail", campaign.pk)).content.decode()
    actions.pause(campaign.pk, user=None)
    html = web.get(url("detail", campaign.pk)).content.decode()
    assert 'id="resume-open"' in html
    assert 'id="pause-open"' not in html


def test_the_question_says_to_how_many(web: Client) -> None:
    campaign = builders.running()
    builders.enrol(campaign, builders.people(3))
    page = text_of(web.get(url("detail", campaign.pk)))
    assert "3 people stay where they are" in page
    assert "3 people stop for good" in page
    assert "The 3 people inside walk on as before." in page


def test_a_button_moves_the_campaign_and_comes_back(web: Client) -> None:
    campaign = builders.running()
    response = web.post(url("pause", campaign.pk), follow=True)
    campaign.refresh_from_db()
    assert campaign.status == "paused"
    assert "The campaign is paused." in text_of(response)


def test_a_refused_button_says_why(web: Client) -> None:
    response = web.post(url("activate", builders.draft().pk), follow=True)
    assert "The SMS provider is switched off or has no credentials" in text_of(response)


def test_somebody_limited_to_own_people_sees_only_them(seller: User, client_of: ClientOf) -> None:
    campaign = builders.running()
    mine, others = builders.people(2, owner=seller), builders.people(3)
    builders.enrol(campaign, [*mine, *others])
    log(campaign, "sent", subject_id=mine[0])
    log(campaign, "sent", subject_id=others[0])
    web = client_of(seller, language="en")

    page = web.get(url("detail", campaign.pk))
    assert (card(page, "total"), card(page, "sent")) == ("2", "1")
    table = web.get(url("people", campaign.pk)).content.decode()
    assert len(re.findall(r"<bdi>نفر\d+</bdi>", table)) == 2
    log_page = web.get(url("logs", campaign.pk)).content.decode()
    assert len(re.findall(r"<bdi>نفر\d+</bdi>", log_page)) == 2


# -- people and log -----------------------------------------------------------------------------------


def test_people_are_filtered_by_status(web: Client, clock: MovableClock) -> None:
    campaign = prepared(clock)
    html = web.get(url("people", campaign.pk), {"status": "completed"}).content.decode()
    assert len(re.findall(r"<bdi>نفر\d+</bdi>", html)) == 3


def test_the_log_is_newest_first_by_pages(web: Client) -> None:
    campaign = builders.draft()
    builders.enrol(campaign, builders.people(60))
    builders.channel()
    actions.activate(campaign.pk, user=None)

    first = web.get(url("logs", campaign.pk)).content.decode()
    assert first.count("The campaign started</span>") == 50
    older = re.search(r"\?before=(\d+)", first)
    assert older
    second = web.get(url("logs", campaign.pk), {"before": older.group(1)}).content.decode()
    assert second.count("The campaign started</span>") == 10
    assert second.count("Entered the campaign</span>") == 40


def test_the_log_is_filtered_by_what_happened(web: Client, owner: User) -> None:
    campaign = builders.draft()
    builders.enrol(campaign, builders.people(2), user=owner)
    html = web.get(url("logs", campaign.pk), {"type": "enrolled"}).content.decode()
    assert html.count("Entered the campaign</span>") == 2
    assert str(owner) in html
    assert (
        "Entered the campaign</span>"
        not in web.get(url("logs", campaign.pk), {"type": "failed"}).content.decode()
    )
