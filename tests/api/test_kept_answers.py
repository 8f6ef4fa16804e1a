"""A request that is sent again with its key is done once, whatever happened to the first answer."""

from __future__ import annotations

from typing import Any

import pytest

from automation import publishing
from automation.models import WorkflowExecution
from campaigns import actions
from campaigns.enrollment import committer
from campaigns.models import BatchStatus, EnrollmentBatch
from core.failpoints import acting
from core.queue import port
from tests.api.conftest import Call, caller, secret_of
from tests.campaigns import builders
from tests.campaigns.test_enrollment import SilentQueue
from tests.clocks import MovableClock
from workspaces import kept_answers
from workspaces.models import KeptAnswer, User

pytestmark = pytest.mark.usefixtures("workspace", "clock")
KEY = {"Idempotency-Key": "4f7c"}


class Died(BaseException):
    """The web server is gone."""


class AwayQueue(SilentQueue):
    def enqueue(self, name: str, payload: dict[str, Any], *, group: str) -> None:
        raise ConnectionError


def choose(call: Call, campaign_id: int, ids: list[int], **headers: str) -> Any:
    path = f"/campaigns/{campaign_id}/enrollments/preview"
    return call("POST", path, {"ids": ids}, **headers)


def test_a_selection_that_is_sent_again_is_the_same_one(call: Call) -> None:
    campaign, ids = builders.draft(), builders.people(2)
    first, second = (choose(call, campaign.pk, ids, **KEY) for _ in range(2))

    assert (second.status_code, second.json()) == (201, first.json())
    assert (first.get("Idempotency-Replayed"), second["Idempotency-Replayed"]) == (None, "true")
    assert EnrollmentBatch.objects.count() == 1


def test_without_a_key_each_request_is_its_own(call: Call) -> None:
    campaign, ids = builders.draft(), builders.people(2)
    assert choose(call, campaign.pk, ids).json()["id"] != choose(call, campaign.pk, ids).json()["id"]


def test_a_key_that_comes_with_another_request_is_refused(call: Call, marketer: User) -> None:
    campaign, ids = builders.draft(), builders.people(2)
    choose(call, campaign.pk, ids, **KEY)
    another_token = caller(secret_of(marketer))

    for refused in (
        choose(call, campaign.pk, ids[:1], **KEY),
        choose(another_token, campaign.pk, ids, **KEY),
    ):
        assert (refused.status_code, refused.json()["code"]) == (409, "key_reused")
    assert EnrollmentBatch.objects.count() == 1


@pytest.mark.parametrize("key", ["", "two words", "x" * 201, "کلید"])
def test_a_key_of_another_shape_is_refused(call: Call, key: str) -> None:
    header = key.encode().decode("latin-1")
    refused = choose(call, builders.draft().pk, [1], **{"Idempotency-Key": header})
    assert (refused.status_code, refused.json()["code"]) == (422, "key_invalid")


def test_people_are_added_once_and_both_are_told_so(call: Call) -> None:
    batch = builders.review(builders.running(), builders.people(2))
    first, second = (call("POST", f"/enrollments/{batch.pk}/commit", **KEY) for _ in range(2))

    assert (first.status_code, second.status_code) == (200, 200)
    assert second.json() == first.json()
    assert WorkflowExecution.objects.count() == 2


def test_a_server_that_dies_before_it_answers_has_done_nothing_or_all(call: Call) -> None:
    def die() -> None:
        raise Died

    batch = builders.review(builders.running(), builders.people(2))
    with acting("enrol_chunk_tx", die), pytest.raises(Died):
        call("POST", f"/enrollments/{batch.pk}/commit", **KEY)
    assert (WorkflowExecution.objects.count(), KeptAnswer.objects.count()) == (0, 0)

    assert call("POST", f"/enrollments/{batch.pk}/commit", **KEY).json()["counts"]["added"] == 2


def test_a_refusal_is_not_kept(call: Call) -> None:
    campaign = builders.running()
    actions.set_intake(campaign.pk, is_open=False, user=None)
    assert choose(call, campaign.pk, builders.people(1), **KEY).json()["code"] == "intake_closed"
    actions.set_intake(campaign.pk, is_open=True, user=None)
    assert choose(call, campaign.pk, builders.people(1), **KEY).status_code == 201


def test_a_large_selection_is_handed_over_when_it_is_stored(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = SilentQueue()
    monkeypatch.setitem(port._queues, "inline", queue)
    monkeypatch.setattr(committer, "DIRECT", 0)
    batch = builders.review(builders.running(), builders.people(1))
    first, second = (call("POST", f"/enrollments/{batch.pk}/commit", **KEY) for _ in range(2))

    assert (first.status_code, second.status_code, len(queue.messages)) == (202, 202, 1)


def test_a_queue_that_is_away_is_told_and_may_be_tried_again(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(port._queues, "inline", AwayQueue())
    monkeypatch.setattr(committer, "DIRECT", 0)
    batch = builders.review(builders.running(), builders.people(1))
    refused = call("POST", f"/enrollments/{batch.pk}/commit", **KEY)

    assert (refused.status_code, refused.json()["code"]) == (503, "queue_away")
    assert not KeptAnswer.objects.exists()
    assert EnrollmentBatch.objects.get(pk=batch.pk).status == BatchStatus.DRAFT


def test_a_version_is_published_once(call: Call, marketer: User) -> None:
    workflow = publishing.create_workflow(name="Welcome", template_key="single_message", user=marketer)
    first, second = (call("POST", f"/workflows/{workflow.pk}/publish", {}, **KEY) for _ in range(2))
    assert (first.status_code, second.json()) == (200, first.json())


def test_answers_are_forgotten_after_some_days(call: Call, clock: MovableClock) -> None:
    choose(call, builders.draft().pk, builders.people(1), **KEY)
    kept_answers.forget_old(clock.now())
    assert KeptAnswer.objects.count() == 1
    clock.advance(days=4)
    kept_answers.forget_old(clock.now())
    assert not KeptAnswer.objects.exists()
