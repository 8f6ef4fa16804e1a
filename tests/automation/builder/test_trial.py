"""A trial: one real person, every decision, no waiting, nothing sent and nothing stored."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from django.apps import apps
from django.test.utils import CaptureQueriesContext

from automation import catalogue, checking, publishing
from automation.builder.people import chosen_person
from automation.builder.trial import Trial, try_out
from automation.builder.unfinished import walkable
from automation.models import WorkflowExecution, WorkflowVersion
from blacklist import actions as blacklist
from engine.types import Definition, EdgeSpec, NodeSpec
from sms.models import SmsLog
from targets.models import Target
from tests.automation.builder.conftest import in_english, url
from tests.clocks import MONDAY_MORNING
from tests.factories import make_target


@pytest.fixture
def sara(workspace) -> Target:
    return make_target(
        workspace, name="سارا کریمی", first_name="سارا", city="تهران", mobile="09121112233", status="new"
    )


def walk_through(workspace, owner, person: Target, definition: Definition, *, kind: str = "list") -> Trial:
    report = checking.check(definition, kind)
    assert report.compiled.graph is not None, report.problems
    chosen = chosen_person(owner.memberships.get(), str(person.pk))
    assert chosen is not None
    return try_out(report.compiled.graph, chosen, workspace, MONDAY_MORNING, settings=definition.settings)


def template(key: str) -> Definition:
    found = catalogue.find(key)
    assert found is not None
    return found.definition()


def chain(*nodes: NodeSpec, **settings: Any) -> Definition:
    start = NodeSpec(key="start", type="start", subtype="manual")
    end = NodeSpec(key="end", type="end", subtype="complete", config={"behavior": "complete"})
    row = [start, *nodes, end]
    edges = tuple(EdgeSpec(source=a.key, port="default", target=b.key) for a, b in pairwise(row))
    return Definition(nodes=tuple(row), edges=edges, settings=settings)


def send(key: str, body: str, **config: Any) -> NodeSpec:
    return NodeSpec(key=key, type="action", subtype="send_sms", config={"body": body, **config})


def test_waits_are_skipped_and_counted_and_texts_are_written(workspace, owner, sara):
    trial = walk_through(workspace, owner, sara, replace(template("three_step_introduction"), settings={}))

    assert [line.kind for line in trial.lines] == ["effect", "wait", "effect", "wait", "effect", "end"]
    assert (trial.sends, trial.waits, trial.reached, trial.outcome) == (3, 2, True, "finished")
    assert trial.lines[0].text.startswith("سارا گرامی، سلام.")
    assert (trial.lines[2].at - trial.lines[0].at).days == 30


@pytest.mark.parametrize(("status", "way"), [("new", "no"), ("interested", "yes")])
def test_a_condition_is_asked_about_the_real_person(workspace, owner, sara, status, way):
    Target.objects.filter(pk=sara.pk).update(status=status)
    trial = walk_through(workspace, owner, sara, template("welcome_and_reminder"))

    assert [line.code for line in trial.lines if line.kind == "branch"] == [way]
    assert trial.sends == (2 if way == "no" else 1)


def test_outside_the_hours_the_message_waits_for_the_next_opening(workspace, owner, sara):
    window = {"timezone": "Asia/Tehran", "days": {"tue": [["10:00", "12:00"]]}}
    trial = walk_through(workspace, owner, sara, chain(send("a", "سلام"), send_window=window))

    assert [(line.kind, line.code) for line in trial.lines][:2] == [("wait", "window"), ("effect", "sent")]
    assert trial.lines[1].at.astimezone(MONDAY_MORNING.tzinfo).strftime("%a %H:%M") == "Tue 10:00"


@pytest.mark.parametrize(
    ("change", "code"),
    [({"mobile": "", "landline": "02100000000"}, "no_mobile"), ({"city": ""}, "missing_personalisation")],
)
def test_what_would_keep_a_message_back_is_named(workspace, owner, sara, change, code):
    Target.objects.filter(pk=sara.pk).update(**change)
    trial = walk_through(workspace, owner, sara, chain(send("a", "سلام {city}")))

    assert (trial.lines[0].code, trial.sends, trial.outcome) == (code, 0, "finished")
    assert trial.lines[0].suggestion


def test_somebody_on_the_blacklist_stops_at_the_message(workspace, owner, sara):
    blacklist.add(
        workspace_id=workspace.pk, channel="sms", values=[sara.mobile], source="manual", reason="",
        user=owner,
    )  # fmt: skip
    trial = walk_through(workspace, owner, sara, chain(send("a", "سلام"), send("b", "باز سلام")))

    assert [line.code for line in trial.lines] == ["blacklisted", "blacklisted"]


def test_the_event_that_is_waited_for_comes(workspace, owner, sara):
    wait = NodeSpec(key="w", type="wait", subtype="for_event", config={"event": "paid"})
    trial = walk_through(workspace, owner, sara, chain(wait, send("a", "سلام")), kind="journey")

    assert [(line.kind, line.code) for line in trial.lines] == [
        ("wait", "event_came"), ("effect", "sent"), ("end", "finished"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("filters", "code"),
    [
        ([{"field": "keyword", "operator": "=", "value": "بله!"}], "event_came"),
        ([{"field": "line", "operator": "in", "value": ["5000", "3000"]}], "event_came"),
        ([{"field": "amount", "operator": ">", "value": 9}], "event_came"),
        ({"root": {"op": "or", "children": [{"field": "x", "operator": "is_not_null"}]}}, "event_came"),
        ([{"field": "x", "operator": "=", "value": v} for v in "ab"], "wait"),
    ],
)
def test_the_event_comes_as_the_wait_asks_for_it(workspace, owner, sara, filters, code):
    config = {"event": "sms_received", "filter": filters, "amount": 1, "unit": "day"}
    wait = NodeSpec(key="w", type="wait", subtype="for_event", config=config)
    trial = walk_through(workspace, owner, sara, chain(wait, send("a", "سلام")), kind="journey")

    assert trial.lines[0].code == code


def test_a_split_sends_the_same_person_the_same_way_each_time(workspace, owner, sara):
    split = NodeSpec(
        key="s",
        type="split",
        subtype="share",
        config={"branches": [{"weight": 1, "variant": "A"}, {"weight": 1, "variant": "B"}]},
    )
    start = NodeSpec(key="start", type="start", subtype="manual")
    one, two = send("a", "آ"), send("b", "ب")
    edges = (
        EdgeSpec(source="start", port="default", target="s"),
        EdgeSpec(source="s", port="branch_1", target="a"),
        EdgeSpec(source="s", port="branch_2", target="b"),
    )
    definition = Definition(nodes=(start, split, one, two), edges=edges)
    texts = {walk_through(workspace, owner, sara, definition, kind="journey").lines[1].text for _ in range(3)}

    assert len(texts) == 1


def test_a_trial_stops_after_a_hundred_steps(workspace, owner, sara):
    loop = NodeSpec(
        key="end", type="end", subtype="loop",
        config={"behavior": "loop", "delay": {"amount": 1, "unit": "day"}, "max_cycles": 900},
    )  # fmt: skip
    base = chain(send("a", "سلام"))
    definition = Definition(nodes=(*base.nodes[:-1], loop), edges=base.edges)
    trial = walk_through(workspace, owner, sara, definition)

    assert len(trial.lines) == 100
    assert (trial.lines[-1].code, trial.reached) == ("too_many_steps", False)


def test_a_trial_stores_nothing_and_asks_a_constant_number_of_questions(
    workspace, owner, sara, english, django_assert_max_num_queries
):
    workflow = in_english(owner, "three_step_introduction")
    english.get(url("list"))
    before = {model: model._base_manager.count() for model in apps.get_models()}
    with django_assert_max_num_queries(18) as asked:
        page = english.get(url("trial", workflow.pk), {"person": sara.pk}).content.decode()

    assert isinstance(asked, CaptureQueriesContext)
    assert not [q for q in asked.captured_queries if q["sql"].lstrip().startswith(("INSERT", "DELETE"))]
    assert {model: model._base_manager.count() for model in apps.get_models()} == before
    assert (SmsLog.objects.count(), WorkflowExecution.objects.count()) == (0, 0)
    assert page.count("Would be sent") == 3
    assert "Waits skipped" in page


def test_without_a_choice_somebody_added_lately_is_taken(workspace, owner, sara, english):
    workflow = in_english(owner, "three_step_introduction")

    assert "سارا کریمی" in english.get(url("trial", workflow.pk)).content.decode()


def test_without_anybody_the_page_says_so(workspace, owner, english):
    workflow = in_english(owner, "three_step_introduction")
    page = english.get(url("trial", workflow.pk)).content.decode()

    assert "No person is available for a trial yet." in page


def walk_unfinished(workspace, owner, person: Target, definition: Definition) -> Trial:
    way = walkable(definition, checking.check(definition), "list")
    assert way.graph is not None
    chosen = chosen_person(owner.memberships.get(), str(person.pk))
    assert chosen is not None
    done = try_out(way.graph, chosen, workspace, MONDAY_MORNING, settings=definition.settings)
    return way.named(done)


def test_an_unfinished_draft_is_walked_to_the_step_that_lacks_something(workspace, owner, sara):
    trial = walk_unfinished(workspace, owner, sara, chain(send("a", "سلام"), send("b", ""), send("c", "باز")))

    assert [(line.kind, line.node, line.code) for line in trial.lines] == [
        ("effect", "a", "sent"), ("error", "b", "unfinished"),
    ]  # fmt: skip
    assert (trial.sends, trial.reached, trial.outcome) == (1, False, "unfinished")
    assert [finding.code for finding in trial.lines[-1].data["findings"]] == ["text_empty"]


@pytest.mark.parametrize(
    ("city", "last"), [("تهران", ("end", "end", "finished")), ("", ("error", "gap-1", "unfinished"))]
)
def test_a_way_that_leads_nowhere_ends_the_trial_at_its_step(workspace, owner, sara, city, last):
    Target.objects.filter(pk=sara.pk).update(city=city)
    asked = {"root": {"field": "target.city", "operator": "=", "value": "تهران"}}
    fork = NodeSpec(key="gap-1", type="condition", subtype="field_rules", config=asked)  # a key like its own
    base = chain(fork)
    edges = tuple(replace(edge, port="yes") if edge.source == "gap-1" else edge for edge in base.edges)
    line = walk_unfinished(workspace, owner, sara, replace(base, edges=edges)).lines[-1]

    assert (line.kind, line.node, line.code) == last
    assert [finding.port for finding in line.data.get("findings", ())] == ([] if city else ["no"])


def test_the_page_of_an_unfinished_draft_says_where_and_what(workspace, owner, sara, english, change):
    workflow = in_english(owner, None)
    draft = WorkflowVersion.objects.get(workflow=workflow)
    start = publishing.load_definition(draft).nodes[0].key
    change(workflow, "insert:send_sms", at=f"{start}.default.0")
    page = english.get(url("trial", workflow.pk), headers={"HX-Request": "true"}).content.decode()

    assert "The trial goes no further: the draft is not finished here." in page
    assert page.count("The text of the message is empty.") == 2
    assert "<html" not in page


def test_without_a_start_there_is_nothing_to_walk(workspace):
    definition = replace(chain(send("a", "سلام")), nodes=(send("a", "سلام"),))

    assert walkable(definition, checking.check(definition), "list").graph is None


def test_nobody_else_is_taken_for_a_person_one_may_not_see(workspace, owner, sara, english):
    workflow = in_english(owner, "three_step_introduction")
    page = english.get(url("trial", workflow.pk), {"person": "999999"}).content.decode()

    assert "No person is available for a trial yet." in page
