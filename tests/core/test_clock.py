from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from core import clock
from core.clock import FileClock

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def test_now_is_aware_and_utc():
    assert clock.now().tzinfo is UTC


def test_a_frozen_clock_moves_only_by_hand():
    with clock.frozen(NOON.astimezone(timezone(timedelta(hours=3, minutes=30)))) as hands:
        assert clock.now() == NOON
        hands.at += timedelta(hours=1)
        assert clock.now() == NOON + timedelta(hours=1)
    assert clock.now() != NOON


def test_a_file_clock_is_seen_by_everybody(tmp_path: Path):
    FileClock(tmp_path / "clock").set(NOON)
    assert FileClock(tmp_path / "clock").now() == NOON


def test_a_file_clock_without_a_file_is_the_system_s(tmp_path: Path):
    assert abs(FileClock(tmp_path / "none").now() - datetime.now(UTC)) < timedelta(minutes=1)


def test_the_process_clock_is_seen_in_threads():
    clock.use_process_clock(clock.FrozenClock(NOON))
    try:
        seen: list[datetime] = []
        thread = threading.Thread(target=lambda: seen.append(clock.now()))
        thread.start()
        thread.join()
        assert seen == [NOON]
    finally:
        clock.use_process_clock(None)


@pytest.mark.parametrize("moment", [NOON, NOON + timedelta(microseconds=250_000)])
def test_a_file_clock_keeps_fractions(tmp_path: Path, moment: datetime):
    hands = FileClock(tmp_path / "clock")
    hands.set(moment)
    assert hands.now() == moment
