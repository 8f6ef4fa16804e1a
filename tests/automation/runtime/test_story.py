"""The whole promise in one campaign: five hundred people, a cap, a window, retries, waits."""

from __future__ import annotations

from collections import Counter
from datetime import time, timedelta
from zoneinfo import ZoneInfo

import pytest

from automation.models import DailyCounter, WorkflowExecutionEvent
from sms.models import SmsLog
from sms.types import OutboundSms, Outcome, SendResult
from tests.clocks import MovableClock
from tests.scenario import OFFICE_HOURS, Scenario, accept, outcome, send, wait
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db
TEHRAN = ZoneInfo("Asia/Tehran")
RETRY = {
    "enabled": True,
    "strategy": "fixed",
    "max_attempts": 3,
    "interval_seconds": 900,
    "on_exhausted": "fail",
}


def every_seventh_fails_once(sms: OutboundSms, nth: int) -> SendResult:
    return outcome(Outcome.NOT_SENT) if int(sms.to) % 7 == 0 and nth == 1 else accept()


@pytest.fixture
def story(workspace: Workspace, clock: MovableClock) -> Scenario:
    scenario = Scenario(
        send("یک", retry=RETRY), wait(30), send("دو", retry=RETRY), wait(30), send("سه", retry=RETRY),
        people=500, cap=100, window=OFFICE_HOURS,
    )  # fmt: skip
    scenario.provider.answer = every_seventh_fails_once
    scenario.run_to_end(clock)
    return scenario


def test_five_hundred_people_a_hundred_a_day(story: Scenario):
    """One story, told once: it takes longer than looking at it from four sides."""
    everybody_is_written_to_within_limits(story)
    whoever_was_enrolled_first_is_written_to_first(story)
    waits_count_from_each_persons_own_message(story)
    counters_history_and_messages_agree(story)


def everybody_is_written_to_within_limits(story: Scenario) -> None:
    sent = story.provider.accepted
    by_day = Counter(message.at.astimezone(TEHRAN).date() for message in sent)
    firsts = [message for message in sent if message.text == "یک"]

    assert story.statuses() == {"completed": 500}
    assert Counter(m.text for m in sent) == {"یک": 500, "دو": 500, "سه": 500}
    assert len({(m.to, m.text) for m in sent}) == 1500, "somebody was written to twice"
    assert max(by_day.values()) <= 100
    for message in sent:
        local = message.at.astimezone(TEHRAN)
        assert local.strftime("%a") != "Fri"
        closing = time(13) if local.strftime("%a") == "Thu" else time(18)
        assert time(9) <= local.time() < closing
    # Monday to Thursday, Friday closed, Saturday: five sending days for the first message
    assert len({m.at.astimezone(TEHRAN).date() for m in firsts}) == 5


def whoever_was_enrolled_first_is_written_to_first(story: Scenario) -> None:
    days = {m.to: m.at.astimezone(TEHRAN).date() for m in story.provider.accepted if m.text == "یک"}
    on_time = [days[t.mobile] for t in story.targets if int(t.mobile) % 7]
    assert on_time == sorted(on_time)


def waits_count_from_each_persons_own_message(story: Scenario) -> None:
    firsts = {m.to: m.at for m in story.provider.accepted if m.text == "یک"}
    for message in story.provider.accepted:
        if message.text == "دو":
            assert message.at - firsts[message.to] >= timedelta(days=30)


def counters_history_and_messages_agree(story: Scenario) -> None:
    accepted = len(story.provider.accepted)
    used = sum(DailyCounter.objects.filter(scope_type="campaign").values_list("used", flat=True))
    attempts = WorkflowExecutionEvent.objects.filter(type="sms_attempt").count()
    assert used == accepted == SmsLog.objects.filter(status="submitted").count()
    assert attempts == SmsLog.objects.count()
