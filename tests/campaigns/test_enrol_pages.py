"""The way into a campaign as a person walks it."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client

from automation.models import WorkflowExecution
from automation.panels import step_name
from campaigns import actions
from campaigns.models import EnrollmentBatch
from tests.campaigns import builders
from tests.campaigns.reading import form_data, statements, text_of, url
from tests.clocks import MovableClock
from workspaces.models import User

pytestmark = pytest.mark.usefixtures("workspace", "clock")
ClientOf = Callable[..., Client]


# -- the way in ---------------------------------------------------------------------------------------


def test_a_list_is_reviewed_and_added_exactly_as_rendered(web: Client) -> None:
    campaign = builders.running()
    made = builders.on_list(builders.people(3))
    page = web.get(url("enrol", campaign.pk)).content.decode()
    data = form_data(page) | {"list": str(made.pk)}
    action = re.search(r'id="choose" method="post" action="([^"]*)"', page)
    assert action

    review = web.post(action.group(1), data, follow=True)
    commit = re.search(r'action="([^"]*/commit)"', review.content.decode())
    assert commit
    done = web.post(commit.group(1), {}, follow=True)

    assert "3 people were added." in text_of(done)
    assert builders.statuses(campaign) == {"active": 3}


def test_conditions_select_the_same_people_as_the_list_page(web: Client) -> None:
    campaign = builders.running()
    tehran = builders.people(2, city="تهران")
    builders.people(3, city="شیراز")
    counted = text_of(web.get(url("count", campaign.pk), {"city": "تهران"}))
    web.post(url("review", campaign.pk), {"source": "filter", "city": "تهران"})

    assert "2 people meet the conditions." in counted
    assert EnrollmentBatch.objects.get().subject_ids == tehran


def test_a_condition_that_is_gone_selects_nobody(web: Client) -> None:
    campaign = builders.running()
    builders.people(3)
    response = web.post(url("review", campaign.pk), {"source": "filter", "list": "999"})
    assert (response.status_code, EnrollmentBatch.objects.count()) == (422, 0)


def test_the_review_shows_where_the_others_are(web: Client, clock: MovableClock) -> None:
    other = builders.running(name="Other campaign")
    campaign = builders.running()
    ids = builders.people(2)
    builders.enrol(other, ids)
    step = other.workflow_version.nodes.get(type="action")
    WorkflowExecution.objects.filter(subject_id=ids[0]).update(
        status="waiting", current_node=step, next_run_at=clock.now() + timedelta(hours=3)
    )
    batch = builders.review(campaign, ids)

    page = text_of(web.get(url("batch", batch.pk)))
    for expected in ("Other campaign", "خوشامد", "2 people are in other campaigns.", "Ready"):
        assert expected in page
    row = next(part for part in page.split("Where?") if "Waiting" in part)
    assert (step_name(step) in row, "12:00" in row, "in line" in row) == (True, True, False)
    drawer = text_of(web.get(url("person", batch.pk, ids[0])))
    assert "Other campaign" in drawer


def test_the_button_opens_when_everybody_has_an_answer(web: Client) -> None:
    other, campaign = builders.running(), builders.running()
    ids = builders.people(3)
    builders.enrol(other, ids[:2])
    batch = builders.review(campaign, ids)

    def is_open() -> bool:
        html = web.get(url("batch", batch.pk)).content.decode()
        button = re.search(r'<button class="btn btn-primary"[^>]*id="commit">', html)
        assert button
        return "disabled" not in button.group(0)

    assert not is_open()
    web.post(url("decide", batch.pk), {"person": ids[0], "answer": "add"})
    assert not is_open()
    web.post(url("decide", batch.pk), {"person": ids[1], "answer": "skip"})
    assert is_open()
    batch.refresh_from_db()
    assert batch.decisions == {"default": None, "overrides": {str(ids[0]): "add", str(ids[1]): "skip"}}


@pytest.mark.parametrize("answer", ["add", "skip"])
def test_one_answer_for_all_replaces_the_single_ones(web: Client, answer: str) -> None:
    other, campaign = builders.running(), builders.running()
    ids = builders.people(2)
    builders.enrol(other, ids)
    batch = builders.review(campaign, ids)
    web.post(url("decide", batch.pk), {"person": ids[0], "answer": "add"})
    web.post(url("decide", batch.pk), {"answer": answer})
    batch.refresh_from_db()
    assert batch.decisions == {"default": answer, "overrides": {}}


def test_an_answer_by_htmx_swaps_the_review_only(web: Client) -> None:
    other, campaign = builders.running(), builders.running()
    ids = builders.people(1)
    builders.enrol(other, ids)
    batch = builders.review(campaign, ids)
    response = web.post(
        url("decide", batch.pk), {"person": ids[0], "answer": "add"}, headers={"HX-Request": "true"}
    )
    html = response.content.decode()
    assert (response.status_code, html.count('id="review"'), "<html" in html) == (200, 1, False)


def test_committing_too_early_goes_back_to_the_conflicts(web: Client) -> None:
    other, campaign = builders.running(), builders.running()
    ids = builders.people(2)
    batch = builders.review(campaign, ids)
    builders.enrol(other, ids[:1])

    response = web.post(url("commit", batch.pk), follow=True)
    assert response.redirect_chain[0][0].endswith("?group=conflict")
    assert "1 person is in another campaign; decide about them first." in text_of(response)
    assert builders.statuses(campaign) == {}


def test_a_large_batch_is_watched_until_it_is_done(web: Client) -> None:
    campaign = builders.running()
    batch = builders.review(campaign, builders.people(2))
    EnrollmentBatch.objects.filter(pk=batch.pk).update(
        status="committing", counts={"selected": 900, "done": 500, "added": 490, "to_add": 880}
    )
    page = web.get(url("batch", batch.pk)).content.decode()
    assert 'hx-trigger="every 2s"' in page
    fragment = web.get(url("progress", batch.pk))
    assert 'value="500" max="900"' in fragment.content.decode()
    assert "HX-Refresh" not in fragment.headers

    EnrollmentBatch.objects.filter(pk=batch.pk).update(status="committed")
    last = web.get(url("progress", batch.pk))
    assert last["HX-Refresh"] == "true"
    assert "hx-trigger" not in last.content.decode()


@pytest.mark.parametrize("name", ["batch", "progress"])
def test_another_workspaces_selection_is_not_found(name: str, stranger: User, client_of: ClientOf) -> None:
    batch = builders.review(builders.draft(), builders.people(1))
    assert client_of(stranger).get(url(name, batch.pk)).status_code == 404


@pytest.mark.parametrize("name", ["decide", "commit", "discard"])
def test_another_workspaces_selection_cannot_be_used(name: str, stranger: User, client_of: ClientOf) -> None:
    batch = builders.review(builders.draft(), builders.people(1))
    response = client_of(stranger).post(url(name, batch.pk), {"answer": "add"})
    batch.refresh_from_db()
    assert (response.status_code, batch.status) == (404, "draft")


def test_the_live_walks_of_a_person_are_told_as_json(
    web: Client, client_of: ClientOf, stranger: User
) -> None:
    first, second = builders.running(name="First"), builders.draft(name="Second")
    [person] = builders.people(1)
    builders.enrol(first, [person])
    builders.enrol(second, [person], default="add")
    actions.end(first.pk, user=None)

    [walk] = web.get(f"/automation/targets/{person}/executions").json()["executions"]
    assert (walk["campaign"]["name"], walk["status"], walk["next_at"]) == ("Second", "pending", None)
    assert client_of(stranger).get(f"/automation/targets/{person}/executions").status_code == 404


def test_the_review_costs_the_same_for_many_people(web: Client) -> None:
    other, campaign = builders.running(), builders.running()
    found = []
    for count in (2, 45):
        ids = builders.people(count)
        builders.enrol(other, ids)
        found.append(statements(web, url("batch", builders.review(campaign, ids).pk)))
    assert found[0] == found[1] <= 10
