"""What people may type about inbound messages: the list's filters, and the settings."""

from __future__ import annotations

import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from core.formfields import JalaliDateField
from core.text import normalize_text
from sms.forms import LTR, day_range
from sms.inbound.queries import WAITING, InboundFilter
from sms.inbound.words import LONGEST, Words, word_key
from sms.models import InboundEffect, InboundSettings

MAX_WORDS = 50
_PARAM = re.compile(r"\A[A-Za-z][A-Za-z0-9_.-]{0,29}\Z")


class InboundFilterForm(forms.Form):
    """Which messages the list shows. A wrong value narrows nothing."""

    number = forms.CharField(
        label=_("Number"),
        required=False,
        max_length=40,
        widget=forms.TextInput(attrs={**LTR, "inputmode": "tel"}),
    )
    text = forms.CharField(label=_("Part of the text"), required=False, max_length=100)
    effect = forms.ChoiceField(
        label=_("What it did"),
        required=False,
        choices=[("", _("All")), *InboundEffect.choices, (WAITING, _("Not worked on yet"))],
    )
    since = JalaliDateField(label=_("From day"), required=False)
    until = JalaliDateField(label=_("To day"), required=False)

    def chosen(self) -> InboundFilter:
        """The filter of the valid fields; days are the workspace's, both ends included."""
        if not self.is_bound:
            return InboundFilter()
        self.is_valid()
        data = self.cleaned_data
        since, until = day_range(data.get("since"), data.get("until"))
        return InboundFilter(
            effect=data.get("effect") or "", number=data.get("number") or "", text=data.get("text") or "",
            since=since, until=until,
        )  # fmt: skip


class _WordsField(forms.CharField):
    """One word on each line; two spellings of one word count once."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("widget", forms.Textarea(attrs={"rows": 4, "dir": "auto"}))
        super().__init__(required=False, max_length=5000, **kwargs)

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def clean(self, value: Any) -> list[str]:
        typed: str = super().clean(value)
        words: dict[str, str] = {}
        for line in typed.splitlines():
            word = normalize_text(line).strip()
            if not word:
                continue
            key = word_key(word)
            if not key:
                raise ValidationError(_("“%(word)s” has no letter or digit."), params={"word": word[:20]})
            if len(key) > LONGEST:
                raise ValidationError(_("“%(word)s…” is too long for a word."), params={"word": word[:20]})
            words.setdefault(key, word)
        if len(words) > MAX_WORDS:
            raise ValidationError(_("There are too many words."))
        return list(words.values())


def _param(label: Any, hint: Any = "") -> forms.RegexField:
    return forms.RegexField(
        regex=_PARAM,
        label=label,
        help_text=hint,
        max_length=30,
        widget=forms.TextInput(attrs=LTR),
        error_messages={"invalid": _("Use Latin letters, digits, dots, dashes and underscores.")},
    )


class InboundSettingsForm(forms.ModelForm[InboundSettings]):
    """The words, the confirmation, and how the provider names things."""

    opt_out_words = _WordsField(
        label=_("Further words for no"),
        help_text=_("One on each line, besides those that always count. The whole message must be the word."),
    )
    opt_in_words = _WordsField(
        label=_("Further words for yes again"), help_text=_("They take back the person's own no only.")
    )
    confirmation = forms.CharField(
        label=_("Confirmation of an opt-out"),
        required=False,
        max_length=300,
        help_text=_("Sent once to whoever opts out, at most once a day. Leave it empty to send nothing."),
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    sender_param = _param(_("Name of the sender's number"))
    line_param = _param(_("Name of our line"))
    text_param = _param(_("Name of the text"))
    reference_param = _param(_("Name of the provider's id"))

    class Meta:
        model = InboundSettings
        fields = (
            "opt_out_words",
            "opt_in_words",
            "confirmation",
            "sender_param",
            "line_param",
            "text_param",
            "reference_param",
        )

    def clean_confirmation(self) -> str:
        return normalize_text(self.cleaned_data["confirmation"])

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or self.cleaned_data
        self._words_apart(data)
        self._answer_apart(data)
        names = [data[name].lower() for name in self.fields if name.endswith("_param") and name in data]
        if len(set(names)) < len(names):
            self.add_error("sender_param", _("Each of the four needs a name of its own."))
        return data

    def _words_apart(self, data: dict[str, Any]) -> None:
        no = Words.of(data.get("opt_out_words", ())).no
        for word in data.get("opt_in_words", ()):
            if word_key(word) in no:
                message = _("“%(word)s” means no already.")
                self.add_error("opt_in_words", ValidationError(message, params={"word": word}))

    def _answer_apart(self, data: dict[str, Any]) -> None:
        """An answer that is a word itself would talk to a machine at the other end for ever."""
        words = Words.of(data.get("opt_out_words", ()), data.get("opt_in_words", ()))
        if data.get("confirmation") and words.meaning(data["confirmation"]) is not None:
            self.add_error("confirmation", _("The confirmation must not be one of the words itself."))
