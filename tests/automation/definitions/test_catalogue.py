"""The built-in templates."""

from __future__ import annotations

import pytest

from automation import catalogue, registry
from automation.checking import compile_registered
from automation.variables import sample_facts
from engine.text import parse_text, render
from sms.parts import count_parts

GENDERED = ("آقای", "خانم", "آقا ", "جناب", "سرکار", "برادر", "خواهر", "بانو")
CLAIMS = ("بهترین", "تضمین", "تخفیف", "ارزان", "رایگان", "شماره یک", "بی‌نظیر")

templates = pytest.mark.parametrize("template", catalogue.BUILT_IN, ids=lambda template: template.key)


def _bodies(template: catalogue.BuiltInTemplate) -> list[str]:
    return [node.config["body"] for node in template.definition().nodes if node.subtype == "send_sms"]


def test_there_are_exactly_three_templates():
    assert [template.key for template in catalogue.BUILT_IN] == [
        "three_step_introduction",
        "welcome_and_reminder",
        "single_message",
    ]


@templates
def test_a_template_has_no_problem_and_no_warning(template):
    compiled = compile_registered(template.definition())

    assert (compiled.problems, compiled.warnings) == ((), ())


@templates
def test_texts_address_nobody_by_gender_and_claim_nothing(template):
    for body in _bodies(template):
        assert not [word for word in GENDERED + CLAIMS if word in body]


@templates
def test_texts_fit_two_parts(template):
    facts = sample_facts(registry.variables(), workspace_name="شرکت نمونه")
    for body in _bodies(template):
        assert count_parts(render(parse_text(body), facts, on_missing="skip").text).parts <= 2


@templates
def test_a_person_without_a_name_is_greeted_all_the_same(template):
    facts = sample_facts([], workspace_name="شرکت نمونه")
    for body in _bodies(template):
        rendered = render(parse_text(body), facts, on_missing="skip")
        assert rendered.missing == ()
        assert rendered.text.startswith("همراه گرامی")


def test_the_introduction_is_three_messages_a_month_apart():
    definition = catalogue.BUILT_IN[0].definition()
    waits = [(node.config["amount"], node.config["unit"]) for node in definition.nodes if node.type == "wait"]
    rules = [node.config["retry"] for node in definition.nodes if node.type == "action"]
    retries = {(rule["strategy"], rule["max_attempts"], rule["interval_seconds"]) for rule in rules}

    assert [node.type for node in definition.nodes] == [
        "start",
        "action",
        "wait",
        "action",
        "wait",
        "action",
        "end",
    ]
    assert waits == [(30, "day"), (30, "day")]
    assert retries == {("fixed", 3, 900)}


def test_the_default_window_is_the_iranian_working_week():
    window = catalogue.default_settings()["send_window"]

    assert window["timezone"] == "Asia/Tehran"
    assert {day: window["days"][day] for day in ("sat", "wed", "thu", "fri")} == {
        "sat": [["09:00", "18:00"]],
        "wed": [["09:00", "18:00"]],
        "thu": [["09:00", "13:00"]],
        "fri": None,
    }
