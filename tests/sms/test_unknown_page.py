from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from sms.models import SmsLog, SmsLogEvent, SmsStatus
from sms.reconcile import reconcile_due
from sms.settlement import FOR_GOOD
from tests.clocks import MovableClock
from tests.people import client_of
from tests.sms.messages import make_log, status_of
from workspaces.models import AuditRecord, User, Workspace

PAGE = "/automation/sms-unknown/"


@pytest.fixture
def english(owner: User, clock: MovableClock) -> Client:
    return client_of(owner, language="en")


def unknown(workspace: Workspace, **fields: Any) -> SmsLog:
    return make_log(workspace, status=SmsStatus.UNKNOWN, error_code="answer_timeout", **fields)


def shown(client: Client, query: str = "") -> set[int]:
    return {line["row"].pk for line in client.get(PAGE + query).context["lines"]}


def test_unknown_messages_are_listed_with_what_was_found(
    english: Client, workspace: Workspace, clock: MovableClock
) -> None:
    row = unknown(workspace)
    make_log(workspace)
    clock.advance(minutes=5)
    reconcile_due(clock.now())

    page = english.get(PAGE).content.decode()

    assert shown(english) == {row.pk}
    assert "Still unknown" in page
    assert "The account is gone, switched off, or had no turn." in page


def test_the_state_narrows(english: Client, workspace: Workspace, clock: MovableClock) -> None:
    looking, over = unknown(workspace), unknown(workspace, lookup_at=FOR_GOOD)
    settled = make_log(workspace, status=SmsStatus.SUBMITTED)
    SmsLogEvent.objects.create(
        workspace=workspace, sms_log=settled, event="lookup", provider_status="accepted",
        payload={"why": "listed"}, dedupe_key="lookup:1", occurred_at=clock.now(),
    )  # fmt: skip

    assert shown(english) == {looking.pk, over.pk}
    assert shown(english, "?state=looking") == {looking.pk}
    assert shown(english, "?state=for_good") == {over.pk}
    assert shown(english, "?state=settled") == {settled.pk}
    assert shown(english, "?state=nonsense") == {looking.pk, over.pk}


def test_number_and_campaign_narrow(english: Client, workspace: Workspace) -> None:
    one = unknown(workspace, phone_number="09121111111", campaign_id=7)
    unknown(workspace, phone_number="09122222222", campaign_id=8)

    assert shown(english, "?number=09121111111") == {one.pk}
    assert shown(english, "?campaign=7") == {one.pk}


def test_a_given_up_message_can_be_looked_up_again(
    english: Client, workspace: Workspace, clock: MovableClock
) -> None:
    row = unknown(workspace, lookup_at=FOR_GOOD, request_at=clock.now() - timedelta(days=9))

    response = english.post(reverse("sms:look-again", args=[row.pk]))

    assert response.status_code == 302
    assert SmsLogEvent.objects.filter(sms_log=row, event="lookup").exists()
    assert AuditRecord.objects.filter(event="sms.lookup_asked").count() == 1
    row.refresh_from_db()
    assert row.lookup_at == FOR_GOOD


def test_a_known_outcome_is_not_looked_up_again(english: Client, workspace: Workspace) -> None:
    row = make_log(workspace, status=SmsStatus.DELIVERED)

    english.post(reverse("sms:look-again", args=[row.pk]))

    assert status_of(row) == SmsStatus.DELIVERED
    assert not AuditRecord.objects.filter(event="sms.lookup_asked").exists()


def test_only_support_may_ask_again(operator: User, workspace: Workspace, clock: MovableClock) -> None:
    row = unknown(workspace)
    client = client_of(operator)

    assert client.get(PAGE).status_code == 200
    assert "/look" not in client.get(PAGE).content.decode()
    assert client.post(reverse("sms:look-again", args=[row.pk])).status_code == 403


def test_the_way_back_stays_on_the_site(english: Client, workspace: Workspace) -> None:
    row = unknown(workspace)
    address = reverse("sms:look-again", args=[row.pk])

    assert english.post(address, {"next": "/automation/sms-unknown/?page=2"})["Location"].endswith("page=2")
    assert english.post(address, {"next": "https://evil.example/"})["Location"] == PAGE


def test_the_number_of_queries_does_not_grow_with_the_messages(english: Client, workspace: Workspace) -> None:
    english.get(PAGE)
    counts = []
    for size in (1, 40):
        for _ in range(size):
            unknown(workspace)
        with CaptureQueriesContext(connection) as queries:
            english.get(PAGE)
        counts.append(len(queries))

    assert counts[0] == counts[1]


def test_an_empty_page_says_so(english: Client) -> None:
    assert "No unknown outcome" in english.get(PAGE).content.decode()
