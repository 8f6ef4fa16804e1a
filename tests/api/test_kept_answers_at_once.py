"""One key in two requests at the same moment: real threads and a real database."""

from __future__ import annotations

import pytest

from campaigns.models import EnrollmentBatch
from tests.api.conftest import caller, secret_of
from tests.campaigns import builders
from tests.campaigns.test_concurrency import at_once
from tests.campaigns.test_concurrency import shop as shop
from tests.people import make_member
from workspaces.models import Role, Workspace

pytestmark = [pytest.mark.concurrency, pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


def test_of_two_requests_with_one_key_one_is_done_and_both_are_answered_alike(shop: Workspace) -> None:
    campaign, ids = builders.draft(), builders.people(3)
    secret = secret_of(make_member(shop, Role.MARKETER))
    path = f"/campaigns/{campaign.pk}/enrollments/preview"

    def ask() -> tuple[int, int]:
        answer = caller(secret)("POST", path, {"ids": ids}, **{"Idempotency-Key": "one"})
        return answer.status_code, answer.json()["id"]

    batches = at_once(shop, ask, ask, ask)

    assert batches == [(201, EnrollmentBatch.objects.get().pk)] * 3
