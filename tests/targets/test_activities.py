"""Activities by hand: the tab of a person, the member's own list, and who may do what."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from core import clock as core_clock
from targets import activities
from targets.models import Activity, Target
from tests.clocks import MovableClock
from tests.factories import make_activity, make_target
from tests.people import client_of
from workspaces.models import AuditRecord, User, Workspace

LIST = "/targets/activities/"


@pytest.fixture
def site(marketer: User, clock: MovableClock) -> Client:
    return client_of(marketer, language="en")


@pytest.fixture
def sara(workspace: Workspace, clock: MovableClock) -> Target:
    return make_target(workspace, name="سارا", mobile="09121112233")


def typed(user: User, **fields: Any) -> dict[str, Any]:
    return {
        "kind": "call", "title": "زنگ بزن", "description": "دربارهٔ قرارداد", "due_at": "1405/09/10 ۱۴:۳۰",
        "owner": user.pk, **fields,
    }  # fmt: skip


def shown(response: Any) -> list[str]:
    return [str(one) for one in response.context["page"]]


def test_an_activity_is_noted_down_with_its_author_and_in_the_audit_log(site, sara, marketer):
    response = site.post(f"/targets/{sara.pk}/activities/new/", typed(marketer))
    made = Activity.objects.get()
    assert response.headers["Location"] == f"/targets/{sara.pk}/?tab=activities"
    assert (made.target, made.owner, made.created_by, made.done_at) == (sara, marketer, marketer, None)
    assert made.due_at.isoformat() == "2026-12-01T11:00:00+00:00"
    assert AuditRecord.objects.filter(event="activity.created", entity_id=made.pk).count() == 1


def test_what_was_done_already_is_noted_down_as_done(site, sara, marketer, clock):
    site.post(f"/targets/{sara.pk}/activities/new/", typed(marketer, is_done="on", kind="note"))
    made = Activity.objects.get()
    assert (made.done_at, made.done_by) == (clock.at, marketer)


def test_what_cannot_be_read_is_refused_at_its_field(site, sara, marketer):
    response = site.post(f"/targets/{sara.pk}/activities/new/", typed(marketer, title=" ", due_at="نمی‌دانم"))
    assert response.status_code == 422
    assert set(response.context["form"].errors) == {"title", "due_at"}


def test_a_change_is_stored_and_audited(site, workspace, sara, marketer):
    one = make_activity(workspace, target=sara, owner=marketer)
    site.post(f"{LIST}{one.pk}/edit/", typed(marketer, title="دیدار"))
    one.refresh_from_db()
    assert one.title == "دیدار"
    assert AuditRecord.objects.get(event="activity.changed").new["title"] == "دیدار"


def test_done_and_open_again_go_back_to_the_page_they_were_pressed_on(site, workspace, sara, marketer, clock):
    one = make_activity(workspace, target=sara)
    back = site.post(f"{LIST}{one.pk}/done/", {"next": f"{LIST}?whose=all"})
    one.refresh_from_db()
    assert (back.headers["Location"], one.done_at, one.done_by) == (f"{LIST}?whose=all", clock.at, marketer)
    assert site.post(f"{LIST}{one.pk}/reopen/").headers["Location"] == f"/targets/{sara.pk}/?tab=activities"
    one.refresh_from_db()
    assert (one.done_at, one.done_by) == (None, None)


def test_another_site_is_no_page_to_go_back_to(site, workspace, sara):
    one = make_activity(workspace, target=sara)
    assert site.post(f"{LIST}{one.pk}/done/", {"next": "//evil.example"}).headers["Location"] == LIST


def test_of_two_who_press_done_the_first_one_stands(workspace, sara, marketer, operator):
    one = make_activity(workspace, target=sara)
    assert activities.complete(one, user=marketer)
    assert not activities.complete(one, user=operator)
    one.refresh_from_db()
    assert one.done_by == marketer
    assert AuditRecord.objects.filter(event="activity.done").count() == 1


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ("", ["late", "soon", "tomorrow"]),
        ("?when=overdue", ["late"]),
        ("?when=today", ["late", "soon"]),
        ("?when=done", ["done"]),
        ("?whose=nobody", ["unowned"]),
        ("?whose=all&kind=visit", ["visit"]),
        ("?whose=all&when=%27%22", ["late", "unowned", "soon", "visit", "tomorrow"]),
    ],
)
def test_the_list_shows_what_was_asked_for_in_the_order_to_do_it(
    site: Client, workspace: Workspace, marketer: User, operator: User, query: str, titles: list[str]
):
    now = core_clock.now()
    mine: dict[str, Any] = {"owner": marketer}
    make_activity(workspace, title="tomorrow", due_at=now + timedelta(days=1), **mine)
    make_activity(workspace, title="late", due_at=now - timedelta(hours=1), **mine)
    make_activity(workspace, title="soon", due_at=now + timedelta(hours=1), **mine)
    make_activity(workspace, title="done", done_at=now, **mine)
    make_activity(workspace, title="unowned", due_at=now - timedelta(minutes=1))
    make_activity(workspace, title="visit", kind="visit", owner=operator, due_at=now + timedelta(hours=2))
    assert shown(site.get(f"{LIST}{query}")) == titles


def test_a_seller_sees_the_activities_of_their_own_people_only(workspace, seller, clock):
    mine = make_target(workspace, owner=seller)
    make_activity(workspace, title="mine", target=mine, owner=seller)
    foreign = make_activity(workspace, title="foreign", owner=seller)
    browser = client_of(seller, language="en")
    assert shown(browser.get(f"{LIST}?whose=all")) == ["mine"]
    assert browser.post(f"{LIST}{foreign.pk}/done/").status_code == 404


def test_a_removed_person_takes_their_activities_out_of_the_list(site, workspace, sara, marketer, clock):
    make_activity(workspace, target=sara, owner=marketer)
    site.post(f"/targets/{sara.pk}/delete/")
    assert shown(site.get(LIST)) == []


def test_the_tab_shows_open_ones_first_and_who_recorded_them(site, workspace, sara, clock):
    make_activity(workspace, target=sara, title="old", done_at=clock.at)
    make_activity(workspace, target=sara, title="new", source="step:1/2/1")
    response = site.get(f"/targets/{sara.pk}/?tab=activities")
    assert shown(response) == ["new", "old"]
    assert "Recorded by a workflow" in response.content.decode()


def test_texts_are_shown_as_text(site, workspace, sara):
    make_activity(workspace, target=sara, title="<script>x</script>", description="<b>\u202e")
    for page in (f"/targets/{sara.pk}/?tab=activities", f"{LIST}?whose=nobody"):
        assert b"<script>x" not in site.get(page).content


def test_long_lists_cost_as_many_queries_as_short_ones(site, workspace, sara, marketer):
    counts = []
    site.get(LIST)  # the session's first visit of the day is stored
    for _round in range(2):
        for _one in range(5):
            make_activity(workspace, target=sara, owner=marketer)
        for page in (LIST, f"/targets/{sara.pk}/?tab=activities"):
            with CaptureQueriesContext(connection) as queries:
                site.get(page)
            counts.append(len(queries))
    assert counts[:2] == counts[2:]


def test_the_start_page_tells_what_is_due(site, workspace, sara, marketer):
    assert "Activities that are due" not in site.get("/").content.decode()
    make_activity(workspace, target=sara, owner=marketer)
    assert "Activities that are due" in site.get("/").content.decode()
