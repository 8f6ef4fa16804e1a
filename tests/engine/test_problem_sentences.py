"""Every problem the engine can name has a sentence, and every sentence can be filled."""

from __future__ import annotations

import re
from pathlib import Path

import polib
import pytest
from django.utils.translation import override

import engine
from automation.problems import SENTENCES, reason, register_sentences, sentence
from engine.types import Problem

ROOT = Path(engine.__file__).parent
CODE = re.compile(r"(?:code=|ConditionError\(|NotASequence\()\"([a-z_]+)\"")
PERSIAN = ROOT.parent / "locale" / "fa" / "parts" / "automation_problems.po"


def engine_codes() -> set[str]:
    return {code for path in ROOT.glob("*.py") for code in CODE.findall(path.read_text(encoding="utf-8"))}


def test_every_code_has_a_sentence() -> None:
    assert {*engine_codes(), "failure_path", "success_path"} - set(SENTENCES) == set()


@pytest.mark.parametrize("code", sorted(SENTENCES))
def test_every_sentence_can_be_filled_even_without_fields(code: str) -> None:
    assert "%" not in sentence(Problem(code=code))


def test_fields_are_filled_in() -> None:
    problem = Problem(code="variable_unknown", fields={"name": "target.shoe", "start": 1, "end": 2})
    assert "{target.shoe}" in sentence(problem)


def test_a_problem_of_one_branch_names_the_branch() -> None:
    with override("en"):
        assert sentence(Problem(code="condition_empty", port="case_2")).startswith("case 2: The condition")
        assert "“branch 3”" in sentence(Problem(code="port_unknown", port="branch_3"))


def test_a_kind_is_said_in_words() -> None:
    with override("en"):
        text = sentence(Problem(code="kind_only_in_journeys", fields={"kind": "for_event"}))
    assert "wait for an event" in text


@pytest.mark.parametrize(("name", "label"), [("city", "City"), ("target.city", "City"), ("shoe", "shoe")])
def test_a_field_is_called_what_the_editor_calls_it(name: str, label: str) -> None:
    problem = Problem(code="condition_value_invalid", fields={"field": name})
    with override("en"):
        assert f"“{label}”" in sentence(problem)


def test_an_unknown_code_still_reads() -> None:
    assert "brand_new" in reason("brand_new")


def test_an_action_may_bring_its_own_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("automation.problems.SENTENCES", dict(SENTENCES))
    register_sentences({"brand_new": "Brand new: %(key)s"})
    assert sentence(Problem(code="brand_new", fields={"key": "k"})) == "Brand new: k"


def test_every_sentence_of_the_engine_has_its_persian_with_the_same_fields() -> None:
    fields = re.compile(r"%\(\w+\)s")
    persian = {entry.msgid: entry.msgstr for entry in polib.pofile(str(PERSIAN))}
    with override("en"):
        english = [str(SENTENCES[code]) for code in engine_codes()]
    assert [text for text in english if not persian.get(text)] == []
    assert [text for text in english if set(fields.findall(text)) != set(fields.findall(persian[text]))] == []
