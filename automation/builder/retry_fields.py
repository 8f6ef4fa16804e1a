"""The fields of a retry rule, as a message has them and the settings of a workflow."""

from __future__ import annotations

from typing import Any, ClassVar

from django import forms
from django.utils.translation import gettext_lazy as _

from core.formfields import DigitsIntegerField
from engine.retry import MAX_ATTEMPTS, RetryRule

MAX_RETRY_MINUTES = 30 * 24 * 60


class RetryFields(forms.Form):
    """Six values in five fields; seconds are shown in whole minutes and kept unless they are changed."""

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

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        for name in ("retry_max_attempts", "retry_minutes"):
            if values.get("retry_enabled") and name in values and values[name] is None:
                self.add_error(name, _("Fill this in, or switch off trying again."))
        return values

    @classmethod
    def shown(cls, rule: RetryRule) -> dict[str, Any]:
        """Initial values for a rule."""
        values = {name: getattr(rule, key) for name, key in cls.RETRY.items()}
        return values | {"retry_minutes": max(1, -(-rule.interval_seconds // 60))}

    @property
    def is_retry_changed(self) -> bool:
        return any(name.startswith("retry_") for name in self.changed_data)

    def typed_rule(self, before: RetryRule) -> dict[str, Any]:
        """The stored form of what was typed over `before`."""
        typed = {key: self.cleaned_data[name] for name, key in self.RETRY.items()}
        if "retry_minutes" in self.changed_data and self.cleaned_data["retry_minutes"] is not None:
            typed["interval_seconds"] = self.cleaned_data["retry_minutes"] * 60
        return before.to_json() | {key: value for key, value in typed.items() if value is not None}
