"""How fast the pure walk is: six nodes, a condition of three rules, one rendered text, no database.

    python -m bench.walk [--people N] [--runs N]

Prints node-steps a second on one core, the median of the runs, for the engine and for a walk written by
hand over the same graph: dictionaries, no checks, no history, no cycles, no retries. The runs of the two
take turns, because the machine drifts; only their ratio means something from one day to the next. Time
is the processor's.

A person costs the engine what they cost the runtime: facts built from a row, four calls (the condition
up to the message, the message, its result up to the next action, that one's result up to the end), one
rendered text and every line of history.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from engine.compile import ActionSpec, compile_definition
from engine.graph import Graph
from engine.text import Text, parse_text, render
from engine.types import (
    ActionResult,
    ActionStatus,
    Definition,
    EdgeSpec,
    Facts,
    FieldType,
    Finish,
    NodeSpec,
    Perform,
    Yield,
)
from engine.walk import start_position, walk

NODES = 6
NOW = datetime(2026, 5, 2, 12, 0, tzinfo=UTC)
BODY = "سلام {first_name} عزیز، سفارش {order} به مبلغ {amount} تومان ثبت شد."
RULES = [
    {"field": "target.plan", "operator": "=", "value": "gold"},
    {"field": "target.amount", "operator": ">=", "value": 1000},
    {"field": "target.lists", "operator": "contains", "value": "vip"},
]
TRAITS = {"plan": "gold", "amount": 250_000, "order": "۱۲۳۴۵"}
ROW = {
    "name": "زهرا احمدی",
    "first_name": "زهرا",
    "last_name": "احمدی",
    "mobile": "09121234567",
    "landline": "",
    "email": "",
    "province": "تهران",
    "city": "تهران",
    "status": "new",
    "priority": "normal",
    "lists": ["vip", "tehran"],
    "created_at": NOW,
}
WORKSPACE, CAMPAIGN = {"name": "پیک"}, {"name": "پاییز"}
SUCCESS = ActionResult(status=ActionStatus.SUCCESS)


def facts_of(row: Mapping[str, Any], traits: Mapping[str, Any]) -> Facts:
    """What the runtime builds for one step of one person."""
    return Facts(
        target={**traits, **row},
        execution={"cycle": 1, "started_at": NOW, "last_action_status": ""},
        campaign=CAMPAIGN,
        workspace=WORKSPACE,
        workspace_timezone="Asia/Tehran",
    )


STEPS = (
    NodeSpec(key="start", type="start", subtype="manual"),
    NodeSpec(key="ask", type="condition", subtype="field_rules", config={"logic": "all", "rules": RULES}),
    NodeSpec(key="message", type="action", subtype="message", config={"body": BODY}),
    NodeSpec(key="pause", type="wait", subtype="until", config={"at": "2026-05-01T09:00"}),
    NodeSpec(key="note", type="action", subtype="note"),
    NodeSpec(key="end", type="end", subtype="complete"),
)
WAYS = (
    "start.default.ask ask.yes.message ask.no.end message.default.pause pause.default.note note.default.end"
)
FIELDS = {
    "target.plan": FieldType.TEXT,
    "target.amount": FieldType.NUMBER,
    "target.lists": FieldType.LIST,
}


def action(subtype: str, *, consumes: bool) -> ActionSpec:
    return ActionSpec(
        subtype=subtype,
        ports=frozenset({"default", "success", "failure"}),
        check=lambda _: (),
        consumes_budget=lambda _: consumes,
        texts=lambda config: [config["body"]] if "body" in config else [],
    )


def compiled_graph() -> Graph:
    edges = (way.split(".") for way in WAYS.split())
    result = compile_definition(
        Definition(nodes=STEPS, edges=tuple(EdgeSpec(source=a, port=b, target=c) for a, b, c in edges)),
        actions={"message": action("message", consumes=True), "note": action("note", consumes=False)},
        variables={"target.first_name", "target.order", "target.amount"},
        fields=FIELDS,
    )
    assert result.graph is not None, result.problems
    return result.graph


def by_engine(graph: Graph, text: Text) -> str:
    """One person from the start to the end."""
    position, due = start_position(graph, NOW)
    facts = facts_of(ROW, TRAITS)
    outcome = walk(graph, position, facts, due).outcome
    message = ""
    while not isinstance(outcome, Finish):
        if isinstance(outcome, Perform):
            if outcome.action == "message":
                message = render(text, facts, on_missing="skip").text
            outcome = walk(graph, outcome.position, facts, NOW, SUCCESS).outcome
        else:
            assert isinstance(outcome, Yield)
            outcome = walk(graph, outcome.position, facts, NOW).outcome
    return message


BY_HAND: dict[str, dict[str, Any]] = {
    "start": {"kind": "start", "next": "ask"},
    "ask": {"kind": "ask", "rules": RULES, "yes": "message", "no": "end"},
    "message": {"kind": "message", "parts": BODY.split("{"), "next": "pause"},
    "pause": {"kind": "pause", "at": datetime(2026, 5, 1, 5, 30, tzinfo=UTC), "next": "note"},
    "note": {"kind": "note", "next": "end"},
    "end": {"kind": "end"},
}
BY_HAND["message"]["parts"] = [part.split("}") for part in BODY.split("{")]
OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda actual, value: actual == value,
    ">=": lambda actual, value: actual is not None and actual >= value,
    "contains": lambda actual, value: actual is not None and value in actual,
}


def by_hand() -> str:
    """The same person by the shortest code that does it."""
    values = {**TRAITS, **ROW}
    key, message, history = "start", "", []
    while True:
        node = BY_HAND[key]
        history.append(key)
        kind = node["kind"]
        if kind == "end":
            return message
        if kind == "ask":
            holds = all(
                OPERATORS[rule["operator"]](values.get(rule["field"][7:]), rule["value"])
                for rule in node["rules"]
            )
            key = node["yes"] if holds else node["no"]
            continue
        if kind == "message":
            message = "".join(
                part[0] if len(part) == 1 else str(values.get(part[0], "")) + part[1]
                for part in node["parts"]
            )
        elif kind == "pause" and node["at"] > NOW:
            return message
        key = node["next"]


def rate(once: Callable[[], str], people: int) -> float:
    began = time.process_time()
    for _ in range(people):
        once()
    return NODES * people / (time.process_time() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--people", type=int, default=10_000, help="people in a run")
    parser.add_argument("--runs", type=int, default=9)
    options = parser.parse_args()
    graph, text = compiled_graph(), parse_text(BODY)
    assert by_engine(graph, text) == by_hand() != ""
    engine, hand = [], []
    for _ in range(options.runs):
        engine.append(rate(lambda: by_engine(graph, text), options.people))
        hand.append(rate(by_hand, options.people))
    for name, rates in (("engine", engine), ("by hand", hand)):
        print(
            f"{name:8} {statistics.median(rates):>12,.0f} node-steps/s a core"
            f"  ({min(rates):,.0f} to {max(rates):,.0f}, {options.runs} runs)"
        )
    print(f"ratio    {statistics.median(engine) / statistics.median(hand):>12.2f}")


if __name__ == "__main__":
    main()
