"""One token bucket an account, whoever holds it: a file of the host or Redis."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import redis

from sms import rate
from sms.rate import FileBuckets, RedisBuckets

REDIS = os.environ.get("TEST_REDIS_URL", "")
Take = Callable[..., float | None]


class FakeClock:
    at = 1000.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(
    params=["file", pytest.param("redis", marks=pytest.mark.skipif(not REDIS, reason="no Redis"))]
)
def take(request: pytest.FixtureRequest, clock: FakeClock, tmp_path: Path) -> Iterator[Take]:
    """`take(wanted)` of a fresh bucket of five a second."""
    key = f"test-{uuid4()}"
    buckets: Any = FileBuckets(tmp_path, clock) if request.param == "file" else RedisBuckets(REDIS, clock)

    def ask(wanted: int, *, per_second: int = 5, patience: float = 100.0) -> float | None:
        return buckets.take(key, rate=per_second, wanted=wanted, patience=patience)

    yield ask
    if request.param == "redis":
        redis.Redis.from_url(REDIS).delete(f"peyk:rate:{key}")


def test_one_second_s_worth_leaves_at_once(take: Take):
    assert take(5) == 0


def test_the_next_block_waits_for_its_permits(take: Take):
    take(5)
    assert take(5) == pytest.approx(1.0)
    assert take(5) == pytest.approx(2.0)


def test_permits_come_back_with_time_up_to_a_second_s_worth(take: Take, clock: FakeClock):
    take(5)
    clock.at += 0.4
    assert take(2) == pytest.approx(0.0, abs=1e-5)
    clock.at += 3600
    assert take(5) == 0
    assert take(1) == pytest.approx(0.2)


def test_whoever_would_wait_too_long_takes_nothing(take: Take):
    take(5)
    assert take(5, patience=0.5) is None
    assert take(1) == pytest.approx(0.2)


def test_a_block_larger_than_the_rate_waits_for_the_rest(take: Take):
    assert take(15) == pytest.approx(2.0)


def test_a_changed_rate_counts_from_the_next_block(take: Take):
    take(5)
    assert take(10, per_second=10) == pytest.approx(1.0)


def test_over_any_time_no_more_leaves_than_the_rate_allows(take: Take, clock: FakeClock):
    began = clock.at
    left: list[float] = []
    while len(left) < 60:
        wait = take(3)
        assert wait is not None
        clock.at += wait
        left += [clock.at] * 3
    assert len(left) / (clock.at - began + 1) <= 5


def test_threads_share_the_bucket(take: Take):
    with ThreadPoolExecutor(6) as pool:
        waits = sorted(pool.map(lambda _n: take(5), range(6)))  # type: ignore[type-var]
    assert waits == pytest.approx([0, 1, 2, 3, 4, 5])


def test_a_bucket_from_the_future_is_a_full_one():
    left, wait = rate.draw((-50.0, 9000.0), now=10.0, rate=5, wanted=5, patience=0.0)
    assert (left, wait) == ((0.0, 10.0), 0.0)


def test_without_redis_the_host_shares_a_file(settings: Any, tmp_path: Path):
    settings.VAR_DIR, settings.REDIS_URL = tmp_path, ""
    assert rate.take("account", rate=1, wanted=1, patience=0) == 0
    assert rate.take("account", rate=1, wanted=1, patience=0) is None


def test_while_redis_is_away_the_host_keeps_to_the_rate(settings: Any, tmp_path: Path):
    settings.VAR_DIR, settings.REDIS_URL = tmp_path, "redis://127.0.0.1:1/0"
    assert rate.take("account", rate=1, wanted=1, patience=0) == 0
    assert rate.take("account", rate=1, wanted=1, patience=0) is None


@pytest.mark.skipif(not REDIS, reason="no Redis")
def test_redis_tells_the_time_itself(settings: Any):
    settings.REDIS_URL = REDIS
    key = f"test-{uuid4()}"
    assert rate.take(key, rate=1, wanted=1, patience=0) == 0
    assert rate.take(key, rate=1, wanted=1, patience=0) is None
    redis.Redis.from_url(REDIS).delete(f"peyk:rate:{key}")
