from __future__ import annotations

from datetime import datetime

import pytest
from django.test import Client

from engine.windows import SendWindow
from sms.line_windows import LineWindows, every_day
from sms.models import LineRule, Operator
from sms.operators import operator_of
from tests.clocks import TEHRAN, MovableClock
from tests.people import client_of
from tests.sms.messages import make_account
from workspaces.models import AuditRecord, User, Workspace

PAGE = "/settings/sms/lines"
GOOD = {"line": "50004001", "operator": "mci", "opens": "08:00", "closes": "22:00", "finality_hours": ""}


@pytest.fixture
def english(owner: User, workspace: Workspace, clock: MovableClock) -> Client:
    make_account(workspace)
    return client_of(owner, language="en")


@pytest.mark.parametrize(
    ("number", "operator"),
    [("09121234567", "mci"), ("09901234567", "mci"), ("09351234567", "irancell"), ("09051234567", "irancell"),
     ("09211234567", "rightel"), ("09981234567", "other")],
)  # fmt: skip
def test_a_number_belongs_to_the_operator_of_its_prefix(number: str, operator: str) -> None:
    assert operator_of(number) == Operator(operator)


def test_the_hours_of_a_line_are_stored_and_audited(english: Client, workspace: Workspace) -> None:
    response = english.post(PAGE, GOOD)

    rule = LineRule.objects.get()
    assert response.status_code == 302
    assert (rule.line, rule.operator) == ("50004001", "mci")
    assert rule.window == every_day("08:00", "22:00", "Asia/Tehran")
    assert AuditRecord.objects.filter(event="sms.line_rules_changed").count() == 1
    assert "08:00–22:00" in english.get(PAGE).content.decode()


def test_a_rule_is_replaced_by_a_new_one_of_its_line_and_operator(english: Client) -> None:
    english.post(PAGE, GOOD)
    english.post(PAGE, {**GOOD, "closes": "21:00"})

    assert LineRule.objects.get().window == every_day("08:00", "21:00", "Asia/Tehran")


def test_digits_may_be_persian(english: Client) -> None:
    english.post(PAGE, {**GOOD, "opens": "۰۸:۳۰", "closes": "۲۴:۰۰"})

    assert LineRule.objects.get().window == every_day("08:30", "24:00", "Asia/Tehran")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"opens": "8"}, "Write a time such as 08:00."),
        ({"opens": "25:00"}, "Write a time such as 08:00."),
        ({"closes": ""}, "Write both times, or neither."),
        ({"closes": "07:00"}, "The end must come after the beginning."),
        ({"opens": "", "closes": ""}, "Write hours, or how long delivery reports take."),
        ({"finality_hours": "24"}, "This can be set for one line and any operator only."),
        ({"operator": "", "finality_hours": "0"}, "greater than or equal to 1"),
        ({"line": "1"}, "Select a valid choice."),
    ],
)
def test_what_makes_no_sense_is_refused(english: Client, change: dict[str, str], words: str) -> None:
    response = english.post(PAGE, {**GOOD, **change})

    assert response.status_code == 422
    assert words in response.content.decode()
    assert not LineRule.objects.exists()


def test_a_rule_can_be_removed(english: Client) -> None:
    english.post(PAGE, GOOD)
    english.post(f"{PAGE}/{LineRule.objects.get().pk}/delete")

    assert not LineRule.objects.exists()
    assert AuditRecord.objects.filter(event="sms.line_rules_changed").count() == 2


def windows(*rules: tuple[str, str, str, str]) -> LineWindows:
    return LineWindows(
        {
            (line, who): SendWindow.parse(every_day(opens, closes, "Asia/Tehran"))
            for line, who, opens, closes in rules
        }
    )


def test_a_message_waits_until_every_rule_for_it_is_open() -> None:
    found = windows(("5000", "", "08:00", "22:00"), ("*", "mci", "10:00", "20:00"))
    night = datetime(2026, 11, 30, 21, 0, tzinfo=TEHRAN)

    assert found.next_open("5000", "09120000000", night) == datetime(2026, 12, 1, 10, 0, tzinfo=TEHRAN)
    assert found.next_open("5000", "09350000000", night) == night
    assert found.next_open("3000", "09350000000", night) == night


def test_rules_that_are_never_open_together_do_not_hang() -> None:
    found = windows(("5000", "", "08:00", "09:00"), ("5000", "mci", "20:00", "21:00"))
    noon = datetime(2026, 11, 30, 12, 0, tzinfo=TEHRAN)

    assert found.next_open("5000", "09120000000", noon) > noon
