"""Half a minute of random misfortune within pytest; CI and `script/soak` give it three."""

from __future__ import annotations

import pytest

from tests.faults.house import House
from tests.faults.servers import Plan
from tests.faults.soak import soak

pytestmark = [pytest.mark.concurrency, pytest.mark.postgres, pytest.mark.soak]


def test_half_a_minute_of_misfortune_breaks_no_promise(house: House):
    found = soak(house, Plan(seed=20261130, seconds=25))
    assert not found.breaches, str(found)
    assert found.accepted >= 20, str(found)
