"""Daily counters against the messages they count."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import call_command

from automation.counter_check import check
from automation.models import DailyCounter
from blacklist.models import BlacklistEntry
from core.tenancy import current_workspace_id
from sms.models import SmsLog
from sms.types import OutboundSms, Outcome, SendResult
from tests.clocks import MovableClock
from tests.scenario import Scenario, accept, outcome
from workspaces.models import AuditRecord, Workspace

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _ready(workspace: Workspace, clock: MovableClock) -> None:
    """Every test has a workspace and a clock that stands still."""


def mixed(sms: OutboundSms, nth: int) -> SendResult:
    """Accepted, refused, lost and failed for now, by the last digit."""
    kinds = {1: Outcome.REFUSED, 2: Outcome.IN_DOUBT, 3: Outcome.NOT_SENT}
    kind = kinds.get(int(sms.to) % 10)
    return outcome(kind, "x") if kind and nth == 1 else accept()


def test_after_every_kind_of_outcome_the_counters_agree(clock: MovableClock):
    scenario = Scenario(people=20, cap=100)
    scenario.provider.answer = mixed
    BlacklistEntry.objects.create(workspace_id=current_workspace_id(), value=scenario.targets[5].mobile)
    scenario.run_to_end(clock)
    assert sum(DailyCounter.objects.filter(scope_type="campaign").values_list("used", flat=True)) == 17
    assert check(days=3) == []


def test_a_message_that_a_report_called_failed_later_still_counts(clock: MovableClock):
    Scenario(cap=5).settle()
    SmsLog.objects.update(status="failed")
    assert check(days=1) == []


def test_messages_count_on_the_workspace_s_day(clock: MovableClock):
    clock.advance(hours=14, minutes=30)  # 23:30 in Tehran
    scenario = Scenario(cap=10)
    scenario.settle()
    clock.advance(hours=1)
    scenario.enrol(1)
    scenario.settle()
    assert check(days=2) == []


def test_a_difference_is_named_with_its_day_and_scope(clock: MovableClock):
    scenario = Scenario(people=3, cap=10)
    scenario.settle()
    DailyCounter.objects.filter(scope_type="campaign").update(used=7)
    (row,) = check(days=1)
    assert (row.scope_type, row.scope_id, row.used, row.messages) == ("campaign", scenario.campaign.pk, 7, 3)
    assert DailyCounter.objects.get(scope_type="campaign").used == 7


def test_a_counter_that_is_missing_is_a_difference():
    Scenario(people=2).settle()
    DailyCounter.objects.filter(scope_type="workspace").delete()
    assert [(row.scope_type, row.used, row.messages) for row in check(days=1)] == [("workspace", 0, 2)]


def test_the_command_fails_repairs_on_request_and_audits(clock: MovableClock):
    Scenario(people=3, cap=10).settle()
    DailyCounter.objects.filter(scope_type="workflow").update(used=1)
    out = StringIO()
    with pytest.raises(SystemExit) as caught:
        call_command("check_counters", stdout=out)
    assert (caught.value.code, "counter 1, messages 3" in out.getvalue()) == (1, True)

    call_command("check_counters", "--repair", stdout=out)
    assert DailyCounter.objects.get(scope_type="workflow").used == 3
    record = AuditRecord.objects.get(event="counters.repaired")
    assert (record.old["used"], record.new["used"], record.user) == (1, 3, None)
    call_command("check_counters", stdout=out)
