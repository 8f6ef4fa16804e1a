"""How fast an account may send: one token bucket an account, shared by all workers.

With Redis it is shared by all hosts, without it by all processes of one host (a small file under a lock).
A bucket holds one second's worth. Permits are taken in blocks and may lie a moment ahead: the answer is how
long to wait before the block may leave. Whoever would have to wait too long takes nothing.
"""

from __future__ import annotations

import fcntl
import struct
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Final

import redis
import structlog
from django.conf import settings

log = structlog.get_logger(__name__)
Bucket = tuple[float, float]  # permits in it (below zero: promised ahead), and the moment of that
Clock = Callable[[], float]
FORGET_AFTER_S: Final = 3600

# The arithmetic of `draw`, where all hosts see the same bucket and the same clock.
SCRIPT: Final = """
local rate, wanted, patience = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local now = tonumber(ARGV[4])
if now < 0 then
    local parts = redis.call('TIME')
    now = tonumber(parts[1]) + tonumber(parts[2]) / 1000000
end
local kept = redis.call('HMGET', KEYS[1], 'permits', 'at')
local permits, at = tonumber(kept[1]) or rate, tonumber(kept[2]) or now
if at > now then permits, at = rate, now end
permits = math.min(rate, permits + (now - at) * rate)
local wait = math.max(0, (wanted - permits) / rate)
if wait > patience then return '-1' end
redis.call('HSET', KEYS[1], 'permits', tostring(permits - wanted), 'at', string.format('%.6f', now))
redis.call('EXPIRE', KEYS[1], ARGV[5])
return tostring(wait)
"""


def draw(
    bucket: Bucket | None, *, now: float, rate: int, wanted: int, patience: float
) -> tuple[Bucket, float | None]:
    """The bucket after `wanted` permits were asked of it at `now`, and how long to wait for them.

    None: that would be longer than `patience` seconds; nothing was taken. A bucket from the future (the
    host was started again) is a full one.
    """
    permits, at = bucket if bucket is not None and bucket[1] <= now else (float(rate), now)
    permits = min(float(rate), permits + (now - at) * rate)
    wait = max(0.0, (wanted - permits) / rate)
    if wait > patience:
        return (permits, now), None
    return (permits - wanted, now), wait


class FileBuckets:
    """Buckets of all processes of one host. The monotonic clock is the same for all of them."""

    def __init__(self, folder: Path, clock: Clock = time.monotonic) -> None:
        self._folder, self._clock = folder, clock

    def take(self, key: str, *, rate: int, wanted: int, patience: float) -> float | None:
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"{key}.bucket"
        path.touch()
        with path.open("r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            raw = file.read(16)
            bucket = struct.unpack("<dd", raw) if len(raw) == 16 else None
            left, wait = draw(bucket, now=self._clock(), rate=rate, wanted=wanted, patience=patience)
            file.seek(0)
            file.write(struct.pack("<dd", *left))
        return wait


class RedisBuckets:
    """Buckets of all hosts, by the clock of the Redis server unless a test gives one."""

    def __init__(self, url: str, clock: Clock | None = None) -> None:
        self._run = redis.Redis.from_url(url).register_script(SCRIPT)
        self._clock = clock

    def take(self, key: str, *, rate: int, wanted: int, patience: float) -> float | None:
        now = -1.0 if self._clock is None else self._clock()
        arguments = [rate, wanted, patience, now, FORGET_AFTER_S]
        wait = float(self._run(keys=[f"peyk:rate:{key}"], args=arguments))
        return None if wait < 0 else wait


def take(key: str, *, rate: int, wanted: int, patience: float) -> float | None:
    """Seconds to wait before `wanted` messages of the account `key` may leave; None: beyond `patience`.

    While Redis is away the workers of each host keep to the rate among themselves.
    """
    url = settings.REDIS_URL
    if url:
        try:
            return _redis_buckets(url).take(key, rate=rate, wanted=wanted, patience=patience)
        except redis.RedisError:
            log.warning("rate_limiter_away")
    buckets = FileBuckets(Path(settings.VAR_DIR) / "rates")
    return buckets.take(key, rate=rate, wanted=wanted, patience=patience)


@lru_cache(maxsize=4)
def _redis_buckets(url: str) -> RedisBuckets:
    return RedisBuckets(url)
