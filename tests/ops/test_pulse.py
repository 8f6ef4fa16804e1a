"""The queue's sign of life: asked through the queue, answered by whoever works it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from core import clock, pulse
from core.heartbeat import last_beat

NOW = datetime(2026, 5, 2, 9, 0, tzinfo=UTC)
pytestmark = pytest.mark.django_db


class Broker:
    """Takes questions and, like a dead worker's queue, does nothing with them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.messages: list[str] = []
        monkeypatch.setattr(pulse, "enqueue", lambda name, _payload, *, group: self.messages.append(group))


@pytest.fixture
def frozen() -> Iterator[clock.FrozenClock]:
    with clock.frozen(NOW) as at:
        yield at


def test_a_worked_queue_answers(frozen: clock.FrozenClock) -> None:
    pulse.ask(frozen.at)

    assert last_beat("queue") == NOW


def test_it_is_asked_once_a_minute(frozen: clock.FrozenClock) -> None:
    pulse.ask(frozen.at)
    for second in (5, 30, 54):
        frozen.at = NOW + timedelta(seconds=second)
        pulse.ask(frozen.at)

    assert last_beat("queue") == NOW

    frozen.at = NOW + timedelta(seconds=60)
    pulse.ask(frozen.at)

    assert last_beat("queue") == frozen.at


def test_questions_do_not_pile_up_before_a_dead_worker(
    frozen: clock.FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker = Broker(monkeypatch)
    for minute in range(30):
        frozen.at = NOW + timedelta(minutes=minute)
        pulse.ask(frozen.at)

    assert len(broker.messages) == 3
    assert last_beat("queue") is None


def test_a_clock_that_was_set_back_does_not_silence_it(frozen: clock.FrozenClock) -> None:
    pulse.ask(frozen.at)
    frozen.at = NOW - timedelta(hours=2)
    pulse.ask(frozen.at)

    assert last_beat("queue") == frozen.at


def test_a_broker_that_is_away_does_not_fail_the_tick(
    frozen: clock.FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_args: object, **_named: object) -> None:
        raise ConnectionError("away")

    monkeypatch.setattr(pulse, "enqueue", away)

    assert pulse.ask(frozen.at) == {}
