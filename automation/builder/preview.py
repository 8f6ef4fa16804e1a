"""How a message will look: the text for a made-up person, its parts, and what may go missing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from automation import registry
from automation.variables import Variable, sample_facts
from engine.text import parse_text, render
from sms.channel import Channel
from sms.models import SmsSettings
from sms.parts import PartCount, count_parts
from workspaces.models import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """`unknown`: variables that do not exist. `bare`: labels of those without a fallback, which a
    person may have no value for. `stray`: braces that belong to no variable.
    """

    text: str
    parts: PartCount
    unknown: tuple[str, ...]
    bare: tuple[str, ...]
    stray: int
    lacks_opt_out: bool


def preview(body: str, *, workspace: Workspace, append_opt_out: bool) -> Preview:
    """Render `body` the way the sending path does. One query when the opt-out text is wanted, else none."""
    known = {variable.name: variable for variable in registry.variables()}
    text = parse_text(body)
    facts = sample_facts(known.values(), workspace_name=workspace.name)
    opt_out = _opt_out_text() if append_opt_out else ""
    channel = Channel(accounts={}, primary=None, opt_out_text=opt_out)
    message = channel.compose(render(text, facts, on_missing="blank").text, append_opt_out=append_opt_out)
    bare = dict.fromkeys(ref.name for ref in text.refs if ref.fallback is None and ref.name in known)
    return Preview(
        text=message,
        parts=count_parts(message),
        unknown=tuple(name for name in text.names if name not in known),
        bare=tuple(str(known[name].label) for name in bare if _may_be_empty(known[name])),
        stray=len(text.stray),
        lacks_opt_out=append_opt_out and not opt_out,
    )


def _may_be_empty(variable: Variable) -> bool:
    return variable.namespace == "target"


def _opt_out_text() -> str:
    return SmsSettings.objects.values_list("opt_out_text", flat=True).first() or ""


def picker(variables: Iterable[Variable]) -> list[tuple[str, str]]:
    """What the variable buttons insert, and their labels."""
    return [(variable.placeholder, str(variable.label)) for variable in variables]
