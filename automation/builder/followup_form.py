"""The editor of a follow-up step: what a colleague is asked to do, and when it is due."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django import forms
from django.utils.translation import gettext_lazy as _

from automation import registry
from automation.action_specs import create_followup
from automation.builder.preview import picker
from automation.builder.step_forms import StepForm
from core.formfields import DigitsIntegerField
from core.text import normalize_text
from engine.durations import Duration, parse_duration
from targets.activities import MAX_DESCRIPTION, MAX_TITLE
from targets.models import ActivityKind

UNITS = [("minute", _("minutes")), ("hour", _("hours")), ("day", _("days")), ("week", _("weeks")),
         ("month", _("months"))]  # fmt: skip


class FollowupForm(StepForm):
    """An empty title is stored too: it only keeps the draft from being published."""

    has_switch = True
    has_variables: ClassVar[bool] = True
    template = "automation/workflows/editors/_followup.html"
    kind = forms.ChoiceField(label=_("What is to be done"), choices=ActivityKind.choices)
    title = forms.CharField(
        label=_("Title"),
        required=False,
        max_length=MAX_TITLE,
        widget=forms.TextInput(attrs={"dir": "auto"}),
        help_text=_("What the owner sees in the list. Variables and their fallbacks work here too."),
    )
    description = forms.CharField(
        label=_("Description"),
        required=False,
        max_length=MAX_DESCRIPTION,
        widget=forms.Textarea(attrs={"rows": 4, "dir": "auto"}),
    )
    amount = DigitsIntegerField(
        label=_("Due after"),
        required=False,
        min_value=0,
        help_text=_("Counted from the moment the person gets here. 0: at once."),
    )
    unit = forms.ChoiceField(label=_("Unit"), choices=UNITS, required=False)

    def read(self, config: Mapping[str, Any]) -> dict[str, Any]:
        values = create_followup.defaults() | {k: v for k, v in config.items() if v is not None}
        due = config.get("due_in")
        due = due if isinstance(due, Mapping) else create_followup.AT_ONCE
        return {
            "kind": values["kind"],
            "title": values["title"],
            "description": values["description"],
            "amount": due.get("amount"),
            "unit": str(due.get("unit") or "day").removesuffix("s"),
        }

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        if values.get("amount") and values.get("unit"):
            parsed = parse_duration({"amount": values["amount"], "unit": values["unit"]})
            if not isinstance(parsed, Duration):
                self.add_error("amount", _("The duration is longer than ten years."))
        return values

    def config(self) -> dict[str, Any]:
        values = self.cleaned_data
        return dict(self.node.config) | {
            "kind": values["kind"],
            "title": normalize_text(values["title"]),
            "description": normalize_text(values["description"]),
            "due_in": {"amount": values["amount"] or 0, "unit": values["unit"] or "day"},
        }

    @property
    def variables(self) -> list[tuple[str, str]]:
        """What the variable buttons insert, and their labels."""
        return picker(registry.variables())
