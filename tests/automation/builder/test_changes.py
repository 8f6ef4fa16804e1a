"""Changes of the step list as the page posts them: one address, the list drawn anew, words for everybody."""

from __future__ import annotations

import json

import pytest

from automation import publishing
from automation.builder.changes import INDENT
from automation.models import WorkflowEdge, WorkflowVersion
from engine.types import Definition, NodeSpec
from tests.automation.builder.conftest import base_of, chain, in_english, keys, lists_of, url
from workspaces.models import AuditRecord

ROOT = ["send_sms", "duration", "send_sms", "duration", "send_sms", "complete"]


def root(workflow, index: int) -> str:
    return f"{lists_of(workflow).start.key}.default.{index}"


def said(answer) -> str:
    return json.loads(answer.headers["HX-Trigger"])["ui:say"]["text"]


def focus(answer) -> str:
    return json.loads(answer.headers["HX-Trigger"])["ui:announce"]["focus"]


def keys_of_all(workflow) -> list[str]:
    return [node.key for nodes in lists_of(workflow).lists.values() for node in nodes]


@pytest.fixture
def branching(workspace, owner):
    return in_english(owner, "welcome_and_reminder")


def ask(workflow) -> str:
    lists = lists_of(workflow)
    return next(node.key for nodes in lists.lists.values() for node in nodes if node.type == "condition")


# One verb each


@pytest.mark.parametrize("index", [0, 3, 5])
def test_a_step_is_added_at_any_place_and_focused(workflow, change, index):
    answer = change(workflow, "insert:wait", at=root(workflow, index))

    assert chain(workflow) == [*ROOT[:index], "duration", *ROOT[index:]]
    assert focus(answer) == f"title-{keys(workflow)[index]}"
    assert said(answer).startswith("Added: “Wait” stands")


def test_an_added_step_stands_in_the_answer_and_in_the_audit_log(workflow, change, owner):
    answer = change(workflow, "insert:send_sms", at=root(workflow, 0))

    assert f'id="step-{keys(workflow)[0]}"' in answer.content.decode()
    assert AuditRecord.objects.get(event="workflow.step_added").user == owner


def test_a_key_that_is_taken_is_drawn_again(workflow, change, monkeypatch):
    """Keys are short: in a long workflow one of some hundred thousand insertions meets one."""
    taken = keys(workflow)[2]
    drawn = iter([taken.removeprefix("n_"), "abcdef"])
    monkeypatch.setattr("automation.publishing.secrets.token_hex", lambda _bytes: next(drawn))

    assert change(workflow, "insert:send_sms", at=root(workflow, 0)).status_code == 200
    assert keys(workflow)[0] == "n_abcdef"


def test_the_steps_of_a_copy_have_keys_of_their_own(branching, change, monkeypatch):
    fork = ask(branching)
    change(branching, f"remove:{lists_of(branching).lists[fork, 'yes'][0].key}")
    drawn = iter(["00000a", "00000a", fork.removeprefix("n_"), *(f"00000{n:x}" for n in range(16))])
    monkeypatch.setattr("automation.publishing.secrets.token_hex", lambda _bytes: next(drawn))

    assert change(branching, f"copy:{fork}", at=f"{fork}.yes.0").status_code == 200
    after = keys_of_all(branching)
    assert len(after) == len(set(after))
    assert lists_of(branching).lists[fork, "yes"][0].key == "n_00000a"


def test_a_definition_s_new_keys_differ(monkeypatch):
    nodes = tuple(NodeSpec(key=f"n{n}", type="end", subtype="complete") for n in range(3))
    drawn = iter(["000001", "000001", "000002", "000001", "000003"])
    monkeypatch.setattr("automation.publishing.secrets.token_hex", lambda _bytes: next(drawn))

    fresh = publishing.with_new_keys(Definition(nodes=nodes, edges=(), settings={}))
    assert [node.key for node in fresh.nodes] == ["n_000001", "n_000002", "n_000003"]


def test_a_step_moves_up_and_down_and_says_where_it_is(workflow, change):
    key = keys(workflow)[1]
    answer = change(workflow, f"up:{key}", focus=f"up-{key}")

    assert keys(workflow)[0] == key
    assert said(answer) == "“Wait” stands first."
    assert focus(answer) == f"up-{key}"
    change(workflow, f"down:{key}")
    assert keys(workflow)[1] == key


def test_at_the_edge_nothing_changes_and_somebody_says_so(workflow, change):
    base = base_of(workflow)
    answer = change(workflow, f"up:{keys(workflow)[0]}")

    assert said(answer) == "The step is at the top already."
    assert base_of(workflow) == base


def test_a_step_is_moved_to_a_place_in_a_branch(branching, change):
    key, fork = keys(branching)[0], ask(branching)
    answer = change(branching, f"move:{key}", at=f"{fork}.no.0")

    assert lists_of(branching).lists[fork, "no"][0].key == key
    assert said(answer) == "“Welcome” stands first in the branch “no” of “Already interested?”."


def test_a_removed_step_closes_up_and_leaves_its_text_in_the_audit_log(workflow, change):
    _first, second, third, *_rest = keys(workflow)
    body = next(n for n in lists_of(workflow).lists[lists_of(workflow).root] if n.key == third).config["body"]
    answer = change(workflow, f"remove:{third}")

    assert chain(workflow) == ["send_sms", "duration", "duration", "send_sms", "complete"]
    assert focus(answer) == f"title-{second}"
    assert AuditRecord.objects.get(event="workflow.step_removed").old["body"] == body


def test_the_end_can_be_removed_and_put_back(workflow, owner, change):
    answer = change(workflow, f"remove:{keys(workflow)[-1]}")
    assert "The workflow has no end step." in answer.content.decode()
    change(workflow, "insert:end", at=root(workflow, 5))

    assert publishing.publish(workflow, user=owner).status == "published"


def test_removing_a_condition_says_how_much_went_with_it(branching, change):
    answer = change(branching, f"remove:{ask(branching)}")

    assert chain(branching) == ["send_sms", "duration"]
    assert said(answer) == "Removed: “Already interested?”. 3 steps of its branches went with it."
    row = AuditRecord.objects.get(event="workflow.step_removed")
    assert len(row.old["with_steps"]) == 3


def test_removing_a_condition_can_keep_a_branch(branching, change):
    change(branching, f"remove:{ask(branching)}:no")

    assert chain(branching) == ["send_sms", "duration", "send_sms", "complete"]


def test_a_copy_stands_right_behind_and_has_a_key_of_its_own(workflow, change):
    change(workflow, f"copy:{keys(workflow)[0]}")

    assert chain(workflow) == ["send_sms", *ROOT]
    assert len(set(keys(workflow))) == 7


def test_a_condition_is_copied_to_an_empty_branch(branching, change):
    fork = ask(branching)
    end = lists_of(branching).lists[fork, "yes"][0].key
    change(branching, f"remove:{end}")
    change(branching, f"copy:{fork}", at=f"{fork}.yes.0")

    assert [node.type for node in lists_of(branching).lists[fork, "yes"]] == ["condition"]


def test_a_step_is_switched_off_and_on(workflow, change):
    key = keys(workflow)[0]
    off = change(workflow, f"switch:{key}")
    assert not lists_of(workflow).find(key)[0].is_enabled
    assert said(off) == "“Introduction” is switched off and passed over."

    change(workflow, f"switch:{key}")
    assert lists_of(workflow).find(key)[0].is_enabled


@pytest.mark.parametrize("kind", ["wait", "wait_until", "condition", "end_stop", "send_sms"])
def test_what_a_campaign_can_hold_is_offered_and_added(workspace, owner, english, change, kind):
    workflow = publishing.create_workflow(name="w", template_key=None, user=owner)
    change(workflow, f"remove:{keys(workflow)[0]}")
    page = english.get(url("builder", workflow.pk)).content.decode()
    change(workflow, f"insert:{kind}", at=root(workflow, 0))

    assert f'value="insert:{kind}"' in page
    assert len(keys(workflow)) == 1


@pytest.mark.parametrize(
    "kind",
    ["wait_until_time", "wait_until_best_time", "wait_for_event", "switch", "split", "goal"],
)
def test_journey_kinds_are_offered_in_journeys_only(workflow, journey, english, change, kind):
    refused = change(workflow, f"insert:{kind}", at=root(workflow, 0))
    added = change(journey, f"insert:{kind}", at=root(journey, 0))

    assert (refused.status_code, added.status_code) == (422, 200)
    page = english.get(url("builder", journey.pk)).content.decode()
    assert f'value="insert:{kind}"' in page
    assert added.content.decode().count("step-card") == 3


# What is refused


@pytest.mark.parametrize(
    ("do", "at", "status"),
    [
        ("insert:teleport", "0", 422),
        ("insert:end", "0", 409),
        ("insert:wait", "99", 409),
        ("insert:wait", "x", 409),
        ("remove:n_000000", "", 404),
        ("up:n_000000", "", 404),
        ("dance", "", 422),
        ("undo", "", 409),
    ],
)
def test_what_cannot_be_done_changes_nothing_and_says_why(workflow, change, do, at, status):
    before = (keys(workflow), base_of(workflow))
    answer = change(workflow, do, at=f"{lists_of(workflow).start.key}.default.{at}")

    assert answer.status_code == status
    assert json.loads(answer.headers["HX-Trigger"])["ui:announce"]["text"]
    assert answer.headers["HX-Reswap"] == "none"
    assert (keys(workflow), base_of(workflow)) == before


def test_the_start_stays(workflow, change):
    start = lists_of(workflow).start.key

    assert [change(workflow, f"{verb}:{start}").status_code for verb in ("remove", "up", "switch")] == [
        409
    ] * 3


def test_the_two_hundred_and_first_step_is_refused(workspace, owner, change, monkeypatch):
    workflow = publishing.create_workflow(name="w", template_key=None, user=owner)
    monkeypatch.setattr("automation.builder.claiming.MAX_STEPS", 3)
    change(workflow, "insert:wait", at=root(workflow, 0))
    answer = change(workflow, "insert:wait", at=root(workflow, 0))

    assert (answer.status_code, len(keys(workflow))) == (409, 2)


def test_the_second_of_two_editors_sees_the_list_as_it_is_and_is_told(workflow, change, english):
    old = base_of(workflow)
    change(workflow, f"remove:{keys(workflow)[0]}")
    now = keys(workflow)
    answer = change(workflow, f"remove:{now[0]}", base=old)

    events = json.loads(answer.headers["HX-Trigger"])
    assert answer.status_code == 409
    assert "Your change was not made" in events["ui:announce"]["text"]
    assert "ui:conflict" in events
    assert f'data-base="{base_of(workflow)}"' in answer.content.decode()
    assert keys(workflow) == now


def test_a_change_of_a_draft_that_was_published_opens_the_page_anew(workflow, owner, english):
    key, base = keys(workflow)[0], base_of(workflow)
    publishing.publish(workflow, user=owner)
    answer = english.post(
        url("change", workflow.pk), {"do": f"up:{key}", "base": base}, headers={"HX-Request": "true"}
    )

    assert answer.headers["HX-Redirect"] == url("builder", workflow.pk)


def test_without_scripts_a_change_comes_back_to_the_page(workflow, english):
    typed = {"do": f"remove:{keys(workflow)[0]}", "base": base_of(workflow)}
    answer = english.post(url("change", workflow.pk), typed, follow=True)

    assert answer.redirect_chain == [(url("builder", workflow.pk), 302)]
    assert "Removed: “Introduction”." in answer.content.decode()


# Undo and redo


def test_every_change_can_be_taken_back_and_repeated(branching, change):
    draft = WorkflowVersion.objects.get(workflow=branching)
    fork = ask(branching)
    first = publishing.load_definition(draft)
    states = [first]
    for do, at in (
        ("insert:wait", root(branching, 1)),
        (f"switch:{keys(branching)[0]}", ""),
        (f"remove:{fork}", ""),
        (f"copy:{keys(branching)[0]}", ""),
    ):
        assert change(branching, do, at=at).status_code == 200
        states.append(publishing.load_definition(draft))
    for state in reversed(states[:-1]):
        change(branching, "undo")
        assert _same(publishing.load_definition(draft), state)
    for state in states[1:]:
        change(branching, "redo")
        assert _same(publishing.load_definition(draft), state)
    assert change(branching, "redo").status_code == 409


def _same(one, other) -> bool:
    return set(one.edges) == set(other.edges) and {n.key: n for n in one.nodes} == {
        n.key: n for n in other.nodes
    }


def test_a_new_change_forgets_what_was_undone(workflow, change):
    change(workflow, f"remove:{keys(workflow)[0]}")
    change(workflow, "undo")
    change(workflow, f"remove:{keys(workflow)[1]}")

    assert change(workflow, "redo").status_code == 409


def test_undo_says_what_it_took_back_and_leaves_the_texts_in_the_audit_log(workflow, change):
    change(workflow, f"remove:{keys(workflow)[0]}")
    answer = change(workflow, "undo")

    assert said(answer) == "Undone: a step removed"
    row = AuditRecord.objects.get(event="workflow.draft_restored")
    assert (row.old["change"], set(row.new)) == ("undo", {"version", "change", "Introduction"})


def test_the_history_is_bounded(workflow, draft, change, monkeypatch):
    monkeypatch.setattr("automation.builder.history.MAX_STATES", 3)
    for _time in range(5):
        change(workflow, f"switch:{keys(workflow)[0]}")

    assert draft.states.count() == 3
    assert [change(workflow, "undo").status_code for _time in range(4)] == [200, 200, 200, 409]


def test_publishing_forgets_the_history(workflow, draft, owner, change):
    change(workflow, f"switch:{keys(workflow)[1]}")
    change(workflow, f"switch:{keys(workflow)[1]}")
    publishing.publish(workflow, user=owner)

    assert draft.states.count() == 0


# Where a step may go


def test_the_sheet_lists_every_place_of_a_step(branching, english):
    key = keys(branching)[0]
    page = english.get(url("places", branching.pk, key)).content.decode()

    assert page.count("<option") == 5
    assert f">{INDENT}First in the branch “yes” of “Already interested?”" in page
    assert f">{INDENT}After “Reminder”" in page
    assert "(it stands there now)" in page


def test_an_end_goes_only_where_nothing_follows(branching, english):
    end = lists_of(branching).lists[ask(branching), "yes"][0].key
    page = english.get(url("places", branching.pk, end)).content.decode()

    assert page.count("<option") == 1


def test_the_start_has_no_other_place(branching, english):
    page = english.get(url("places", branching.pk, lists_of(branching).start.key)).content.decode()

    assert "There is no other place for it." in page


def test_places_of_a_step_that_is_gone_are_not_found(workflow, english):
    assert english.get(url("places", workflow.pk, "n_000000")).status_code == 404


# Costs


@pytest.mark.parametrize("copies", [1, 12])
@pytest.mark.parametrize("verb", ["up", "copy", "switch", "remove", "undo"])
def test_a_change_costs_the_same_whatever_the_size(
    workspace, owner, change, django_assert_max_num_queries, copies, verb
):
    workflow = publishing.create_workflow(name="w", template_key=None, user=owner)
    change(workflow, "insert:send_sms", at=root(workflow, 0))
    for _number in range(copies):
        change(workflow, f"copy:{keys(workflow)[0]}")
    with django_assert_max_num_queries(42):
        change(workflow, verb if verb == "undo" else f"{verb}:{keys(workflow)[1]}")


def test_a_graph_that_is_no_list_is_not_changed(workflow, draft, change):
    send = draft.nodes.filter(subtype="send_sms").first()
    end = draft.nodes.get(type="end")
    WorkflowEdge.objects.create(
        workspace_id=draft.workspace_id, version=draft, from_node=send, to_node=end, port="failure"
    )
    answer = change(workflow, f"remove:{send.node_key}")

    assert answer.status_code == 409
    assert draft.nodes.count() == 7
