"""The forms of waits, ends, goals, conditions and forks, and which form edits which kind of step."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from django import forms
from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from automation.builder import event_choices, event_filter
from automation.builder.describing import condition, until
from automation.builder.followup_form import FollowupForm
from automation.builder.fork_forms import ConditionForm, SplitForm, SwitchForm
from automation.builder.step_forms import SendSmsForm, StepForm, Surroundings
from automation.known_events import known_event
from core.formfields import DigitsIntegerField, JalaliDateTimeField
from core.text import to_latin_digits
from engine.compile_journey import MAX_WINDOW_DAYS
from engine.compile_nodes import MAX_CYCLES
from engine.durations import Duration, parse_duration
from engine.types import NodeSpec

UNITS = [
    ("minute", _("minutes")),
    ("hour", _("hours")),
    ("day", _("days")),
    ("week", _("weeks")),
    ("month", _("months")),
    ("year", _("years")),
]
_CLOCK = re.compile(r"([01]?[0-9]|2[0-3])(?::([0-5][0-9]))?")


class ClockField(forms.CharField):
    """A time of day, `9:30` or `۹`. Gives (hour, minute)."""

    def __init__(self, **kwargs: Any) -> None:
        attrs = {"dir": "ltr", "inputmode": "numeric", "autocomplete": "off", "placeholder": "09:30"}
        super().__init__(max_length=5, widget=forms.TextInput(attrs=attrs), **kwargs)

    def clean(self, value: Any) -> tuple[int, int] | None:
        text = to_latin_digits(super().clean(value))
        if not text:
            return None
        found = _CLOCK.fullmatch(text)
        if found is None:
            raise forms.ValidationError(_("Write a time of day such as 09:30."))
        return int(found.group(1)), int(found.group(2) or 0)


class KindForm(StepForm):
    """A step that can be turned into another kind of the same sort: a wait, an end."""

    kind = forms.ChoiceField(label=_("Kind"), required=False, widget=forms.RadioSelect)

    def __init__(self, data: QueryDict | None, *, node: NodeSpec, around: Surroundings) -> None:
        super().__init__(data, node=node, around=around)
        field = self.fields["kind"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(kind.subtype, kind.label) for kind in around.kinds]
        self.initial["kind"] = node.subtype

    def subtype(self) -> str:
        return str(self.cleaned_data.get("kind") or "") or self.node.subtype

    def _checked_duration(self) -> None:
        """Turn a duration that is too long into an error of its field."""
        values = self.cleaned_data
        if values.get("amount") is not None and values.get("unit"):
            parsed = parse_duration({"amount": values["amount"], "unit": values["unit"]})
            if not isinstance(parsed, Duration):
                self.add_error("amount", _("The duration is longer than ten years."))


def _amount(label: Any, **more: Any) -> DigitsIntegerField:
    return DigitsIntegerField(label=label, required=False, min_value=1, **more)


class WaitForm(KindForm):
    """A wait of any kind. An empty date or event is stored: it only keeps the draft from being published."""

    has_switch = True
    template = "automation/workflows/editors/_wait.html"
    amount = _amount(_("How long"))
    unit = forms.ChoiceField(label=_("Unit"), choices=UNITS, required=False)
    at = JalaliDateTimeField(
        label=_("Until"),
        required=False,
        help_text=_("Date and time, for example 2026/11/30 14:30. Who gets here later does not wait."),
    )
    time = ClockField(
        label=_("Time of day"),
        required=False,
        help_text=_("In the person's own time zone, where it is known."),
    )
    fallback_hour = DigitsIntegerField(
        label=_("Hour for people whose best time is not known yet"),
        required=False,
        min_value=0,
        max_value=23,
    )
    event = forms.CharField(label=_("Event"), max_length=100, required=False, strip=True)
    is_limited = forms.BooleanField(label=_("Wait only for a certain time"), required=False)

    def __init__(self, data: QueryDict | None, *, node: NodeSpec, around: Surroundings) -> None:
        super().__init__(data, node=node, around=around)
        stored = node.config.get("filter")
        self.filter = (
            event_filter.from_config(stored) if data is None else event_filter.from_post(data, stored)
        )
        event_choices.offer_events(self.fields["event"], self.event_chosen, refreshes=True)

    def edit(self, what: str) -> None:
        self.filter = self.filter.edit(what)

    @property
    def event_chosen(self) -> str:
        """The event that the page shows now."""
        return str(self["event"].value() or "").strip()

    @property
    def comparisons(self) -> list[event_filter.Shown]:
        return self.filter.shown(self.event_chosen)

    @property
    def is_spelled(self) -> bool:
        """Whether the event comes with words that are compared in all their spellings."""
        known = known_event(self.event_chosen)
        return known is not None and any(one.spelled for one in known.properties)

    @property
    def filter_words(self) -> str:
        return condition(self.node.config.get("filter"), about="event")

    def read(self, config: Mapping[str, Any]) -> dict[str, Any]:
        moment = until(config, self.around.timezone)
        hour, minute = config.get("hour"), config.get("minute", 0)
        return {
            "amount": config.get("amount"),
            "unit": str(config.get("unit") or "day").removesuffix("s"),
            "at": timezone.localtime(moment) if moment else None,
            "time": f"{hour:02d}:{minute:02d}" if isinstance(hour, int) and isinstance(minute, int) else "",
            "fallback_hour": config.get("fallback_hour"),
            "event": config.get("event", ""),
            "is_limited": config.get("amount") is not None,
        }

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        needs_amount = self.subtype() == "duration"
        if needs_amount and "amount" in values and values["amount"] is None:
            self.add_error("amount", _("Say how long: a number and a unit."))
        self._checked_duration()
        return values

    def config(self) -> dict[str, Any]:
        values, kind = self.cleaned_data, self.subtype()
        duration = {"amount": values["amount"], "unit": values["unit"] or "day"}
        match kind:
            case "duration":
                return {"mode": kind, **duration}
            case "until_time":
                hour, minute = values["time"] or (None, 0)
                return {"mode": kind, "hour": hour, "minute": minute}
            case "until_best_time":
                return {"mode": kind, "fallback_hour": values["fallback_hour"]}
            case "for_event":
                made = self.filter.to_config()
                kept = {"filter": made} if made else {}
                limit = duration if values["is_limited"] else {}
                return {"mode": kind, "event": values["event"], **kept, **limit}
        return self._until(values["at"])

    def _until(self, moment: Any) -> dict[str, Any]:
        stored, zone = self.node.config, str(timezone.get_current_timezone())
        if self.node.subtype == "until" and moment == until(stored, self.around.timezone):
            return dict(stored)
        if moment is None:
            return {"mode": "until", "at": "", "timezone": zone}
        local = timezone.localtime(moment).replace(tzinfo=None)
        return {"mode": "until", "at": local.isoformat(timespec="minutes"), "timezone": zone}


class EndForm(KindForm):
    template = "automation/workflows/editors/_end.html"
    to_node = forms.ChoiceField(label=_("Back to which step"), required=False)
    amount = _amount(_("Pause before the next round"), help_text=_("One hour at least."))
    unit = forms.ChoiceField(label=_("Unit"), choices=UNITS, required=False)
    max_cycles = _amount(_("Rounds at most"), max_value=MAX_CYCLES)

    def __init__(self, data: QueryDict | None, *, node: NodeSpec, around: Surroundings) -> None:
        super().__init__(data, node=node, around=around)
        field = self.fields["to_node"]
        assert isinstance(field, forms.ChoiceField)
        stored = str(node.config.get("to_node") or "")
        lost = [(stored, _("A step that is gone"))] if stored and stored not in dict(around.steps) else []
        field.choices = [("", _("The first step")), *around.steps, *lost]

    def read(self, config: Mapping[str, Any]) -> dict[str, Any]:
        delay = config.get("delay")
        delay = delay if isinstance(delay, Mapping) else {}
        return {
            "to_node": config.get("to_node") or "",
            "amount": delay.get("amount", 1),
            "unit": str(delay.get("unit", "day")).removesuffix("s"),
            "max_cycles": config.get("max_cycles", 2),
        }

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        self._checked_duration()
        return values

    def config(self) -> dict[str, Any]:
        values, kind = self.cleaned_data, self.subtype()
        if kind not in ("loop", "restart"):
            return {"behavior": kind}
        config = {
            "behavior": kind,
            "delay": {"amount": values["amount"], "unit": values["unit"] or "day"},
            "max_cycles": values["max_cycles"],
        }
        return config | ({"to_node": values["to_node"]} if kind == "loop" and values["to_node"] else {})


class GoalForm(StepForm):
    has_switch = True
    template = "automation/workflows/editors/_goal.html"
    event = forms.CharField(
        label=_("Event"),
        max_length=100,
        required=False,
        help_text=_("Who did this after coming in has reached the goal and leaves here."),
    )
    window_days = DigitsIntegerField(
        label=_("Within how many days"),
        required=False,
        min_value=1,
        max_value=MAX_WINDOW_DAYS,
        help_text=_("Empty means at any time since coming in."),
    )

    def __init__(self, data: QueryDict | None, *, node: NodeSpec, around: Surroundings) -> None:
        super().__init__(data, node=node, around=around)
        event_choices.offer_events(self.fields["event"], self["event"].value())

    def read(self, config: Mapping[str, Any]) -> dict[str, Any]:
        return {"event": config.get("event", ""), "window_days": config.get("window_days")}

    def config(self) -> dict[str, Any]:
        days = self.cleaned_data["window_days"]
        return {"event": self.cleaned_data["event"]} | ({} if days is None else {"window_days": days})


class StartForm(StepForm):
    template = "automation/workflows/editors/_start.html"
    amount = _amount(_("Pause before the first step"), help_text=_("Empty means at once."))
    unit = forms.ChoiceField(
        label=_("Unit"), choices=[one for one in UNITS if one[0] not in ("month", "year")], required=False
    )

    def read(self, config: Mapping[str, Any]) -> dict[str, Any]:
        delay = config.get("initial_delay")
        delay = delay if isinstance(delay, Mapping) else {}
        return {"amount": delay.get("amount"), "unit": str(delay.get("unit", "hour")).removesuffix("s")}

    def config(self) -> dict[str, Any]:
        kept = {key: value for key, value in self.node.config.items() if key != "initial_delay"}
        amount = self.cleaned_data["amount"]
        if amount is None:
            return kept
        return kept | {"initial_delay": {"amount": amount, "unit": self.cleaned_data["unit"] or "hour"}}


class Editors:
    """Which form edits which kind of step; kinds without one can be renamed."""

    BY_KIND: ClassVar[dict[tuple[str, str], type[StepForm]]] = {
        ("action", "send_sms"): SendSmsForm,
        ("action", "create_followup"): FollowupForm,
    }
    BY_TYPE: ClassVar[dict[str, type[StepForm]]] = {
        "start": StartForm,
        "wait": WaitForm,
        "condition": ConditionForm,
        "switch": SwitchForm,
        "split": SplitForm,
        "goal": GoalForm,
        "end": EndForm,
    }

    @classmethod
    def form(cls, node: NodeSpec) -> type[StepForm]:
        return cls.BY_KIND.get((node.type, node.subtype)) or cls.BY_TYPE.get(node.type, StepForm)
