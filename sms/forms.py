"""What people may type about the SMS channel, a test and the log's filters."""

from __future__ import annotations

from datetime import datetime, time, timedelta
from typing import Any
from uuid import UUID, uuid4

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from core.formfields import DigitsIntegerField
from core.phones import PhoneError, parse_phone
from sms.lines import MessageKind, lines_of, may_carry
from sms.models import ProviderAccount

LTR = {"dir": "ltr", "autocomplete": "off"}


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
    kind = forms.ChoiceField(
        label=_("Kind of the message"),
        choices=MessageKind.choices,
        required=False,
        help_text=_("A promotional text leaves by a promotional line only, here too."),
    )
    text = forms.CharField(label=_("Text"), max_length=700, widget=forms.Textarea(attrs={"rows": 3}))
    key = forms.UUIDField(widget=forms.HiddenInput)

    def __init__(self, data: QueryDict | None = None, *, account: ProviderAccount) -> None:
        self._lines = lines_of(account.lines, account.line_details)
        first = self._lines[0] if self._lines else None
        initial = {"key": uuid4(), "text": _("This is a test message from Peyk.")}
        if first and not may_carry(first, MessageKind.PROMOTIONAL):
            initial["kind"] = MessageKind.SERVICE
        super().__init__(data, initial=initial, auto_id="trial_%s")
        self.fields["sender"].choices = [  # type: ignore[attr-defined]
            (line.number, f"{line.number} ({line.kind.label})") for line in self._lines
        ]

    def clean_number(self) -> str:
        try:
            phone = parse_phone(self.cleaned_data["number"])
        except PhoneError as exc:
            raise ValidationError(str(exc)) from exc
        if phone.kind != "mobile":
            raise ValidationError(_("Messages go to mobile numbers only."))
        return phone.value

    def clean_kind(self) -> str:
        return self.cleaned_data["kind"] or MessageKind.PROMOTIONAL

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        line = next((one for one in self._lines if one.number == cleaned.get("sender")), None)
        if line is not None and "kind" in cleaned and not may_carry(line, cleaned["kind"]):
            self.add_error("kind", _("This line is not for promotional messages."))
        return cleaned

    @property
    def wish(self) -> UUID:
        key: UUID = self.cleaned_data["key"]
        return key


def day_range(since: Any, until: Any) -> tuple[datetime | None, datetime | None]:
    """The moments at which the first of these days begins and the last one has ended, in the active zone."""
    return _midnight(since), _midnight(until + timedelta(days=1)) if until else None


def _midnight(day: Any) -> datetime | None:
    return datetime.combine(day, time(), timezone.get_current_timezone()) if day else None
