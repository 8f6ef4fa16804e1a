"""Named locks, with Redis and while it is away."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from core.locks import named_lock
from script.processes import free_port


@pytest.mark.parametrize("away", [False, True], ids=["no-redis", "redis-away"])
def test_the_lock_of_a_host_has_one_holder(settings: Settings, away: bool):
    settings.REDIS_URL = f"redis://127.0.0.1:{free_port()}/0" if away else ""
    with named_lock("job") as first, named_lock("job") as second:
        assert (first, second) == (True, False)
    with named_lock("job") as again:
        assert again
