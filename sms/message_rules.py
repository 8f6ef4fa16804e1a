"""What a workspace asks of every message: how many one number may get, what texts may not hold, and below
which credit somebody is told. A panel of the SMS settings page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from core.formfields import DigitsDecimalField, DigitsIntegerField
from sms import accounts, queries
from sms.models import SmsSettings
from sms.sections import SettingsSection, register_section
from sms.wording import MAX_WORD, MAX_WORDS, clean_words
from workspaces.models import User, Workspace

FIELDS = ("frequency_messages", "frequency_days", "forbidden_words", "refuse_links", "low_credit_below")


class MessageRulesForm(forms.Form):
    frequency_messages = DigitsIntegerField(
        label=_("Messages to one number at most"),
        required=False,
        min_value=1,
        max_value=1000,
        help_text=_("Over all campaigns. Empty means no such limit; a message past it is skipped."),
    )
    frequency_days = DigitsIntegerField(
        label=_("In so many days"),
        min_value=1,
        max_value=365,
        help_text=_("Calendar days of the workspace, today included."),
    )
    forbidden_words = forms.CharField(
        label=_("Words that are not allowed"),
        required=False,
        max_length=MAX_WORDS * (MAX_WORD + 2),
        widget=forms.Textarea(attrs={"rows": 4, "dir": "auto"}),
        help_text=_("One on each line. Texts that hold one are not published and not sent."),
    )
    refuse_links = forms.BooleanField(
        label=_("Links are not allowed"),
        required=False,
        help_text=_("Many lines may not send links; the provider refuses such messages one by one."),
    )
    low_credit_below = DigitsDecimalField(
        label=_("Notice when credit is below"),
        required=False,
        min_value=0,
        max_digits=16,
        decimal_places=2,
        help_text=_("In the provider's unit. Told at most every six hours; empty means no notice."),
    )

    def clean_forbidden_words(self) -> list[str]:
        words = clean_words(self.cleaned_data["forbidden_words"].splitlines())
        if len(words) > MAX_WORDS:
            raise ValidationError(_("There are too many words."))
        long = next((word for word in words if len(word) > MAX_WORD), "")
        if long:
            raise ValidationError(_("«%(word)s» is too long."), params={"word": long[:40]})
        return words


def make_form(workspace: Workspace, data: QueryDict | None) -> forms.BaseForm:
    row = queries.settings_of(workspace.pk) or SmsSettings()
    initial: dict[str, Any] = {name: getattr(row, name) for name in FIELDS}
    initial["forbidden_words"] = "\n".join(row.forbidden_words)
    return MessageRulesForm(data, initial=initial)


def save(workspace: Workspace, cleaned: Mapping[str, object], user: User) -> bool:
    return accounts.change_settings(workspace, {name: cleaned[name] for name in FIELDS}, user=user)


def register() -> None:
    """Called once when the app is ready."""
    register_section(
        SettingsSection(key="messages", title=_("Rules for messages"), make_form=make_form, save=save)
    )
