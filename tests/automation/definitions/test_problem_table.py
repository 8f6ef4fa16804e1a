"""Each problem of a definition: what has it, the step and exit it names, and what is said about it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from django.utils.translation import override

from automation.checking import Finding, check, compile_registered
from automation.problems import SENTENCES
from automation.remedies import REMEDIES, remedy
from engine.types import Definition, EdgeSpec, NodeSpec
from tests.engine.building import (
    ask,
    best_time,
    edge,
    end,
    goal,
    graph_of,
    split,
    start,
    switch,
    wait,
    wait_for,
    wait_until,
)
from tests.engine.test_problem_sentences import engine_codes
from tests.graphs import message

pytestmark = pytest.mark.django_db

LIST, JOURNEY = "list", "journey"
Row = tuple[str, str, Definition, str, str]  # code, kind, definition, step, exit


def row(
    code: str, node: str, *nodes: NodeSpec, edges: str, kind: str = LIST, port: str = "", **settings: Any
) -> Row:
    """`edges` are written `start>a>e a.no>b`: chains of steps, with the exits that are not the plain ones."""
    return code, kind, graph_of(nodes, *_edges(edges), **settings), node, port


def _edges(text: str) -> Iterable[str]:
    for chain in text.split():
        steps = chain.split(">")
        for here, there in itertools.pairwise(steps):
            yield f"{here} -> {there}"


def one(node: NodeSpec) -> tuple[NodeSpec, ...]:
    """A start, the step and an end."""
    return start(), node, end("e")


def of(node: NodeSpec, code: str, *, kind: str = LIST, port: str = "") -> Row:
    """The step alone between start and end is wrong by itself."""
    return row(code, node.key, *one(node), edges=f"start>{node.key}>e", kind=kind, port=port)


def node(key: str, type_: str, subtype: str, config: Mapping[str, Any] | None = None) -> NodeSpec:
    return NodeSpec(key=key, type=type_, subtype=subtype, config=config or {})


def rule(**leaf: Any) -> NodeSpec:
    return node("c", "condition", "field_rules", {"root": leaf})


def asking(leaf: NodeSpec, code: str) -> Row:
    return row(code, "c", start(), leaf, end("e"), edges="start>c c.yes>e c.no>e")


def window(**values: Any) -> dict[str, Any]:
    base = {"timezone": "Asia/Tehran", "days": {"sat": [["09:00", "18:00"]]}}
    return {"send_window": {**base, **values}}


def set_to(code: str, *, kind: str = LIST, **settings: Any) -> Row:
    return row(code, "", start(), message("a"), end("e"), edges="start>a>e", kind=kind, **settings)


CITY = {"field": "target.city", "operator": "=", "value": "Tehran"}
HOUR = {"amount": 1, "unit": "hour"}
DEEP: Any = CITY
for _ in range(30):
    DEEP = {"op": "and", "children": [DEEP]}

SHAPE: list[Row] = [
    row("start_missing", "", message("a"), end("e"), edges="a>e"),
    row("start_twice", "s2", start(), node("s2", "start", "manual"), end("e"), edges="start>e s2>e"),
    row("end_missing", "", start(), message("a"), wait("w", 1, "day"), edges="start>a>w>a"),
    row("node_key_invalid", "", start(), message("a b"), end("e"), edges="start>e"),
    row("node_duplicate", "a", start(), message("a"), message("a"), end("e"), edges="start>a>e"),
    of(node("x", "teleport", "beam"), "node_type_unknown"),
    of(node("x", "action", "fax"), "node_subtype_unknown"),
    of(node("x", "wait", "for_the_moon"), "node_subtype_unknown"),
    row("node_must_be_enabled", "e", start(), message("a"),
        NodeSpec(key="e", type="end", subtype="complete", is_enabled=False), edges="start>a>e"),
    row("node_unreachable", "z", start(), message("a"), message("z"), end("e"), edges="start>a>e z>e"),
    row("edge_from_nowhere", "", start(), end("e"), edges="start>e gone>e", port="default"),
    row("edge_to_nowhere", "a", start(), message("a"), end("e"), edges="start>a>gone", port="default"),
    row("edge_to_itself", "a", start(), message("a"), end("e"), edges="start>a>a", port="default"),
    row("edge_to_start", "a", start(), message("a"), end("e"), edges="start>a>start", port="default"),
    row("port_unknown", "a", start(), message("a"), end("e"), edges="start>a>e a.up>e", port="up"),
    row("port_twice", "a", start(), message("a"), end("e"), edges="start>a>e a>e", port="default"),
    row("port_unconnected", "c", start(), ask("c"), end("e"), edges="start>c c.yes>e", port="no"),
    row("port_unconnected", "a", start(), message("a"), end("e"), edges="start>a start>e", port="default"),
    row("port_unconnected", "s", start(), switch("s", {"root": CITY}), kind=JOURNEY, edges="start>s",
        port="default"),
    row("cycle_without_wait", "c", start(), ask("c"), ask("d"), end("e"),
        edges="start>c c.yes>d c.no>e d.yes>c d.no>e"),
    row("cycle_without_wait", "c", start(), ask("c"), ask("d"), kind=JOURNEY,
        edges="start>c c.yes>d d.yes>c"),
]  # fmt: skip

KINDS: list[Row] = [
    of(switch("s", {"root": CITY}), "kind_only_in_journeys"),
    of(split("s", 1, 1), "kind_only_in_journeys"),
    of(goal("g"), "kind_only_in_journeys"),
    of(wait_until("w", 9), "kind_only_in_journeys"),
    of(best_time("w", 9), "kind_only_in_journeys"),
    of(wait_for("w"), "kind_only_in_journeys"),
    row("end_repeats_in_journey", "e", start(), message("a"), end("e", "loop", delay=HOUR, max_cycles=2),
        edges="start>a>e", kind=JOURNEY),
    row("end_repeats_in_journey", "e", start(), message("a"), end("e", "restart", delay=HOUR, max_cycles=2),
        edges="start>a>e", kind=JOURNEY),
    row("end_goto_refused", "e", start(), message("a"), node("e", "end", "goto_workflow", {"workflow_id": 1}),
        edges="start>a>e"),
    row("end_goto_refused", "e", start(), message("a"), node("e", "end", "goto_workflow", {"workflow_id": 1}),
        edges="start>a>e", kind=JOURNEY),
    row("node_subtype_unknown", "start", node("start", "start", "webhook"), message("a"), end("e"),
        edges="start>a>e", kind=JOURNEY),
]  # fmt: skip

CONFIGS: list[Row] = [
    of(message("a", " "), "text_empty"),
    of(message("a", colour="red"), "config_key_unknown"),
    of(message("a", append_opt_out="yes"), "config_value_invalid"),
    of(message("a", "{target.shoe_size}"), "variable_unknown"),
    of(message("a", retry="often"), "retry_malformed"),
    of(message("a", retry={"colour": 1}), "retry_key_unknown"),
    of(message("a", retry={"interval_seconds": -1}), "retry_value_invalid"),
    of(message("a", title={"x": float("nan")}), "json_value_invalid"),
    of(wait("w", 0, "day"), "duration_amount_invalid"),
    of(wait("w", 1, "moon"), "duration_unit_unknown"),
    of(wait("w", 99, "year"), "duration_too_long"),
    of(node("w", "wait", "until", {"at": "tomorrow"}), "wait_until_invalid"),
    of(node("w", "wait", "until", {"at": "2027-01-01T09:00", "timezone": "Mars/Base"}), "timezone_invalid"),
    of(node("w", "wait", "duration", {"mode": "until", **HOUR}), "config_value_invalid"),
    row("duration_missing", "start", start(initial_delay="soon"), message("a"), end("e"), edges="start>a>e"),
    row("end_delay_too_short", "e", start(), message("a"),
        end("e", "loop", delay={"amount": 59, "unit": "minute"}, max_cycles=2), edges="start>a>e"),
    row("end_max_cycles_invalid", "e", start(), message("a"), end("e", "restart", delay=HOUR),
        edges="start>a>e"),
    row("end_target_invalid", "e", start(), message("a"),
        end("e", "loop", to_node="gone", delay=HOUR, max_cycles=2), edges="start>a>e"),
    of(wait_until("w", 24), "wait_hour_invalid", kind=JOURNEY),
    of(node("w", "wait", "until_best_time"), "wait_fallback_hour_invalid", kind=JOURNEY),
    of(node("w", "wait", "for_event"), "event_missing", kind=JOURNEY),
    of(wait_for("w", "journey_enter_requested"), "event_reserved", kind=JOURNEY),
    of(goal("g", "journey_enter_requested"), "event_reserved", kind=JOURNEY),
    of(wait_for("w", amount=0, unit="day"), "duration_amount_invalid", kind=JOURNEY),
    of(goal("g", ""), "event_missing", kind=JOURNEY),
    of(goal("g", window_days=0), "goal_window_invalid", kind=JOURNEY),
    of(switch("s"), "switch_cases_count", kind=JOURNEY),
    of(node("s", "switch", "cases", {"cases": ["x"]}), "switch_case_malformed", kind=JOURNEY, port="case_1"),
    of(switch("s", {"root": {}}), "condition_empty", kind=JOURNEY, port="case_1"),
    of(split("s"), "split_branches_count", kind=JOURNEY),
    of(split("s", 1, -1), "split_branch_invalid", kind=JOURNEY, port="branch_2"),
    of(split("s", 0, 0), "split_weights_zero", kind=JOURNEY),
    of(split("s", 1, holdout_percent=101), "split_holdout_invalid", kind=JOURNEY),
]  # fmt: skip

CONDITIONS: list[Row] = [
    asking(node("c", "condition", "field_rules", {"root": {}}), "condition_empty"),
    asking(node("c", "condition", "field_rules", {"tree": 1}), "condition_malformed"),
    asking(rule(**DEEP), "condition_too_big"),
    asking(rule(op="not", children=[CITY, CITY]), "condition_group_size"),
    asking(rule(event="bought", count_operator=">=", count=1), "condition_event_unsupported"),
    asking(rule(**{**CITY, "field": "target.shoe_size"}), "condition_field_unknown"),
    asking(rule(**{**CITY, "operator": "resembles"}), "condition_operator_unknown"),
    asking(rule(**{**CITY, "operator": "<"}), "condition_operator_unfit"),
    asking(rule(field="target.created_at", operator="<", value="soon"), "condition_value_invalid"),
]

SETTINGS: list[Row] = [
    set_to("settings_key_unknown", colour="red"),
    set_to("settings_only_in_journeys", entry_rule="once"),
    set_to("settings_value_invalid", daily_limit=-1),
    set_to("settings_value_invalid", on_unknown_outcome="guess"),
    set_to("settings_value_invalid", kind=JOURNEY, entry_rule="often"),
    set_to("settings_value_invalid", kind=JOURNEY, reentry_window="week"),
    set_to("settings_value_invalid", kind=JOURNEY, cooldown_hours=-1),
    set_to("settings_value_invalid", kind=JOURNEY, max_duration_days=-1),
    set_to("reentry_twice", kind=JOURNEY, reentry_window="day", cooldown_hours=24),
    set_to("exit_criteria_invalid", kind=JOURNEY, exit_criteria={"root": {**CITY, "field": "target.shoe"}}),
    set_to("retry_value_invalid", retry={"max_attempts": -1}),
    set_to("window_malformed", send_window="always"),
    set_to("window_key_unknown", **window(colour="red")),
    set_to("window_timezone_invalid", **window(timezone="Mars/Base")),
    set_to("window_never_open", **window(days={"sat": None})),
    set_to("window_day_unknown", **window(days={"someday": None, "sat": [["09:00", "18:00"]]})),
    set_to("window_date_invalid", **window(exceptions={"soon": None})),
    set_to("window_range_invalid", **window(days={"sat": [["9", "18"]]})),
    set_to("window_range_order", **window(days={"sat": [["22:00", "02:00"]]})),
    set_to("window_ranges_overlap", **window(days={"sat": [["09:00", "12:00"], ["11:00", "13:00"]]})),
]

TABLE: list[Row] = [*SHAPE, *KINDS, *CONFIGS, *CONDITIONS, *SETTINGS]

WARNINGS: list[Row] = [
    row("node_disabled", "a", start(), message("a", on=False), end("e"), edges="start>a>e"),
    row("branches_alike", "c", start(), ask("c"), end("e"), edges="start>c c.yes>e c.no>e"),
    row("no_pause_between", "a", start(), message("a"), message("b"), end("e"), edges="start>a>b>e",
        port="default"),
    row("stray_brace", "a", start(), message("a", "hello }"), end("e"), edges="start>a>e"),
    row("never_ends", "start", start(), message("a"), wait("w", 1, "day"), kind=JOURNEY, edges="start>a>w>a"),
    row("text_long", "a", start(), message("a", "سلام " * 200), end("e"), edges="start>a>e"),
]  # fmt: skip

# Found elsewhere: when a file is read, when a walk is run, or of a definition as a whole (below).
ELSEWHERE = {
    "definition_malformed", "definition_too_big", "json_too_big", "node_malformed", "edge_malformed",
    "config_malformed", "settings_malformed", "type_mismatch", "condition_count_invalid",
    "condition_days_invalid", "branches_meet", "too_deep", "node_unknown_type",
}  # fmt: skip


def named(rows: list[Row]) -> list[Any]:
    return [pytest.param(*entry, id=f"{entry[0]}-{entry[1]}-{number}") for number, entry in enumerate(rows)]


def found(findings: Iterable[Finding], code: str) -> list[Finding]:
    return [finding for finding in findings if finding.code == code]


@pytest.mark.parametrize(("code", "kind", "definition", "step", "port"), named(TABLE))
def test_a_problem_names_its_step_and_its_exit_and_says_what_to_do(
    workspace, code: str, kind: str, definition: Definition, step: str, port: str
):
    said = {}
    for language in ("en", "fa"):
        with override(language):
            report = check(definition, kind)
            said[language] = found(report.problems, code)
        assert not report.is_publishable
    assert (step, port) in [(finding.node, finding.port) for finding in said["en"]]
    for english, persian in zip(said["en"], said["fa"], strict=True):
        assert english.message
        assert english.message != persian.message, "not translated"
        assert "%" not in english.message + persian.message
        assert (english.remedy != persian.remedy) == bool(english.remedy)


@pytest.mark.parametrize(("code", "kind", "definition", "step", "port"), named(WARNINGS))
def test_a_warning_stands_apart_and_stops_nothing(
    workspace, code: str, kind: str, definition: Definition, step: str, port: str
):
    with override("en"):
        report = check(definition, kind)
    assert (step, port) in [(finding.node, finding.port) for finding in found(report.warnings, code)]
    assert report.problems == ()


def test_the_table_has_every_problem_that_compiling_can_find():
    listed = {entry[0] for entry in [*TABLE, *WARNINGS]}
    assert engine_codes() - listed - ELSEWHERE == set()


SAYS_IT_ITSELF = {
    "condition_count_invalid", "condition_days_invalid", "condition_event_unsupported",
    "duration_amount_invalid", "duration_missing", "end_delay_too_short", "end_max_cycles_invalid",
    "end_repeats_in_journey", "event_missing", "event_reserved", "goal_window_invalid", "reentry_twice",
    "split_branch_invalid", "split_holdout_invalid", "split_weights_zero", "wait_fallback_hour_invalid",
    "wait_hour_invalid", "wait_until_invalid", "window_range_invalid", "window_range_order",
}  # fmt: skip


def test_every_problem_says_what_to_do_by_its_sentence_or_by_its_remedy():
    listed = {entry[0] for entry in [*TABLE, *WARNINGS]} | ELSEWHERE
    of_lists_and_walks = {"type_mismatch", "branches_meet", "too_deep", "node_unknown_type"}
    assert listed - set(REMEDIES) - SAYS_IT_ITSELF - of_lists_and_walks == set()
    assert set(REMEDIES) & SAYS_IT_ITSELF == set()
    assert set(REMEDIES) - set(SENTENCES) == set()


def test_a_code_without_a_remedy_has_none():
    assert remedy("brand_new") == ""


# -- all at once ------------------------------------------------------------------------------------


def test_everything_that_is_wrong_is_told_in_one_pass(workspace):
    definition = graph_of(
        [start(), message("a", " "), wait("w", 0, "day"), ask("c", "target.shoe"), end("e", "loop")],
        "start -> a", "a -> w", "w -> c", "c.yes -> e", "a.sideways -> e", daily_limit=-1,
    )  # fmt: skip
    assert sorted((finding.node, finding.code) for finding in check(definition).problems) == [
        ("", "settings_value_invalid"),
        ("a", "port_unknown"),
        ("a", "text_empty"),
        ("c", "condition_field_unknown"),
        ("c", "port_unconnected"),
        ("e", "duration_missing"),
        ("e", "end_max_cycles_invalid"),
        ("w", "duration_amount_invalid"),
    ]


def test_definitions_of_wrong_types_are_problems_and_no_error(workspace):
    broken: Any = NodeSpec(key=5, type="end", subtype="complete")  # type: ignore[arg-type]
    edgeless: Any = EdgeSpec(source="start", port="default", target=None)  # type: ignore[arg-type]
    definition = Definition(nodes=(start(), broken, end("e")), edges=(edgeless, edge("start -> e")))
    codes = [finding.code for finding in check(definition).problems]
    assert codes == ["node_malformed", "edge_malformed"]


def test_settings_that_are_no_settings_are_a_problem(workspace):
    definition = Definition(nodes=(start(), end("e")), edges=(edge("start -> e"),), settings=[])  # type: ignore[arg-type]
    assert [finding.code for finding in check(definition).problems] == ["settings_malformed"]


@pytest.mark.parametrize("kind", [LIST, JOURNEY])
def test_a_good_definition_has_neither_problems_nor_warnings(workspace, kind: str):
    definition = graph_of([start(), message("a"), end("e")], "start -> a", "a -> e")
    report = check(definition, kind)
    assert (report.problems, report.warnings) == ((), ())


def test_a_journey_may_leave_exits_open_and_needs_no_end(workspace):
    definition = graph_of(
        [start(), message("a"), ask("c"), message("b")], "start -> a", "a -> c", "c.yes -> b"
    )
    assert check(definition, JOURNEY).is_publishable
    assert not check(definition, LIST).is_publishable


def test_compiling_asks_no_database(django_assert_num_queries):
    with django_assert_num_queries(0):
        compile_registered(graph_of([start(), message("a"), end("e")], "start -> a", "a -> e"), JOURNEY)


def test_the_reason_of_bad_criteria_is_said_in_words(workspace):
    criteria = {"root": {**CITY, "field": "target.shoe"}}
    definition = set_to("", kind=JOURNEY, exit_criteria=criteria)[2]
    with override("en"):
        text = str(check(definition, JOURNEY).problems[0])
    assert text == "The criteria for leaving: There is no field “target.shoe” to ask about."
