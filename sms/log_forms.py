"""Which messages the log and the page of unknown outcomes show. A wrong value narrows nothing."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from core.formfields import DigitsIntegerField, JalaliDateField
from core.text import to_latin_digits
from sms import unknown_queries
from sms.forms import LTR, day_range
from sms.log_queries import WAITING_TO_RETRY, LogFilter
from sms.models import SmsStatus


class MessageFilterForm(forms.Form):
    """What both pages ask."""

    since = JalaliDateField(label=_("From day"), required=False)
    until = JalaliDateField(label=_("To day"), required=False)
    campaign = DigitsIntegerField(label=_("Campaign number"), required=False, min_value=1, max_value=2**62)
    number = forms.CharField(
        label=_("Mobile number"),
        required=False,
        max_length=40,
        widget=forms.TextInput(attrs={**LTR, "inputmode": "tel"}),
    )

    def _common(self) -> dict[str, Any]:
        """The valid fields; days are the workspace's, both ends included."""
        if not self.is_bound:
            return {}
        self.is_valid()
        data = self.cleaned_data
        since, until = day_range(data.get("since"), data.get("until"))
        return {
            "since": since,
            "until": until,
            "campaign_id": data.get("campaign"),
            "number": data.get("number") or "",
        }


class LogFilterForm(MessageFilterForm):
    status = forms.ChoiceField(
        label=_("Status"),
        required=False,
        choices=[("", _("All")), *SmsStatus.choices, (WAITING_TO_RETRY, _("Waiting to retry"))],
    )
    line = forms.CharField(
        label=_("Sender line"), required=False, max_length=20, widget=forms.TextInput(attrs=LTR)
    )
    code = forms.CharField(
        label=_("Error code"), required=False, max_length=40, widget=forms.TextInput(attrs=LTR)
    )
    field_order = ["status", "since", "until", "campaign", "number", "line", "code"]

    def chosen(self) -> LogFilter:
        if not self.is_bound:
            return LogFilter()
        common = self._common()
        data = self.cleaned_data
        return LogFilter(
            status=data.get("status") or "",
            line=to_latin_digits(data.get("line") or ""),
            code=to_latin_digits(data.get("code") or ""),
            **common,
        )


class UnknownFilterForm(MessageFilterForm):
    state = forms.ChoiceField(label=_("State"), required=False, choices=unknown_queries.STATES)
    field_order = ["state", "since", "until", "campaign", "number"]

    def chosen(self) -> tuple[str, LogFilter]:
        """The state (the first one when none is chosen) and the rest."""
        first = str(unknown_queries.STATES[0][0])
        if not self.is_bound:
            return first, LogFilter()
        common = self._common()
        return self.cleaned_data.get("state") or first, LogFilter(**common)
