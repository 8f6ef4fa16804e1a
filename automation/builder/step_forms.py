"""One form for each kind of step: what it shows of the step's config, and what it stores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from automation.action_specs import send_sms
from automation.builder.describing import until
from automation.builder.drafts import Base
from automation.builder.message_text import direction
from core.formfields import DigitsIntegerField, JalaliDateTimeField
from core.text import normalize_text
from engine.durations import Duration, parse_duration
from engine.retry import DEFAULT_RULE, MAX_ATTEMPTS, RetryRule, parse_retry
from engine.types import NodeSpec

MAX_RETRY_MINUTES = 30 * 24 * 60


class StepForm(forms.Form):
    """The name of a step. Kinds with more to say extend it; `config()` is what will be stored."""

    has_switch: ClassVar[bool] = False
    base = forms.CharField(widget=forms.HiddenInput, required=False)
    name = forms.CharField(
        label=_("Name of the step"),
        max_length=120,
        required=False,
        help_text=_("Your colleagues see it in lists and reports; the people you write to do not."),
    )
    is_enabled = forms.BooleanField(
        label=_("The step is switched on"),
        required=False,
        help_text=_("A step that is switched off is passed over."),
    )

    def __init__(
        self, *args: Any, node: NodeSpec, base: Base, retry: RetryRule = DEFAULT_RULE, **kwargs: Any
    ) -> None:
        self.node = node
        self.version_retry = retry
        kwargs["initial"] = {
            "base": str(base),
            "name": node.name,
            "is_enabled": node.is_enabled,
            **self.read(node.config),
        }
        super().__init__(*args, **kwargs)
        if not self.has_switch:
            del self.fields["is_enabled"]

    def read(self, config: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG002  # for those who extend it
        """Initial values of the kind's own fields."""
        return {}

    def config(self) -> dict[str, Any]:
        """The whole config to store; keys that this form does not show stay."""
        return dict(self.node.config)

    def is_on(self) -> bool:
        return bool(self.cleaned_data["is_enabled"]) if self.has_switch else self.node.is_enabled


class WaitForm(StepForm):
    has_switch = True
    amount = DigitsIntegerField(label=_("How long"), min_value=1)
    unit = forms.ChoiceField(
        label=_("Unit"),
        choices=[
            ("minute", _("minutes")),
            ("hour", _("hours")),
            ("day", _("days")),
            ("week", _("weeks")),
            ("month", _("months")),
            ("year", _("years")),
        ],
    )

    def read(self, config: Mapping[str, Any]) -> dict[str, Any]:
        return {"amount": config.get("amount"), "unit": str(config.get("unit", "day")).removesuffix("s")}

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        if "amount" in values and "unit" in values:
            parsed = parse_duration({"amount": values["amount"], "unit": values["unit"]})
            if not isinstance(parsed, Duration):
                self.add_error("amount", _("The duration is longer than ten years."))
        return values

    def config(self) -> dict[str, Any]:
        return {"mode": "duration", "amount": self.cleaned_data["amount"], "unit": self.cleaned_data["unit"]}


class WaitUntilForm(StepForm):
    has_switch = True
    at = JalaliDateTimeField(
        label=_("Until"),
        required=False,
        help_text=_("Date and time, for example 1405/09/09 14:30. Who gets here later does not wait."),
    )

    def read(self, config: Mapping[str, Any]) -> dict[str, Any]:
        moment = until(config, str(timezone.get_current_timezone()))
        return {"at": timezone.localtime(moment) if moment else None}

    def config(self) -> dict[str, Any]:
        moment = self.cleaned_data["at"]
        zone = str(timezone.get_current_timezone())
        if moment is None:
            return {"mode": "until", "at": "", "timezone": zone}
        local = timezone.localtime(moment).replace(tzinfo=None)
        return {"mode": "until", "at": local.isoformat(timespec="minutes"), "timezone": zone}


class SendSmsForm(StepForm):
    """A message. An empty text is stored too: it only keeps the draft from being published."""

    has_switch = True
    body = forms.CharField(
        label=_("Text of the message"),
        required=False,
        max_length=send_sms.MAX_BODY,
        widget=forms.Textarea(attrs={"rows": 6}),
    )
    title = forms.CharField(
        label=_("Title"),
        required=False,
        max_length=send_sms.MAX_TITLE,
        help_text=_("What reports call this message."),
    )
    sender = forms.ChoiceField(label=_("Sender line"), required=False)
    send_only_in_window = forms.BooleanField(
        label=_("Only in the sending hours"),
        required=False,
        help_text=_("Outside the sending hours the message waits for the next opening."),
    )
    on_missing_variable = forms.ChoiceField(
        label=_("When a person lacks a value that the text uses"),
        choices=[
            ("skip", _("Do not send this message to that person")),
            ("send_blank", _("Send it with a gap")),
        ],
        widget=forms.RadioSelect,
    )
    append_opt_out = forms.BooleanField(
        label=_("Add the opt-out text"),
        required=False,
        help_text=_("The text is set in the SMS settings and counts into the parts."),
    )
    retry_enabled = forms.BooleanField(label=_("Try again when sending fails"), required=False)
    retry_max_attempts = DigitsIntegerField(
        label=_("How many more times"), min_value=1, max_value=MAX_ATTEMPTS, required=False
    )
    retry_minutes = DigitsIntegerField(
        label=_("Minutes in between"), min_value=1, max_value=MAX_RETRY_MINUTES, required=False
    )
    retry_strategy = forms.ChoiceField(
        label=_("Pace"),
        choices=[("fixed", _("always the same pause")), ("exponential", _("twice as long each time"))],
    )
    retry_on_exhausted = forms.ChoiceField(
        label=_("When every try has failed"),
        choices=[
            ("fail", _("Mark the person as failed")),
            ("stop", _("The person leaves the workflow")),
            ("skip_step", _("Skip this message and go on")),
            ("continue", _("Go on as if sent")),
        ],
    )

    RETRY: ClassVar[dict[str, str]] = {
        "retry_enabled": "enabled",
        "retry_max_attempts": "max_attempts",
        "retry_strategy": "strategy",
        "retry_on_exhausted": "on_exhausted",
    }

    def __init__(self, *args: Any, lines: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        stored = self.initial.get("sender") or ""
        known = [*lines, *([stored] if stored and stored not in lines else [])]
        self.fields["body"].widget.attrs["dir"] = direction(str(self["body"].value() or ""))
        field = self.fields["sender"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [("", _("The provider's own line")), *((line, line) for line in known)]

    def read(self, config: Mapping[str, Any]) -> dict[str, Any]:
        values = send_sms.defaults() | {k: v for k, v in config.items() if v is not None}
        parsed = parse_retry(config.get("retry"), self.version_retry)
        self.rule = parsed if isinstance(parsed, RetryRule) else DEFAULT_RULE
        shown = {name: getattr(self.rule, key) for name, key in self.RETRY.items()}
        shown["retry_minutes"] = max(1, -(-self.rule.interval_seconds // 60))
        names = ("body", "title", "sender", "send_only_in_window", "on_missing_variable", "append_opt_out")
        return {name: values[name] for name in names} | shown

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        for name in ("retry_max_attempts", "retry_minutes"):
            if values.get("retry_enabled") and name in values and values[name] is None:
                self.add_error(name, _("Fill this in, or switch off trying again."))
        return values

    def config(self) -> dict[str, Any]:
        values = self.cleaned_data
        config = dict(self.node.config) | {
            "body": normalize_text(values["body"]),
            "title": normalize_text(values["title"]),
            "sender": values["sender"] or None,
            "send_only_in_window": values["send_only_in_window"],
            "on_missing_variable": values["on_missing_variable"],
            "append_opt_out": values["append_opt_out"],
        }
        if "retry" in config or any(name.startswith("retry_") for name in self.changed_data):
            config["retry"] = self._retry()
        return config

    def _retry(self) -> dict[str, Any]:
        typed = {key: self.cleaned_data[name] for name, key in self.RETRY.items()}
        if "retry_minutes" in self.changed_data and self.cleaned_data["retry_minutes"] is not None:
            typed["interval_seconds"] = self.cleaned_data["retry_minutes"] * 60
        return self.rule.to_json() | {key: value for key, value in typed.items() if value is not None}


STEP_FORMS: dict[tuple[str, str], type[StepForm]] = {
    ("action", "send_sms"): SendSmsForm,
    ("wait", "duration"): WaitForm,
    ("wait", "until"): WaitUntilForm,
}


def step_form(node: NodeSpec) -> type[StepForm]:
    """The form that edits this kind of step; kinds without one can be renamed."""
    return STEP_FORMS.get((node.type, node.subtype), StepForm)
