from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import pytest

from automation.runtime import agenda
from core import clock
from core.models import Heartbeat

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agenda, "_entries", [])


def step(now: datetime) -> Mapping[str, int]:  # the shape of a step
    return {}


def other(now: datetime) -> Mapping[str, int]:
    return {}


def beats(name: str) -> Any:
    return Heartbeat.objects.filter(name=name)


def test_a_step_is_called_when_one_of_its_rows_exists() -> None:
    agenda.register_lifecycle(step, questions=lambda _now: [beats("a"), beats("b")])
    assert agenda.steps_with_work(clock.now()) == []
    Heartbeat.objects.create(name="b", at=clock.now())
    assert agenda.steps_with_work(clock.now()) == [step]


def test_a_step_without_questions_is_called_every_time() -> None:
    agenda.register_lifecycle(step)
    assert agenda.steps_with_work(clock.now()) == [step]


def test_steps_keep_the_order_in_which_they_were_added() -> None:
    Heartbeat.objects.create(name="a", at=clock.now())
    agenda.register_lifecycle(other, questions=lambda _now: [beats("a")])
    agenda.register_lifecycle(step)
    assert agenda.steps_with_work(clock.now()) == [other, step]


def test_all_questions_are_one_statement(django_assert_num_queries: Callable[..., Any]) -> None:
    agenda.register_lifecycle(step, questions=lambda _now: [beats("a"), beats("b")])
    agenda.register_lifecycle(other, questions=lambda _now: [beats("c").exclude(pk="d")])
    with django_assert_num_queries(1):
        agenda.steps_with_work(clock.now())


def test_a_step_added_twice_is_one() -> None:
    agenda.register_lifecycle(step)
    agenda.register_lifecycle(step)
    assert agenda.steps_with_work(clock.now()) == [step]
