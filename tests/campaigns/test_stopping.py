"""Stop everything now: asked again at the moment of sending, told on every page, undone with a reason."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection, transaction
from django.test import Client

from automation.runtime.runner import process_executions
from campaigns import stopping
from campaigns.models import SendingStop
from campaigns.policy import CampaignPolicies
from core import clock as core_clock
from core.errors import Invalid, Refused
from core.locks import lock_contacts
from core.tenancy import workspace_scope
from sms import trial
from sms.models import ProviderAccount, SmsLog
from tests import people as members
from tests.campaigns.reading import text_of, url
from tests.clocks import MONDAY_MORNING, MovableClock
from tests.concurrency import threads
from tests.factories import make
from tests.scenario import Scenario, assert_conserved
from workspaces.models import AuditRecord, User, Workspace

WORDS = "wrong list"


@pytest.fixture
def scenario(workspace: Workspace, clock: MovableClock) -> Scenario:
    return Scenario(people=3)


def test_nothing_is_claimed_while_everything_is_stopped(scenario: Scenario):
    stopping.stop(reason=WORDS, user=None)
    assert scenario.tick().claimed == 0
    assert (scenario.provider.asked, scenario.statuses()) == ([], {"active": 3})
    assert_conserved()


def test_whoever_was_claimed_before_the_stop_goes_back_unsent(scenario: Scenario, workspace: Workspace):
    token, ids = uuid4(), [scenario.execution(i).pk for i in range(3)]
    scenario.campaign.executions.update(status="queued", lock_token=token, locked_at=core_clock.now())
    stopping.stop(reason=WORDS, user=None)
    process_executions(workspace.pk, ids, token)
    assert (scenario.provider.asked, scenario.statuses()) == ([], {"active": 3})
    assert not SmsLog.objects.exists()


def test_after_the_resume_everybody_gets_their_message_once(scenario: Scenario):
    stopping.stop(reason=WORDS, user=None)
    scenario.settle()
    stopping.resume(reason="list mended", user=None)
    scenario.settle()
    assert len(scenario.provider.accepted) == 3
    assert_conserved()


def test_other_workspaces_go_on(scenario: Scenario, other_workspace: Workspace, clock: MovableClock):
    with workspace_scope(other_workspace.pk):
        stopping.stop(reason=WORDS, user=None)
    scenario.settle()
    assert len(scenario.provider.accepted) == 3


def test_what_was_on_its_way_is_kept(scenario: Scenario, workspace: Workspace, owner: User):
    leaving = make(SmsLog, workspace, status="sending")
    make(SmsLog, workspace, status="delivered")
    made = stopping.stop(reason=WORDS, user=owner)
    assert (made.on_the_way, made.stopped_by) == ([leaving.pk], owner)
    row = AuditRecord.objects.get(event="campaign.sending_stopped")
    assert (row.user, row.new) == (owner, {"reason": WORDS, "in_work": 1})


def test_a_test_message_does_not_leave_either(scenario: Scenario, owner: User):
    stopping.stop(reason=WORDS, user=None)
    account = ProviderAccount.objects.get()
    with pytest.raises(trial.SendingStopped):
        trial.send_test(account, to="09121234567", text="x", sender="50001", key=uuid4(), user=owner)
    assert scenario.provider.asked == []


def test_a_stop_and_a_resume_need_a_reason(scenario: Scenario):
    for move in (stopping.stop, stopping.resume):
        with pytest.raises(Invalid):
            move(reason="  ", user=None)


def test_a_second_stop_and_a_second_resume_change_nothing(scenario: Scenario):
    stopping.stop(reason=WORDS, user=None)
    with pytest.raises(Refused):
        stopping.stop(reason="again", user=None)
    stopping.resume(reason="done", user=None)
    with pytest.raises(Refused):
        stopping.resume(reason="again", user=None)
    assert SendingStop.objects.count() == 1


def test_the_stop_costs_the_worker_and_the_tick_no_question(
    scenario: Scenario, clock: MovableClock, django_assert_num_queries: Callable[..., Any]
):
    with django_assert_num_queries(3):
        assert CampaignPolicies().due(clock.now())
    stopping.stop(reason=WORDS, user=None)
    with django_assert_num_queries(2):
        assert CampaignPolicies().due(clock.now()) == []
    assert CampaignPolicies().for_campaigns(scenario.campaign.workspace_id, [scenario.campaign.pk])


# -- pages --------------------------------------------------------------------------------------------


def test_the_button_stops_and_every_page_says_so(scenario: Scenario, web: Client):
    web.post(url("stop-now"), {"reason": WORDS})
    for address in ("/automation/campaigns/", "/automation/workflows/", "/automation/blacklist/", "/"):
        assert 'id="sending-stopped"' in web.get(address).content.decode()
    page = text_of(web.get(url("stop")))
    assert (WORDS in page, "No message was on its way" in page) == (True, True)

    web.post(url("stop-resume"), {"reason": "list mended"})
    after = web.get(url("stop"))
    assert 'id="sending-stopped"' not in after.content.decode()
    assert "list mended" in text_of(after)


def test_the_page_lists_what_may_still_arrive(scenario: Scenario, workspace: Workspace, web: Client):
    leaving = make(SmsLog, workspace, status="sending")
    web.post(url("stop-now"), {"reason": WORDS})
    page = text_of(web.get(url("stop")))
    assert "1 message had left" in page
    assert leaving.phone_number in page


def test_without_a_reason_the_page_asks_for_it(scenario: Scenario, web: Client):
    answer = web.post(url("stop-now"), {"reason": ""})
    assert (answer.status_code, SendingStop.objects.count()) == (422, 0)
    assert "Say why" in text_of(answer)


# -- two at once --------------------------------------------------------------------------------------


@pytest.fixture
def shop(transactional_db: None) -> Iterator[Workspace]:
    if connection.vendor != "postgresql":
        pytest.skip("needs PostgreSQL")
    core_clock.use_process_clock(MovableClock(MONDAY_MORNING.astimezone(UTC)))
    made = members.make_workspace("bazaar")
    with workspace_scope(made.pk):
        yield made
    core_clock.use_process_clock(None)


@pytest.mark.concurrency
@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_a_stop_waits_for_messages_being_prepared_and_lists_them(shop: Workspace):
    """A worker is about to commit its message rows; the stop comes after it and knows of them."""
    prepared: list[int] = []
    held = threading.Event()

    def work(place: int) -> object:
        if place == 1:
            assert held.wait(10)
            return stopping.stop(reason=WORDS, user=None).on_the_way
        with transaction.atomic():
            lock_contacts(shop.pk, ["09120000001"], exclusive=True, sends=True)
            held.set()
            wait_until(somebody_waits)
            prepared.append(make(SmsLog, shop, status="sending").pk)
        return None

    _none, on_the_way = threads.at_once(2, work, workspace_id=shop.pk)
    assert on_the_way == prepared != []


def somebody_waits() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database "
            "WHERE locktype = 'advisory' AND NOT granted AND datname = current_database()"
        )
        return bool(cursor.fetchone()[0])


def wait_until(happens: Callable[[], bool]) -> None:
    stop_at = time.monotonic() + 10
    while not happens():
        assert time.monotonic() < stop_at
        time.sleep(0.01)
