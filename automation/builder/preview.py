"""How a message will look: the text for a made-up person, its parts, and what may go missing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from automation import registry
from automation.builder.people import Person, facts_of
from automation.variables import Variable, sample_facts
from engine.text import parse_text, render
from sms.channel import Channel
from sms.models import SmsSettings
from sms.parts import PartCount, count_parts
from sms.preview import Preview as Shown
from sms.preview import preview as shown_with_marks
from sms.wording import Found, Wording
from workspaces.models import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """`unknown`: variables that do not exist. `bare`: labels of those without a fallback, which a
    person may have no value for. `stray`: braces that belong to no variable. `missing`: what the chosen
    person has no value for.
    """

    text: str
    parts: PartCount
    unknown: tuple[str, ...]
    bare: tuple[str, ...]
    stray: int
    lacks_opt_out: bool
    missing: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()  # the names of known variables that had no value and no fallback
    shown: Shown | None = None  # the characters that made the text dearer
    refused: tuple[Found, ...] = ()  # words and links that the workspace does not allow


def preview(
    body: str, *, workspace: Workspace, append_opt_out: bool, person: Person | None = None
) -> Preview:
    """Render `body` the way the sending path does, for `person` or somebody made up.

    One query, and one for the person's workspace.
    """
    known = {variable.name: variable for variable in registry.variables()}
    text = parse_text(body)
    facts = (
        facts_of(person, workspace) if person else sample_facts(known.values(), workspace_name=workspace.name)
    )
    settings = SmsSettings.objects.first()
    opt_out = settings.opt_out_text if settings is not None and append_opt_out else ""
    channel = Channel(accounts={}, primary=None, opt_out_text=opt_out)
    rendered = render(text, facts, on_missing="blank")
    message = channel.compose(rendered.text, append_opt_out=append_opt_out)
    bare = dict.fromkeys(ref.name for ref in text.refs if ref.fallback is None and ref.name in known)
    return Preview(
        text=message,
        parts=count_parts(message),
        unknown=tuple(name for name in text.names if name not in known),
        bare=tuple(str(known[name].label) for name in bare if _may_be_empty(known[name])),
        stray=len(text.stray),
        lacks_opt_out=append_opt_out and not opt_out,
        missing=tuple(str(known[name].label) if name in known else name for name in rendered.missing)
        if person
        else (),
        lacking=tuple(name for name in rendered.missing if name in known),
        shown=shown_with_marks(message),
        refused=tuple(Wording.of(settings).find(body, is_template=True)),
    )


def _may_be_empty(variable: Variable) -> bool:
    return variable.namespace == "target"


def picker(variables: Iterable[Variable]) -> list[tuple[str, str]]:
    """What the variable buttons insert, and their labels."""
    return [(variable.placeholder, str(variable.label)) for variable in variables]
