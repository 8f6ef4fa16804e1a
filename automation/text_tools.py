"""What the SMS app is told of texts with variables: which there are, what is wrong, how a text turns out."""

from __future__ import annotations

from collections.abc import Sequence

from automation import registry
from automation.problems import sentence
from automation.variables import sample_facts
from core.text import normalize_text
from engine.text import check_names, parse_text, render
from sms.text_hooks import Variable


class AutomationTexts:
    """`sms.text_hooks.TextTools` over the variables of campaigns."""

    def variables(self) -> Sequence[Variable]:
        return [Variable(token=one.placeholder, label=str(one.label)) for one in registry.variables()]

    def problems(self, body: str) -> Sequence[str]:
        return [sentence(problem) for problem in check_names(parse_text(body), registry.variable_names())]

    def sample(self, body: str) -> str:
        text = render(parse_text(body), sample_facts(registry.variables()), on_missing="blank").text
        return normalize_text(text)
