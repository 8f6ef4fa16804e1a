"""The history in words."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils.translation import override

from automation.event_lines import reason, tone, until
from automation.models import WorkflowExecutionEvent
from automation.states import ExecutionEventType
from engine.types import NO_TIMEOUT


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"reason": "holdout"}, "In the group that is held out, so nothing is sent"),
        ({"outcome": "case_2"}, "Way: case 2"),
        ({"outcome": "branch_1", "variant": "A"}, "Way: branch 1"),
        ({"outcome": "holdout"}, "In the group that is held out, so nothing is sent"),
        ({"reason": "timeout", "event": "paid"}, "The time for the event is over"),
        ({"reason": "goal_reached"}, "Reached the goal"),
        ({"reason": "exit_criteria"}, "Met the criteria for leaving"),
        ({"outcome": "no"}, "Answer: no"),
        ({"outcome": "no", "absent": {"target.city": "empty"}}, "Answer: no; “City” is empty"),
        ({"outcome": "no", "absent": {"target.plan": "missing"}}, "Answer: no; “target.plan” is not known"),
        ({"outcome": "yes", "absent": {"target.city": "null"}}, "Answer: yes; “City” has no value"),
        ({"outcome": "no", "absent": {"target.city": "strange"}}, "Answer: no"),
        ({"outcome": "case_x"}, ""),
        ({}, ""),
    ],
)
def test_a_reason_is_said_in_words(data: dict[str, Any], words: str):
    with override("en"):
        assert reason(data) == words


def test_it_is_said_in_persian_too():
    with override("fa"):
        said = reason({"outcome": "no", "absent": {"target.city": "empty"}})
    assert "«شهر» خالی است" in said


def test_a_case_has_the_digits_of_the_reader():
    with override("fa"):
        assert reason({"outcome": "case_2"}).endswith("حالت ۲")


def test_a_wait_without_an_end_names_no_moment():
    assert until({"until": NO_TIMEOUT.isoformat()}) is None


def test_every_tone_belongs_to_a_kind_of_line():
    assert tone(WorkflowExecutionEvent(type=ExecutionEventType.SUPPRESSED)) == "info"
