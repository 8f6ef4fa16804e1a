"""A question by SMS and its answer: whoever answers as expected goes one way, everybody else another."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from automation.inbound import event_key
from core.tenancy import workspace_scope
from engine.types import NodeSpec
from sms.inbound.processing import process
from sms.models import InboundSms
from targets.models import Target, TargetEvent
from tests.clocks import MovableClock
from tests.engine.building import goal, wait, wait_for
from tests.factories import make
from tests.graphs import GraphScenario, message
from tests.sms.inbound.relaying import LINE, relay, token_of, write
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db
YES = {"root": {"field": "keyword", "operator": "=", "value": "بله"}}


@pytest.fixture(autouse=True)
def _ready(workspace: Workspace, clock: MovableClock) -> None:
    """Every test has a workspace and a clock that stands still."""


@pytest.fixture
def answer(workspace: Workspace, clock: MovableClock, django_capture_on_commit_callbacks: Any) -> Any:
    """Somebody writes to our line a minute later: the relay takes it in, it is acted on and told."""

    def write_in(number: str, text: str, home: Workspace = workspace) -> None:
        clock.advance(minutes=1)
        with django_capture_on_commit_callbacks(execute=True):
            assert relay(token_of(home), **{"from": number, "body": text}).status_code == 200

    return write_in


def question(people: int = 1, **config: Any) -> GraphScenario:
    """Everybody is asked, and waits a day at most for the answer."""
    config = {"filter": YES, "amount": 1, "unit": "day", **config}
    scenario = GraphScenario(
        message("q", "می‌آیید؟ بله یا خیر"), wait_for("a", "sms_received", **config),
        message("yes", "خوش آمدید"), message("late", "شاید بعد"),
        edges=["start -> q", "q -> a", "a -> yes", "a.timeout -> late"], people=people,
    )  # fmt: skip
    scenario.settle()
    return scenario


def ways(scenario: GraphScenario) -> list[list[str]]:
    """What each person was sent after the question."""
    accepted = scenario.provider.accepted
    return [[sent.text for sent in accepted if sent.to == person.mobile][1:] for person in scenario.targets]


def test_who_answers_goes_the_way_of_the_answer_and_who_does_not_the_other(
    answer: Any, clock: MovableClock
) -> None:
    scenario = question(people=3)
    answer(scenario.targets[0].mobile, "بله")
    answer(scenario.targets[1].mobile, "خیر")
    scenario.settle()
    assert ways(scenario) == [["خوش آمدید"], [], []]
    clock.advance(days=1)
    scenario.settle()
    assert ways(scenario) == [["خوش آمدید"], ["شاید بعد"], ["شاید بعد"]]
    assert {scenario.ended(index)[0] for index in range(3)} == {"completed"}


def test_every_spelling_of_the_word_is_the_answer(answer: Any) -> None:
    scenario = question(5, filter=[{"field": "keyword", "operator": "in", "value": ["بلی", "بله."]}])
    for person, text in zip(
        scenario.targets, ["بله", " بلـه!\u200f ", "بَله", "«بلي»", "ب\u200cله"], strict=True
    ):
        answer(person.mobile, text)
    scenario.settle()
    assert ways(scenario) == [["خوش آمدید"]] * 5


def test_a_sentence_is_asked_about_its_first_word(answer: Any) -> None:
    scenario = question(filter=[{"field": "first_word", "operator": "=", "value": "بلی"}])
    answer(scenario.targets[0].mobile, "بلي، ممنون از شما")
    scenario.settle()
    assert ways(scenario) == [["خوش آمدید"]]


def test_any_answer_will_do_where_none_is_named(answer: Any) -> None:
    scenario = question(filter=None)
    answer(scenario.targets[0].mobile, "چی؟")
    scenario.settle()
    assert ways(scenario) == [["خوش آمدید"]]


def test_a_no_is_no_answer(answer: Any, clock: MovableClock) -> None:
    """Whoever says no for ever gets neither the one message nor the other."""
    scenario = question(filter=None)
    answer(scenario.targets[0].mobile, "لغو")
    scenario.settle()
    assert (scenario.at(), TargetEvent.objects.count()) == ("a", 0)
    clock.advance(days=1)
    scenario.settle()
    assert ways(scenario) == [[]]


def test_what_came_before_the_wait_is_no_answer(answer: Any, clock: MovableClock) -> None:
    scenario = GraphScenario(
        wait("w", 1, "hour"), wait_for("a", "sms_received"), message("yes"),
        edges=["start -> w", "w -> a", "a -> yes"],
    )  # fmt: skip
    scenario.settle()
    answer(scenario.targets[0].mobile, "بله")
    clock.advance(hours=1)
    scenario.settle()
    assert scenario.at() == "a"


def test_an_answer_after_the_time_changes_nothing(answer: Any, clock: MovableClock) -> None:
    scenario = question()
    clock.advance(days=1)
    answer(scenario.targets[0].mobile, "بله")
    scenario.settle()
    assert ways(scenario) == [["شاید بعد"]]


def test_an_answer_in_time_wins_however_late_it_is_worked_on(
    workspace: Workspace, clock: MovableClock
) -> None:
    """The queue was down for two days: the answer counts from the moment it came."""
    scenario = question()
    clock.advance(hours=2)
    relay(token_of(workspace), **{"from": scenario.targets[0].mobile, "body": "بله"})
    clock.advance(days=2)
    scenario.settle()
    assert ways(scenario) == [["خوش آمدید"]]


def test_another_workspace_s_answer_wakes_nobody(
    answer: Any, other_workspace: Workspace, clock: MovableClock
) -> None:
    scenario = question()
    number = scenario.targets[0].mobile
    with workspace_scope(other_workspace.pk):
        make(Target, other_workspace, mobile=number)
    answer(number, "بله", other_workspace)
    scenario.settle()
    assert (scenario.at(), TargetEvent.objects.count()) == ("a", 0)
    assert TargetEvent.unscoped.get().workspace_id == other_workspace.pk


def test_a_number_of_nobody_records_nothing(answer: Any) -> None:
    answer("09351112233", "بله")
    assert not TargetEvent.objects.exists()


def test_a_message_is_an_event_once(workspace: Workspace, clock: MovableClock) -> None:
    person = make(Target, workspace)
    assert write(workspace, "بله", number=person.mobile).effect == "nothing"
    row = InboundSms.objects.get()
    assert process([row.pk], clock.at) == 0
    event = TargetEvent.objects.get()
    assert (event.dedupe_key, event.occurred_at) == (event_key(row.pk), row.received_at)
    assert event.properties == {"keyword": "بله", "first_word": "بله", "line": LINE}


def test_a_long_letter_has_no_keyword(workspace: Workspace) -> None:
    person = make(Target, workspace)
    write(workspace, "سلام " + "و باز هم " * 20, number=person.mobile)
    assert TargetEvent.objects.get().properties == {"first_word": "سلام", "line": LINE}


def test_forks_and_goals_know_who_answered(answer: Any, clock: MovableClock) -> None:
    """A fork for whoever answered twice, and a goal for whoever answered at all."""
    often = NodeSpec(
        key="c", type="condition", subtype="field_rules",
        config={"root": {"event": "sms_received", "count_operator": ">=", "count": 2, "within_days": 7}},
    )  # fmt: skip
    scenario = GraphScenario(
        wait("w", 1, "day"), often, message("often"), goal("g", "sms_received"), message("never"),
        edges=["start -> w", "w -> c", "c.yes -> often", "c.no -> g", "g -> never"], people=3,
    )  # fmt: skip
    scenario.settle()
    for index, text in ((0, "سلام"), (0, "هستید؟"), (1, "سلام")):
        answer(scenario.targets[index].mobile, text)
    clock.advance(days=1)
    scenario.settle()
    assert sorted(scenario.texts()) == ["never", "often"]
    assert [scenario.ended(index)[1] for index in range(3)] == [
        "no_next_node",
        "goal_reached",
        "no_next_node",
    ]


def test_a_chunk_asks_once_about_all_its_people(clock: MovableClock) -> None:
    costs = []
    for people in (2, 20):
        scenario = question(people=people)
        clock.advance(days=1)
        with CaptureQueriesContext(connection) as captured:
            assert scenario.tick().dispatched == 2 * people  # the wait ends, then the message is sent
        costs.append(sum('FROM "targets_targetevent"' in (query["sql"] or "") for query in captured))
        scenario.settle()
    assert costs == [2, 2]
