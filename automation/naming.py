"""What a step is called: the name a person gave it, else what its kind is called in the reader's language.

A new step is stored under the name of its kind in the language of whoever added it. As long as nobody
changes that name, everybody reads it in their own language.
"""

from __future__ import annotations

from functools import cache
from typing import Final, Protocol

from django.conf import settings
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, override

from automation import registry
from automation.models.definition import NodeKind

LABELS: Final[dict[tuple[str, str], Promise]] = {
    ("wait", "duration"): gettext_lazy("Wait"),
    ("wait", "until"): gettext_lazy("Wait until a date"),
    ("wait", "until_time"): gettext_lazy("Wait until a time of day"),
    ("wait", "until_best_time"): gettext_lazy("Wait until the best time"),
    ("wait", "for_event"): gettext_lazy("Wait for an event"),
    ("end", "complete"): gettext_lazy("End"),
    ("end", "stop"): gettext_lazy("Stop"),
    ("end", "loop"): gettext_lazy("Back to a step"),
    ("end", "restart"): gettext_lazy("From the beginning"),
}


class Named(Protocol):
    """A step as the engine or the database has it."""

    @property
    def type(self) -> str: ...
    @property
    def subtype(self) -> str: ...
    @property
    def name(self) -> str: ...


def kind_label(step: Named) -> str:
    """What this kind of step is called, in the active language."""
    return str(_label(step.type, step.subtype) or _("Step"))


def step_label(step: Named) -> str:
    """The step's own name; its kind's while nobody has named it."""
    return step.name if step.name and not is_default(step) else kind_label(step)


def is_default(step: Named) -> bool:
    """Whether the stored name is only the name of a kind, in any language of the product."""
    return step.name in _defaults(step.type)


def _label(kind: str, subtype: str) -> str | Promise | None:
    if kind == "action":
        plugin = registry.action(subtype)
        return plugin.label if plugin else None
    return LABELS.get((kind, subtype)) or (NodeKind(kind).label if kind in NodeKind.values else None)


@cache
def _defaults(kind: str) -> frozenset[str]:
    """Every name that a step of this type is stored under when it is added, in every language."""
    own: list[str | Promise] = [label for (of, _subtype), label in LABELS.items() if of == kind]
    if kind == "action":
        own += [plugin.label for plugin in registry.actions()]
    elif kind in NodeKind.values:
        own.append(NodeKind(kind)._label_)
    found = set()
    for code, _name in settings.LANGUAGES:
        with override(code):
            found |= {str(label) for label in own}
    return frozenset(found)
