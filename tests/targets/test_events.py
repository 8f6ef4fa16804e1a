"""What happens to people: stored once and within bounds, told after the commit, found again after a death."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core import clock as core_clock
from core.errors import Refused
from core.tenancy import workspace_scope
from targets import activities, event_delivery
from targets.events import NewEvent, carried, happened, record
from targets.models import Target, TargetEvent, TargetEventPending
from tests.clocks import MovableClock
from tests.concurrency.threads import at_once
from tests.factories import make
from tests.people import make_workspace
from tests.plans import plan_by
from workspaces.models import User, Workspace

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _standing_still(workspace: Workspace, clock: MovableClock) -> None:
    """In a workspace, at one moment."""


@pytest.fixture
def told() -> Iterator[list[tuple[str, int]]]:
    """What a listener heard."""
    heard: list[tuple[str, int]] = []

    def listener(_workspace_id: int, name: str, target_id: int, _now: Any) -> None:
        heard.append((name, target_id))

    event_delivery.register_listener("test", listener)
    yield heard
    del event_delivery._listeners["test"]


def event(target: Target, key: str = "k", name: str = "order_paid", **more: Any) -> NewEvent:
    values: dict[str, Any] = {"source": "test", "occurred_at": core_clock.now(), **more}
    return NewEvent(target_id=target.pk, name=name, key=key, **values)


def asked(*people: Target, name: str = "order_paid", days: int = 1) -> dict[int, dict[str, Any]]:
    return {person.pk: {name: core_clock.now() - timedelta(days=days)} for person in people}


# -- storing ----------------------------------------------------------------------------------------


def test_an_event_told_twice_is_stored_once(workspace: Workspace) -> None:
    person = make(Target, workspace)
    first = record(workspace.pk, [event(person, properties={"amount": 5})])
    assert record(workspace.pk, [event(person), event(person, "other"), event(person, "other")]).keys() == {
        "other"
    }
    row = TargetEvent.objects.get(pk=first["k"])
    assert (row.name, row.properties, row.received_at) == ("order_paid", {"amount": 5}, core_clock.now())


def test_a_key_belongs_to_its_workspace(workspace: Workspace, other_workspace: Workspace) -> None:
    record(workspace.pk, [event(make(Target, workspace))])
    with workspace_scope(other_workspace.pk):
        assert record(other_workspace.pk, [event(make(Target, other_workspace))])


def test_two_statements_store_any_number(workspace: Workspace) -> None:
    person = make(Target, workspace)
    costs = []
    for count in (1, 50):
        with CaptureQueriesContext(connection) as captured:
            record(workspace.pk, [event(person, f"{count}-{n}") for n in range(count)])
        costs.append(len([query for query in captured if query["sql"].startswith("INSERT")]))
    assert costs == [2, 2]


@pytest.mark.parametrize(
    "name",
    [
        "",
        "Order",
        "order paid",
        "پرداخت",
        "order__paid",
        "_paid",
        "9lives",
        "a" * 101,
        "journey_enter_requested",
    ],
)
def test_a_name_that_is_no_name_is_refused(workspace: Workspace, name: str) -> None:
    with pytest.raises(Refused):
        record(workspace.pk, [event(make(Target, workspace), name=name)])
    assert not TargetEvent.objects.exists()


@pytest.mark.parametrize("key", ["", "k" * 101])
def test_a_key_that_is_no_key_is_refused(workspace: Workspace, key: str) -> None:
    with pytest.raises(Refused):
        record(workspace.pk, [event(make(Target, workspace), key)])


def test_what_is_said_to_happen_later_happened_now(workspace: Workspace) -> None:
    later = core_clock.now() + timedelta(days=1)
    record(workspace.pk, [event(make(Target, workspace), occurred_at=later)])
    assert TargetEvent.objects.get().occurred_at == core_clock.now()


def test_the_first_32_properties_by_name_are_kept() -> None:
    names = [f"p{n:02d}" for n in range(40)]
    assert list(carried(dict.fromkeys(reversed(names), 1))) == names[:32]


def test_what_is_too_long_goes_before_any_are_counted() -> None:
    names = [f"p{n:02d}" for n in range(32)]
    assert list(carried({"a": "ی" * 257, **dict.fromkeys(names, 1)})) == names
    assert carried({"fits": "ی" * 256, "long": "x" * 513}) == {"fits": "ی" * 256}


@pytest.mark.parametrize("value", [[1], {"a": 1}, float("nan"), "a\x00b", "\ud800", 10**600])
def test_a_property_that_cannot_be_kept_is_left_out(value: Any) -> None:
    assert carried({"odd": value, "": 1, 7: 1, "n\x00": 1, "plain": None}) == {"plain": None}


# -- reading ----------------------------------------------------------------------------------------


def test_only_what_was_asked_for_is_read(workspace: Workspace, clock: MovableClock) -> None:
    ana, bo = make(Target, workspace), make(Target, workspace)
    old = clock.at - timedelta(days=2)
    record(
        workspace.pk,
        [
            event(ana, "1", properties={"n": 1}), event(ana, "2", name="seen"), event(bo, "3"),
            event(ana, "4", occurred_at=old),
        ],
    )  # fmt: skip
    found = list(happened(workspace.pk, asked(ana)))
    assert [(one.target_id, one.name, one.at, one.properties) for one in found] == [
        (ana.pk, "order_paid", clock.at, {"n": 1})
    ]


def test_a_hundred_people_are_one_question(workspace: Workspace) -> None:
    people = [make(Target, workspace) for _ in range(100)]
    record(workspace.pk, [event(person, f"k{person.pk}") for person in people])
    with CaptureQueriesContext(connection) as captured:
        assert len(list(happened(workspace.pk, asked(*people)))) == 100
    assert len(captured) == 1


@pytest.mark.skipif(connection.vendor != "postgresql", reason="the planner of PostgreSQL is asked")
def test_the_question_is_served_by_its_index(workspace: Workspace) -> None:
    people = [make(Target, workspace) for _ in range(30)]
    record(workspace.pk, [event(one, f"{one.pk}-{n}", name=f"e{n}") for one in people for n in range(10)])
    asked_about = {"target_id__in": [one.pk for one in people[:2]], "name__in": ["e1", "e2"]}
    rows = TargetEvent.objects.filter(occurred_at__gte=core_clock.now(), **asked_about)
    sql, values = rows.query.sql_with_params()
    assert "target_event_of_person" in plan_by("target_event_of_person", TargetEvent, sql, values)


# -- telling ----------------------------------------------------------------------------------------


def test_an_event_is_told_after_the_commit(
    workspace: Workspace, told: list[tuple[str, int]], django_capture_on_commit_callbacks: Any
) -> None:
    person = make(Target, workspace)
    with django_capture_on_commit_callbacks(execute=True):
        record(workspace.pk, [event(person)])
        assert told == []
    assert told == [("order_paid", person.pk)]
    assert not TargetEventPending.objects.exists()


def test_the_tick_tells_what_a_dead_process_did_not(
    workspace: Workspace, told: list[tuple[str, int]], clock: MovableClock
) -> None:
    """The commit's own telling never ran."""
    person = make(Target, workspace)
    record(workspace.pk, [event(person)])
    assert event_delivery.sweep(clock.at) == {"events_told": 0}
    assert event_delivery.sweep(clock.advance(seconds=31)) == {"events_told": 1}
    assert event_delivery.sweep(clock.at) == {"events_told": 0}
    assert told == [("order_paid", person.pk)]


def test_an_event_that_cannot_be_told_stops_no_other(workspace: Workspace, clock: MovableClock) -> None:
    ana, bo = make(Target, workspace), make(Target, workspace)
    made = record(workspace.pk, [event(ana, "1"), event(bo, "2")])

    def listener(_workspace_id: int, _name: str, target_id: int, _now: Any) -> None:
        if target_id == ana.pk:
            raise RuntimeError("no")

    event_delivery.register_listener("broken", listener)
    try:
        assert event_delivery.deliver(workspace.pk, made.values(), clock.at) == 1
    finally:
        del event_delivery._listeners["broken"]
    assert list(TargetEventPending.objects.values_list("event_id", flat=True)) == [made["1"]]
    assert event_delivery.sweep(clock.advance(minutes=10)) == {"events_told": 1}


# -- activities -------------------------------------------------------------------------------------


def test_what_a_colleague_does_with_a_person_is_an_event(workspace: Workspace, owner: User) -> None:
    person = make(Target, workspace)
    values = {"kind": "call", "title": "x", "due_at": core_clock.now()}
    noted = activities.create(person, values, user=owner)
    activities.complete(noted, user=owner)
    activities.complete(noted, user=owner)
    activities.create(person, values | {"kind": "note"}, done=True, user=owner)
    rows = TargetEvent.objects.filter(target=person).order_by("pk").values_list("name", "properties")
    assert [(name, properties["kind"]) for name, properties in rows] == [
        ("activity_added", "call"), ("activity_done", "call"), ("activity_added", "note"),
        ("activity_done", "note"),
    ]  # fmt: skip


# -- at once ----------------------------------------------------------------------------------------


@pytest.mark.concurrency
@pytest.mark.django_db(transaction=True)
def test_many_who_tell_the_same_store_it_once(clock: MovableClock) -> None:
    home = make_workspace("many")
    with workspace_scope(home.pk):
        person = make(Target, home)
        made = at_once(6, lambda _i: len(record(home.pk, [event(person)])), workspace_id=home.pk)
        assert sorted(made) == [0, 0, 0, 0, 0, 1]
        assert (TargetEvent.objects.count(), TargetEventPending.objects.count()) == (1, 0)
