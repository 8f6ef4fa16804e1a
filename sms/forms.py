"""What people may type about SMS accounts, the channel, a test and the log's filters."""

from __future__ import annotations

import re
from datetime import datetime, time, timedelta
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID, uuid4

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from core.formfields import DigitsIntegerField, JalaliDateField
from core.phones import PhoneError, parse_phone
from core.text import to_latin_digits
from sms.accounts import AccountValues
from sms.log_queries import WAITING_TO_RETRY, LogFilter
from sms.models import ProviderAccount, SmsStatus
from sms.providers.http import Channel, is_loopback
from sms.providers.registry import gateway_kinds

LTR = {"dir": "ltr", "autocomplete": "off"}
MAX_LINES = 50
_LINE = re.compile(r"\+?[0-9]{3,19}")


def host_allowed(host: str) -> bool:
    """Whether this installation may call `host`: an account's address is typed by a customer."""
    return host in settings.PROVIDER_HOSTS or (settings.DEBUG and is_loopback(host))


class AccountForm(forms.Form):
    """One provider account. Stored secrets are never shown: an empty box keeps them."""

    title = forms.CharField(label=_("Name of the account"), max_length=80)
    kind = forms.ChoiceField(label=_("Provider"))
    username = forms.CharField(label=_("User name"), max_length=120, widget=forms.TextInput(attrs=LTR))
    password = forms.CharField(
        label=_("Password or API key"),
        max_length=200,
        strip=False,
        widget=forms.PasswordInput(attrs={"dir": "ltr", "autocomplete": "new-password"}),
    )
    lines = forms.CharField(
        label=_("Sender lines"),
        required=False,
        help_text=_("One number on each line. The first one is used where a step names none."),
        widget=forms.Textarea(attrs={"dir": "ltr", "rows": 4}),
    )
    rate_per_second = DigitsIntegerField(
        label=_("Messages a second at most"), min_value=1, max_value=1000, initial=5
    )
    base_url = forms.CharField(
        label=_("Address of the provider"),
        required=False,
        max_length=200,
        help_text=_("Leave it empty for the provider's usual address."),
        widget=forms.URLInput(attrs=LTR),
    )
    is_active = forms.BooleanField(label=_("Use this account"), required=False, initial=True)

    def __init__(
        self,
        data: QueryDict | None = None,
        *,
        account: ProviderAccount | None = None,
        has_secret: bool = False,
    ) -> None:
        super().__init__(data, initial=_initial(account) if account else None)
        self.fields["kind"].choices = [(kind.kind, kind.label) for kind in gateway_kinds()]  # type: ignore[attr-defined]
        if has_secret:
            for name in ("username", "password"):
                self.fields[name].required = False
                self.fields[name].help_text = _("Set. Leave it empty to keep it.")

    def clean_lines(self) -> list[str]:
        typed = to_latin_digits(self.cleaned_data["lines"])
        lines = list(dict.fromkeys("".join(line.split()) for line in typed.splitlines() if line.strip()))
        wrong = [line for line in lines if not _LINE.fullmatch(line)]
        if wrong:
            raise ValidationError(_("%(line)s is not a sender line."), params={"line": wrong[0][:30]})
        if len(lines) > MAX_LINES:
            raise ValidationError(_("There are too many lines."))
        return lines

    def clean_base_url(self) -> str:
        address: str = self.cleaned_data["base_url"].strip()
        if not address:
            return ""
        try:
            Channel(address)
        except ValueError as exc:
            raise ValidationError(_("Write an address that begins with https://.")) from exc
        if not host_allowed(urlsplit(address).hostname or ""):
            raise ValidationError(_("This server may not call that address. Ask whoever runs it."))
        return address

    def values(self) -> AccountValues:
        """What was typed, once the form is valid."""
        return AccountValues(**self.cleaned_data)


def _initial(account: ProviderAccount) -> dict[str, Any]:
    fields = ("title", "kind", "base_url", "rate_per_second", "is_active")
    return {name: getattr(account, name) for name in fields} | {"lines": "\n".join(account.lines)}


class ChannelForm(forms.Form):
    opt_out_text = forms.CharField(
        label=_("Opt-out text"),
        required=False,
        max_length=160,
        help_text=_("Added on a line of its own to messages of steps that ask for it, such as «لغو11»."),
    )
    backoff_minutes = DigitsIntegerField(
        label=_("Minutes of pause after a fault of the account"),
        min_value=1,
        max_value=1440,
        help_text=_("When credit runs out or the provider denies access, nothing is tried for this long."),
    )


class TrialForm(forms.Form):
    """One message to one number. `key` makes a double click one message."""

    number = forms.CharField(
        label=_("Mobile number"), max_length=40, widget=forms.TextInput(attrs={**LTR, "inputmode": "tel"})
    )
    sender = forms.ChoiceField(label=_("Sender line"))
    text = forms.CharField(label=_("Text"), max_length=700, widget=forms.Textarea(attrs={"rows": 3}))
    key = forms.UUIDField(widget=forms.HiddenInput)

    def __init__(self, data: QueryDict | None = None, *, account: ProviderAccount) -> None:
        super().__init__(data, initial={"key": uuid4(), "text": _("This is a test message from Peyk.")})
        self.fields["sender"].choices = [(line, line) for line in account.lines]  # type: ignore[attr-defined]

    def clean_number(self) -> str:
        try:
            phone = parse_phone(self.cleaned_data["number"])
        except PhoneError as exc:
            raise ValidationError(str(exc)) from exc
        if phone.kind != "mobile":
            raise ValidationError(_("Messages go to mobile numbers only."))
        return phone.value

    @property
    def wish(self) -> UUID:
        key: UUID = self.cleaned_data["key"]
        return key


class LogFilterForm(forms.Form):
    """Which messages the log shows. A wrong value narrows nothing."""

    status = forms.ChoiceField(
        label=_("Status"),
        required=False,
        choices=[("", _("All")), *SmsStatus.choices, (WAITING_TO_RETRY, _("Waiting to retry"))],
    )
    since = JalaliDateField(label=_("From day"), required=False)
    until = JalaliDateField(label=_("To day"), required=False)
    campaign = DigitsIntegerField(label=_("Campaign number"), required=False, min_value=1, max_value=2**62)
    number = forms.CharField(
        label=_("Mobile number"),
        required=False,
        max_length=40,
        widget=forms.TextInput(attrs={**LTR, "inputmode": "tel"}),
    )

    def chosen(self) -> LogFilter:
        """The filter of the valid fields; days are the workspace's, both ends included."""
        if not self.is_bound:
            return LogFilter()
        self.is_valid()
        data = self.cleaned_data
        until = data.get("until")
        return LogFilter(
            status=data.get("status") or "",
            since=_midnight(data.get("since")),
            until=_midnight(until + timedelta(days=1)) if until else None,
            campaign_id=data.get("campaign"),
            number=data.get("number") or "",
        )


def _midnight(day: Any) -> datetime | None:
    return datetime.combine(day, time(), timezone.get_current_timezone()) if day else None
