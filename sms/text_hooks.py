"""What this app must be told of texts with variables, by whoever owns the variables. Registered at start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """One variable as people write it, with its name in words."""

    token: str
    label: str


class TextTools(Protocol):
    """Everything is about the active workspace."""

    def variables(self) -> Sequence[Variable]: ...

    def problems(self, body: str) -> Sequence[str]:
        """Why the text could not be published, in words; empty when it could."""
        ...

    def sample(self, body: str) -> str:
        """The text for a made-up person."""
        ...


class _NoVariables:
    def variables(self) -> Sequence[Variable]:
        return []

    def problems(self, body: str) -> Sequence[str]:  # noqa: ARG002
        return []

    def sample(self, body: str) -> str:
        return body


_tools: TextTools = _NoVariables()


def register_text_tools(tools: TextTools) -> None:
    global _tools
    _tools = tools


def text_tools() -> TextTools:
    return _tools
