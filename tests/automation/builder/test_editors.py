"""The page of a step: every kind of step has its fields, saves them, and says what is missing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from automation.builder.kinds import kinds
from automation.models import WorkflowNode, WorkflowVersion
from engine.types import NodeSpec, Profile
from sms.models import SmsTemplate
from targets.models import Target, TargetList
from tests.automation.builder.conftest import base_of, in_english, lists_of, url
from tests.factories import make, make_target
from workspaces.models import AuditRecord

FRAGMENT = {"HX-Request": "true"}


def step_of(workflow, kind: str) -> NodeSpec:
    lists = lists_of(workflow)
    everyone = [lists.start, *(node for nodes in lists.lists.values() for node in nodes)]
    return next(node for node in everyone if kind in (node.type, node.subtype))


@pytest.fixture
def save(english):
    """`save(workflow, key, amount="3")`: what the page of that step posts while somebody types."""

    def post(workflow, key: str, **typed: Any):
        fields = {"base": base_of(workflow), "name": "n", "is_enabled": "on"} | typed
        return english.post(url("step", workflow.pk, key), fields, headers=FRAGMENT)

    return post


@pytest.fixture
def added(journey, change):
    """`added("wait")`: a step of that kind, first in the journey."""

    def add(kind: str) -> NodeSpec:
        lists = lists_of(journey)
        if kind.startswith("end") or kind in ("condition", "switch", "split"):
            change(journey, f"remove:{lists.lists[lists.root][0].key}")
        assert change(journey, f"insert:{kind}", at=f"{lists.start.key}.default.0").status_code == 200
        now = lists_of(journey)
        return now.lists[now.root][0]

    return add


def events(answer) -> dict[str, Any]:
    return json.loads(answer.headers["HX-Trigger"])


# Every kind


@pytest.mark.parametrize("kind", [kind.key for kind in kinds(Profile.JOURNEY)])
def test_every_kind_opens_and_saves_as_it_was_drawn(journey, added, english, kind):
    node = added(kind)
    page = english.get(url("step", journey.pk, node.key))
    form = page.context["form"]
    posted = {name: value for name in form.fields if (value := form[name].value()) not in (None, False)}
    base = base_of(journey)
    answer = english.post(url("step", journey.pk, node.key), posted, headers=FRAGMENT)

    assert page.status_code == answer.status_code == 200
    assert base_of(journey) == base
    assert step_of(journey, node.subtype) == node


@pytest.mark.parametrize("kind", ["start", "end"])
def test_the_ends_of_a_workflow_can_be_named(workflow, save, kind):
    node = step_of(workflow, kind)
    save(workflow, node.key, name="تازه", kind="complete")

    assert step_of(workflow, kind).name == "تازه"
    assert step_of(workflow, kind).is_enabled


def test_a_pause_before_the_first_step(workflow, save):
    start = step_of(workflow, "start")
    save(workflow, start.key, amount="۲", unit="hour")
    assert step_of(workflow, "start").config == {"initial_delay": {"amount": 2, "unit": "hour"}}

    save(workflow, start.key, amount="", unit="hour")
    assert step_of(workflow, "start").config == {}


# Waits


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        ({"kind": "duration", "amount": "90", "unit": "minute"}, {"amount": 90, "unit": "minute"}),
        (
            {"kind": "until", "at": "1405/09/09 14:30"},
            {"at": "2026-11-30T14:30", "timezone": "Asia/Tehran"},
        ),
        ({"kind": "until", "at": ""}, {"at": "", "timezone": "Asia/Tehran"}),
        ({"kind": "until_time", "time": "۹:۳۰"}, {"hour": 9, "minute": 30}),
        ({"kind": "until_best_time", "fallback_hour": "10"}, {"fallback_hour": 10}),
        ({"kind": "for_event", "event": "paid"}, {"event": "paid"}),
        (
            {"kind": "for_event", "event": "paid", "is_limited": "on", "amount": "2", "unit": "day"},
            {"event": "paid", "amount": 2, "unit": "day"},
        ),
    ],
)
def test_a_wait_becomes_any_other_kind(journey, added, save, typed, stored):
    node = added("wait")
    answer = save(journey, node.key, **typed)

    now = next(node for node in lists_of(journey).lists[lists_of(journey).root] if node.type == "wait")
    assert answer.status_code == 200
    assert (now.subtype, now.config) == (typed["kind"], {"mode": typed["kind"], **stored})


def test_a_campaign_has_two_kinds_of_wait(workflow, english, save):
    key = step_of(workflow, "duration").key
    form = english.get(url("step", workflow.pk, key)).context["form"]

    assert [value for value, _label in form.fields["kind"].choices] == ["duration", "until"]
    assert save(workflow, key, kind="until_time", time="9").status_code == 422


@pytest.mark.parametrize("time", ["24:00", "9:60", "nine", "-1"])
def test_a_wrong_time_of_day_is_not_stored(journey, added, save, time):
    node = added("wait_until_time")
    answer = save(journey, node.key, kind="until_time", time=time)

    assert answer.status_code == 422
    assert events(answer)["ui:errors"] == {"id_time": "Write a time of day such as 09:30."}


# Ends, goals


def test_an_end_becomes_a_loop_back_to_a_step(workflow, save):
    end, target = step_of(workflow, "end"), step_of(workflow, "send_sms")
    typed = {"kind": "loop", "to_node": target.key, "amount": "1", "unit": "week", "max_cycles": "3"}
    save(workflow, end.key, **typed)

    now = step_of(workflow, "end")
    assert (now.subtype, now.config) == (
        "loop",
        {
            "behavior": "loop",
            "delay": {"amount": 1, "unit": "week"},
            "max_cycles": 3,
            "to_node": target.key,
        },
    )


def test_a_loop_without_rounds_is_stored_and_named_as_a_problem(workflow, save):
    answer = save(workflow, step_of(workflow, "end").key, kind="loop", amount="1", unit="day", max_cycles="")

    assert answer.status_code == 200
    assert "Say how many rounds there are at most" in answer.content.decode()


def test_a_goal_without_an_event_is_stored_and_named_as_a_problem(journey, added, save):
    node = added("goal")
    answer = save(journey, node.key, event="", window_days="7")

    assert step_of(journey, "goal").config == {"event": "", "window_days": 7}
    assert "Choose the event." in answer.content.decode()


# Conditions and forks


def test_a_condition_is_built_question_by_question(workspace, owner, save, english):
    workflow = in_english(owner, "welcome_and_reminder")
    key = step_of(workflow, "condition").key
    typed = {
        "c.n": "2", "c.op": "or",
        "c.0.field": "target.city", "c.0.operator": "=", "c.0.value": "شیراز",
        "c.1.n": "1", "c.1.op": "and", "c.1.not": "on",
        "c.1.0.field": "target.priority", "c.1.0.operator": "=", "c.1.0.value": "high",
    }  # fmt: skip
    save(workflow, key, **typed)

    assert step_of(workflow, "condition").config == {
        "root": {
            "op": "or",
            "children": [
                {"field": "target.city", "operator": "=", "value": "شیراز"},
                {
                    "op": "not",
                    "children": [
                        {
                            "op": "and",
                            "children": [{"field": "target.priority", "operator": "=", "value": "high"}],
                        }
                    ],
                },
            ],
        }
    }


@pytest.mark.parametrize(("operator", "stored"), [("contains", "VIP"), ("in", ["VIP", "کالا، دارو"])])
def test_lists_of_the_workspace_are_chosen_and_places_suggested(
    workspace, other_workspace, owner, save, english, operator, stored, django_assert_max_num_queries
):
    for name in ("VIP", "کالا، دارو"):
        make(TargetList, workspace, name=name)
    make(TargetList, other_workspace, name="stranger")
    make_target(workspace, city="شیراز")
    workflow = in_english(owner, "welcome_and_reminder")
    key = step_of(workflow, "condition").key
    typed = {
        "c.n": "2", "c.op": "and", "c.0.field": "target.lists", "c.0.operator": operator, "c.0.value": stored,
        "c.1.field": "target.city", "c.1.operator": "=", "c.1.value": "تبریز",
    }  # fmt: skip
    save(workflow, key, **typed)
    with django_assert_max_num_queries(15):
        page = english.get(url("step", workflow.pk, key)).content.decode()

    first = step_of(workflow, "condition").config["root"]["children"][0]
    assert first == {"field": "target.lists", "operator": operator, "value": stored}
    assert [page.count(f'value="{name}"') for name in ("VIP", "کالا، دارو", "stranger")] == [1, 1, 0]
    assert '<option value="شیراز"></option>' in page


def test_a_button_adds_a_question_and_gives_the_editor_back(workspace, owner, save):
    workflow = in_english(owner, "welcome_and_reminder")
    key = step_of(workflow, "condition").key
    typed = {"c.n": "1", "c.0.field": "target.city", "c.0.operator": "=", "c.0.value": "x"}
    answer = save(workflow, key, **typed, edit="rule:")

    page = answer.content.decode()
    assert 'id="editor"' in page
    assert 'name="c.1.field"' in page
    assert events(answer)["ui:saved"]["base"] == base_of(workflow)


def test_an_empty_condition_is_stored_and_named_as_a_problem(workspace, owner, save):
    workflow = in_english(owner, "welcome_and_reminder")
    answer = save(workflow, step_of(workflow, "condition").key, **{"c.n": "0"})

    assert "The condition asks nothing" in answer.content.decode()


def test_a_new_case_keeps_the_steps_of_the_others(journey, added, save, change):
    switch = added("switch")
    change(journey, "insert:wait", at=f"{switch.key}.case_1.0")
    typed = {"cases": "1", "was-0": "case_1", "label-0": "A", "c0.n": "0"}
    answer = save(journey, switch.key, **typed, edit="addcase")
    assert 'id="case_2"' in answer.content.decode()
    change(journey, "insert:goal", at=f"{switch.key}.case_2.0")

    swapped = {
        "cases": "2", "was-0": "case_1", "label-0": "A", "was-1": "case_2", "label-1": "B",
        "c0.n": "0", "c1.n": "0", "edit": "upcase:1",
    }  # fmt: skip
    save(journey, switch.key, **swapped)
    lists = lists_of(journey)
    first, second = lists.lists[switch.key, "case_1"], lists.lists[switch.key, "case_2"]
    assert [case["label"] for case in step_of(journey, "switch").config["cases"]] == ["B", "A"]
    assert [node.type for node in (*first, *second)] == ["goal", "wait"]


def test_a_case_that_is_removed_takes_its_steps_along_and_comes_back_by_undo(journey, added, save, change):
    switch = added("switch")
    change(journey, "insert:wait", at=f"{switch.key}.case_1.0")
    save(journey, switch.key, cases="1", **{"was-0": "case_1", "label-0": ""}, edit="addcase")
    two = {"cases": "2", "was-0": "case_1", "was-1": "case_2", "label-0": "", "label-1": ""}
    save(journey, switch.key, **two, edit="removecase:0")
    assert "wait" not in {node.type for nodes in lists_of(journey).lists.values() for node in nodes}

    change(journey, "undo")
    assert step_of(journey, "wait")


def test_arms_and_the_held_out_share_are_saved(journey, added, save):
    split = added("split")
    typed = {
        "arms": "2", "was-0": "branch_1", "variant-0": "کوتاه", "weight-0": "۷۰",
        "was-1": "branch_2", "variant-1": "بلند", "weight-1": "30", "holdout_percent": "۱۰",
    }  # fmt: skip
    answer = save(journey, split.key, **typed)

    assert step_of(journey, "split").config == {
        "branches": [{"weight": 70, "variant": "کوتاه"}, {"weight": 30, "variant": "بلند"}],
        "holdout_percent": 10,
    }
    assert "کوتاه: 70%" in answer.content.decode()


@pytest.mark.parametrize("weight", ["", "x", "-1", "nan", "inf"])
def test_a_share_that_is_no_number_is_not_stored(journey, added, save, weight):
    split = added("split")
    answer = save(journey, split.key, arms="1", **{"was-0": "branch_1", "weight-0": weight})

    assert answer.status_code == 422
    assert step_of(journey, "split").config == split.config


HOSTILE = ["a\x00b", "<script>alert(1)</script>", "\u202eabc", "x" * 20_000, "{{ 7|add:7 }}"]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_words_in_rules_are_stored_harmlessly(workspace, owner, save, english, text):
    workflow = in_english(owner, "welcome_and_reminder")
    key = step_of(workflow, "condition").key
    typed = {"c.n": "2", "c.0.field": "target.city", "c.0.operator": "=", "c.0.value": text}
    answer = save(workflow, key, **typed, **{"c.1.raw": json.dumps({"event": text, "big": 10**30})})
    pages = [answer, english.get(url("step", workflow.pk, key)), english.get(url("builder", workflow.pk))]

    assert [page.status_code for page in pages] == [200, 200, 200]
    assert not any("<script>alert" in page.content.decode() for page in pages)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_of_cases_and_arms_are_stored_harmlessly(journey, added, save, english, text):
    switch = added("switch")
    answer = save(journey, switch.key, cases="1", **{"was-0": text, "label-0": text, "c0.n": text})
    page = english.get(url("builder", journey.pk))

    assert (answer.status_code, page.status_code) == (200, 200)
    assert "<script>alert" not in page.content.decode()


# Saved while it is typed


def test_what_is_typed_is_saved_and_the_page_gets_the_new_state(workflow, save):
    key = step_of(workflow, "duration").key
    answer = save(workflow, key, amount="9", unit="day")

    assert events(answer) == {"ui:saved": {"base": base_of(workflow)}, "ui:errors": {}}
    assert "<input" not in answer.content.decode()
    assert step_of(workflow, "duration").config["amount"] == 9


def test_wrong_input_is_named_and_not_saved(workflow, save):
    key = step_of(workflow, "duration").key
    answer = save(workflow, key, amount="0", unit="day")

    assert answer.status_code == 422
    assert "id_amount" in events(answer)["ui:errors"]
    assert "Not saved yet:" in answer.content.decode()


def test_one_sitting_is_undone_at_once(workflow, save, change):
    key = step_of(workflow, "duration").key
    before = step_of(workflow, "duration")
    for amount in ("1", "12", "123"):
        save(workflow, key, amount=amount, unit="day")
    change(workflow, "undo")

    assert step_of(workflow, "duration") == before


def test_another_editor_stops_the_saving_and_shows_what_is_stored(workflow, save, change):
    key, old = step_of(workflow, "duration").key, base_of(workflow)
    change(workflow, f"switch:{key}")
    answer = save(workflow, key, amount="9", unit="day", base=old)

    page = answer.content.decode()
    assert answer.status_code == 409
    assert "ui:conflict" in events(answer)
    assert f'name="over" value="{base_of(workflow)}"' in page
    assert step_of(workflow, "duration").config["amount"] == 30


def test_what_was_typed_can_be_saved_over_it(workflow, english, change):
    key, old = step_of(workflow, "duration").key, base_of(workflow)
    change(workflow, f"switch:{key}")
    typed = {"base": old, "over": base_of(workflow), "name": "n", "amount": "9", "unit": "day"}
    english.post(url("step", workflow.pk, key), typed)

    assert step_of(workflow, "duration").config["amount"] == 9


def test_typing_into_a_step_that_was_removed_is_told(workflow, save, change):
    key = step_of(workflow, "duration").key
    change(workflow, f"remove:{key}")
    answer = save(workflow, key, amount="9", unit="day")

    assert answer.status_code == 409
    assert "Somebody removed this step" in answer.content.decode()


def test_every_saved_text_is_in_the_audit_log(workflow, save):
    send = step_of(workflow, "send_sms")
    typed = {
        "body": "متن", "title": "t", "on_missing_variable": "skip",
        "retry_strategy": "fixed", "retry_on_exhausted": "fail",
    }  # fmt: skip
    save(workflow, send.key, **typed)

    row = AuditRecord.objects.get(event="workflow.step_changed")
    assert (row.old["body"], row.new["body"]) == (send.config["body"], "متن")


# Problems lead to their field


def test_a_problem_links_to_its_field(workflow, save, english):
    end, wait = step_of(workflow, "end"), step_of(workflow, "duration")
    save(workflow, end.key, kind="loop", amount="1", unit="day", max_cycles="")
    save(workflow, wait.key, kind="until", at="")
    page = english.get(url("builder", workflow.pk)).content.decode()

    assert f"{url('step', workflow.pk, end.key)}#id_max_cycles" in page
    assert f"{url('step', workflow.pk, wait.key)}#id_at" in page


def test_an_exit_that_leads_nowhere_links_to_the_place_for_a_step(workspace, owner, change, english):
    workflow = in_english(owner, "welcome_and_reminder")
    fork = step_of(workflow, "condition").key
    end = lists_of(workflow).lists[fork, "yes"][0].key
    page = change(workflow, f"remove:{end}").content.decode()

    assert f'href="#add-{fork}-yes"' in page
    assert f'id="add-{fork}-yes"' in page


# The preview for a chosen person


@pytest.fixture
def sara(workspace) -> Target:
    return make_target(
        workspace, name="سارا کریمی", first_name="سارا", last_name="کریمی", city="", mobile="09121112233"
    )


def test_the_preview_is_made_for_the_chosen_person(workspace, sara, english):
    typed = {"body": "سلام {first_name} {city}", "person": str(sara.pk)}
    page = english.post(url("preview"), typed).content.decode()

    assert "سلام سارا" in page
    assert "For سارا کریمی." in page
    assert "This person has no value for: City." in page


def test_templates_of_the_workspace_are_there_to_be_put_in(workflow, workspace, other_workspace, english):
    make(SmsTemplate, workspace, name="Hello", body="سلام {first_name}")
    make(SmsTemplate, other_workspace, name="Theirs", body="متن دیگران")
    page = english.get(url("step", workflow.pk, step_of(workflow, "send_sms").key)).content.decode()

    assert 'data-insert="سلام {first_name}">Hello<' in page
    assert "متن دیگران" not in page


@pytest.mark.parametrize("person", ["", "0", "x", "999999999999999999999", "۱"])
def test_nobody_chosen_is_somebody_made_up(workspace, english, person):
    page = english.post(url("preview"), {"body": "سلام", "person": person}).content.decode()

    assert "For a made-up person." in page


def test_people_are_found_by_name_and_number(workspace, sara, english):
    make_target(workspace, first_name="علی", mobile="09129998877")
    for words in ("کریمی", "09121112233", "۰۹۱۲۱۱۱"):
        page = english.get(url("people"), {"q": words}).content.decode()
        assert (page.count('name="person"'), f'value="{sara.pk}"' in page) == (1, True)
    assert "Nobody fits these words." in english.get(url("people"), {"q": "xyz"}).content.decode()


def test_people_of_another_workspace_are_neither_found_nor_previewed(workspace, sara, stranger, client_of):
    other = client_of(stranger, language="en")

    assert 'name="person"' not in other.get(url("people"), {"q": "کریمی"}).content.decode()
    page = other.post(url("preview"), {"body": "{first_name}", "person": str(sara.pk)}).content.decode()
    assert "For a made-up person." in page


def test_the_page_of_a_step_costs_the_same_whatever_the_size(
    workflow, english, change, django_assert_max_num_queries
):
    key = step_of(workflow, "duration").key
    for _number in range(8):
        change(workflow, f"copy:{key}")
    assert WorkflowNode.objects.filter(version=WorkflowVersion.objects.get(workflow=workflow)).count() == 15
    with django_assert_max_num_queries(13):
        english.get(url("step", workflow.pk, key))
