"""What only journeys are set to: who may come in again, when, and who leaves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from automation.builder import rules
from automation.builder.claiming import Base
from automation.builder.rule_rows import GroupRow, rows
from automation.builder.rules import Group
from automation.forms import SettingsForm
from core.formfields import DigitsIntegerField
from engine.compile_settings import MAX_DAYS


class JourneySettingsForm(SettingsForm):
    """The settings of a journey's version: those of every version, and the rules of coming in and leaving."""

    PREFIX: ClassVar[str] = "x"
    entry_rule = forms.ChoiceField(
        label=_("How often somebody may come in"),
        required=False,
        choices=[
            ("once", _("Once in their life")),
            ("after_completion", _("Again after they have completed it")),
            ("every_time", _("Every time, but never twice at once")),
        ],
    )
    reentry = forms.ChoiceField(
        label=_("Between two times"),
        required=False,
        choices=[
            ("", _("no pause")),
            ("day", _("once a calendar day at most")),
            ("hours", _("so many hours since they last moved on")),
        ],
    )
    cooldown_hours = DigitsIntegerField(
        label=_("Hours of pause"), required=False, min_value=0, max_value=24 * MAX_DAYS
    )
    max_duration_days = DigitsIntegerField(
        label=_("Days after which somebody leaves in any case"),
        required=False,
        min_value=1,
        max_value=MAX_DAYS,
        help_text=_("Empty means that they may stay as long as it takes."),
    )

    def __init__(
        self, *args: Any, settings: Mapping[str, Any], base: Base, timezone: str, **kwargs: Any
    ) -> None:
        super().__init__(*args, settings=settings, base=base, timezone=timezone, **kwargs)
        self.zone, hours = timezone, settings.get("cooldown_hours")
        own: dict[str, Any] = {
            "entry_rule": settings.get("entry_rule") or "once",
            "reentry": settings.get("reentry_window") or ("hours" if hours is not None else ""),
            "cooldown_hours": hours,
            "max_duration_days": settings.get("max_duration_days"),
        }
        self.initial = {**self.initial, **own}
        is_posted = self.is_bound and f"{self.PREFIX}.n" in self.data
        stored = rules.from_config(settings.get("exit_criteria"))
        typed = self.data if is_posted and isinstance(self.data, QueryDict) else None
        self.criteria: Group = stored if typed is None else rules.from_post(typed, self.PREFIX)

    def edit(self, what: str) -> None:
        """Change the questions about leaving by the word of a button."""
        verb, _colon, path = what.partition(":")
        self.criteria = rules.edit(self.criteria, verb, path)

    def criteria_rows(self) -> GroupRow:
        return rows(self.criteria, self.PREFIX)

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        lacks_hours = values.get("reentry") == "hours" and values.get("cooldown_hours") is None
        if lacks_hours and "cooldown_hours" not in self.errors:
            self.add_error("cooldown_hours", _now("Say how many hours."))
        return values

    def settings(self) -> dict[str, Any]:
        values, criteria = self.cleaned_data, rules.to_config(self.criteria, self.zone)
        reentry = values["reentry"]
        return super().settings() | {
            "entry_rule": values["entry_rule"] or "once",
            "reentry_window": "day" if reentry == "day" else None,
            "cooldown_hours": values["cooldown_hours"] if reentry == "hours" else None,
            "max_duration_days": values["max_duration_days"],
            "exit_criteria": criteria if criteria["root"] else None,
        }
