"""The same reports from many sides at once: one history, one end."""

from __future__ import annotations

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

from core.tenancy import workspace_scope
from sms.models import SmsLog, SmsLogEvent, SmsStatus, UnmatchedReport
from sms.reports import ingest_reports
from sms.types import DeliveryReport, DeliveryStatus
from tests.people import make_workspace
from tests.sms.messages import make_log
from workspaces.models import Workspace

pytestmark = [pytest.mark.concurrency, pytest.mark.django_db(transaction=True)]
THREADS, ROUNDS = 8, 10


@pytest.fixture
def kaveh() -> Workspace:
    return make_workspace("kaveh")


def at_once(work: Callable[[int], object]) -> None:
    """Run `work(number)` in `THREADS` threads that begin together; the first error is raised."""
    start = Barrier(THREADS)

    def run(number: int) -> None:
        try:
            start.wait(timeout=10)
            work(number)
        finally:
            connection.close()

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(run, range(THREADS)))


def report(message_id: str, status: DeliveryStatus) -> DeliveryReport:
    return DeliveryReport(provider_message_id=message_id, status=status, provider_status=status)


def test_one_event_reported_a_thousand_times_is_one_row(kaveh: Workspace) -> None:
    row = make_log(kaveh, "1" * 19)

    def work(_number: int) -> None:
        for _ in range(ROUNDS):
            ingest_reports(kaveh.pk, [report("1" * 19, DeliveryStatus.DELIVERED)] * 13)

    at_once(work)

    assert SmsLogEvent.unscoped.filter(sms_log_id=row.pk).count() == 1
    assert SmsLog.unscoped.get(pk=row.pk).status == SmsStatus.DELIVERED


def test_batches_that_share_messages_in_different_orders_all_get_through(kaveh: Workspace) -> None:
    ids = [make_log(kaveh, f"47{n:017}").provider_message_id for n in range(20)]
    unknown = [f"early-{n}" for n in range(5)]
    words = (DeliveryStatus.SENT, DeliveryStatus.DELIVERED, DeliveryStatus.FAILED)

    def work(number: int) -> None:
        order = random.Random(number)
        for _ in range(ROUNDS):
            batch = [report(one, order.choice(words)) for one in (*ids, *unknown)]
            order.shuffle(batch)
            ingest_reports(kaveh.pk, batch)

    at_once(work)

    with workspace_scope(kaveh.pk):
        assert set(SmsLog.objects.values_list("status", flat=True)) == {SmsStatus.DELIVERED}
        assert SmsLogEvent.objects.count() == len(ids) * len(words)
        assert UnmatchedReport.objects.count() == len(unknown) * len(words)
