"""The health page and its JSON, and the support page: every state with what to do about it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings as conf
from django.test import Client

from automation.models import DailyCounter, WorkflowExecution
from automation.states import EndReason
from campaigns import checkup
from campaigns.models import Campaign
from core.heartbeat import beat
from sms.models import ProviderAccount, SmsLog
from tests.campaigns import builders
from tests.campaigns.reading import statements, text_of, url
from tests.clocks import MovableClock
from tests.factories import make
from workspaces.models import Workspace

pytestmark = pytest.mark.usefixtures("workspace", "clock")


def levels(clock: MovableClock) -> dict[str, str]:
    return {finding.key.partition(":")[0]: finding.level for finding in checkup.look(clock.now())}


def stuck(clock: MovableClock, *, minutes: int) -> WorkflowExecution:
    campaign = builders.running()
    builders.enrol(campaign, builders.people(1))
    at = clock.now() - timedelta(minutes=minutes)
    token = "00000000-0000-0000-0000-000000000001"
    WorkflowExecution.objects.update(status="queued", locked_at=at, lock_token=token)
    return WorkflowExecution.objects.get()


def checked(web: Client, campaign: Campaign) -> Any:
    return web.get(f"{url('support')}?check=campaign&campaign={campaign.pk}")


def test_a_fresh_installation_with_signs_of_life_is_well(clock: MovableClock) -> None:
    beat("tick")
    beat("queue")
    builders.channel()
    found = levels(clock)
    assert {key for key, level in found.items() if level != "ok"} <= {"disk"}
    assert next(iter(found)) == "scheduler"


@pytest.mark.parametrize(
    ("minutes", "level"), [(4, "ok"), (6, "bad")], ids=["four minutes ago", "six minutes ago"]
)
def test_the_scheduler_is_missed_after_five_minutes(clock: MovableClock, minutes: int, level: str) -> None:
    beat("tick")
    clock.advance(minutes=minutes)
    assert levels(clock)["scheduler"] == level


@pytest.mark.parametrize(("minutes", "level"), [(4, "ok"), (6, "bad")])
def test_people_in_the_hands_of_workers_do_not_stand_still(
    clock: MovableClock, minutes: int, level: str
) -> None:
    stuck(clock, minutes=minutes)
    assert levels(clock)["queue"] == level


def test_each_trouble_has_its_finding(
    web: Client, clock: MovableClock, workspace: Workspace, settings: Any, tmp_path: Any
) -> None:
    settings.VAR_DIR = tmp_path
    (tmp_path / "spool").mkdir()
    (tmp_path / "spool" / "answers").write_text("a line\n")
    row = stuck(clock, minutes=60)
    WorkflowExecution.objects.filter(pk=row.pk).update(
        status="failed", active_key=None, locked_at=None, lock_token=None, completed_at=clock.now(),
        end_reason=EndReason.POISON,
    )  # fmt: skip
    ProviderAccount.objects.update(
        paused_until=clock.now() + timedelta(minutes=20), paused_since=clock.now(), paused_reason="no_credit"
    )
    make(SmsLog, workspace, status="unknown")

    found = levels(clock)
    assert [found[key] for key in ("account", "unknown", "poisoned", "spool")] == [
        "bad",
        "warn",
        "warn",
        "warn",
    ]
    page = text_of(web.get(url("checkup")))
    assert "Nothing is tried before the pause is over." in page
    assert "Mend the cause, then try the step again." in page


def test_machines_are_told_the_worst(web: Client, clock: MovableClock) -> None:
    beat("tick")
    beat("queue")
    builders.channel()
    assert web.get(url("checkup-json")).json()["status"] in ("ok", "warn")  # the disk of this machine
    clock.advance(hours=1)
    answer = web.get(url("checkup-json"))
    body = answer.json()
    assert (answer.status_code, body["status"]) == (503, "bad")
    assert body["findings"][0]["key"] == "scheduler"
    assert body["findings"][0]["todo"]


def test_support_lists_what_stands_still_and_what_was_given_up(
    web: Client, clock: MovableClock, workspace: Workspace
) -> None:
    row = stuck(clock, minutes=conf.LEASE_SECONDS // 60 + 1)
    message = make(SmsLog, workspace, status="unknown")
    html = web.get(url("support")).content.decode()
    assert f"/targets/{row.subject_id}/" in html
    assert f"/automation/sms-unknown/{message.pk}/look" in html


def test_the_books_of_a_campaign_are_checked_on_request(web: Client) -> None:
    campaign = builders.running()
    builders.enrol(campaign, builders.people(3))
    page = checked(web, campaign)
    assert "Nobody is missing" in text_of(page)
    WorkflowExecution.objects.filter(subject_id__gt=0).update(wake_at="2026-11-30T10:00Z")
    page = checked(web, campaign)
    assert "stands at a step it never entered" in text_of(page)


def test_a_campaign_too_large_to_wait_for_is_left_to_the_command(
    web: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("campaigns.support.MOST_PEOPLE", 2)
    campaign = builders.running()
    builders.enrol(campaign, builders.people(3))
    page = checked(web, campaign)
    assert f"manage.py conservation_check --campaign {campaign.pk}" in text_of(page)


def test_the_counters_are_checked_on_request(web: Client, workspace: Workspace) -> None:
    assert "The counters are what the messages say." in text_of(
        web.get(url("support"), {"check": "counters"})
    )
    DailyCounter.objects.create(
        workspace=workspace, scope_type="workspace", scope_id=workspace.pk, day="2026-11-30", used=7
    )
    assert "the counter says 7, the messages say 0" in text_of(web.get(url("support"), {"check": "counters"}))


def test_another_workspaces_campaign_is_not_checked(web: Client, other_workspace: Workspace) -> None:
    foreign = make(Campaign, other_workspace)
    assert checked(web, foreign).status_code == 404


def test_both_pages_cost_the_same_however_much_there_is(web: Client, workspace: Workspace) -> None:
    beat("tick")
    before = [statements(web, url(name)) for name in ("checkup", "support")]
    for _ in range(5):
        make(SmsLog, workspace, status="unknown")
        make(WorkflowExecution, workspace, status="failed", end_reason=EndReason.POISON)
    after = [statements(web, url(name)) for name in ("checkup", "support")]
    assert after[0] <= before[0] + 1  # since when the oldest is unknown
    assert after[1] <= before[1] + 1  # the names of the people
    assert max(after) <= 24
