"""Which messages the log and the page of unknown outcomes show. A wrong value narrows nothing."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from core.formfields import JalaliDateField
from core.text import to_latin_digits
from sms import unknown_queries
from sms.forms import LTR, day_range
from sms.log_queries import WAITING_TO_RETRY, LogFilter
from sms.models import SmsStatus
from sms.usage.hooks import campaign_choices, campaign_labels

CAMPAIGNS_SHOWN = 300
MAX_ID = 2**62


class CampaignField(forms.ChoiceField):
    """One campaign, chosen by its name; its number stands in the address. No choice but the newest is listed,
    and any number narrows: a link may name an older one."""

    def __init__(self) -> None:
        super().__init__(label=_("Campaign"), required=False)

    def to_python(self, value: Any) -> str:
        text = to_latin_digits(str(value or "")).strip()
        return text if text.isascii() and text.isdigit() and 0 < int(text[:20]) <= MAX_ID else ""

    def validate(self, value: Any) -> None:
        """Whatever is no number narrows nothing."""

    def offer(self, chosen: str) -> None:
        """List the newest campaigns, and the chosen one beside them. Two queries at most."""
        listed = campaign_choices(CAMPAIGNS_SHOWN)
        if chosen and int(chosen) not in dict(listed):
            known = campaign_labels([int(chosen)]).get(int(chosen))
            listed.insert(0, (int(chosen), known.name if known else chosen))
        self.choices = [("", _("All")), *((str(pk), name) for pk, name in listed)]


class MessageFilterForm(forms.Form):
    """What both pages ask."""

    since = JalaliDateField(label=_("From day"), required=False)
    until = JalaliDateField(label=_("To day"), required=False)
    campaign = CampaignField()
    number = forms.CharField(
        label=_("Mobile number"),
        required=False,
        max_length=40,
        widget=forms.TextInput(attrs={**LTR, "inputmode": "tel"}),
    )

    def __init__(self, data: QueryDict | None = None) -> None:
        super().__init__(data)
        field = self.fields["campaign"]
        if isinstance(field, CampaignField):
            chosen = field.to_python(data.get("campaign")) if data is not None else ""
            field.offer(chosen)
            if chosen and data is not None:  # in Latin digits, as the list has it
                self.data = data.copy()
                self.data["campaign"] = chosen

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
            "campaign_id": int(data["campaign"]) if data.get("campaign") else None,
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


class RetryForm(forms.Form):
    reason = forms.CharField(
        label=_("Why it is sent again"),
        max_length=300,
        help_text=_("For the audit log, such as: the account was charged."),
    )
