"""What people may type about an SMS account. Which boxes there are depends on the kind of provider."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from core.formfields import DigitsIntegerField
from core.text import to_latin_digits
from sms.accounts import AccountValues
from sms.address_fields import AddressBox, checked_address
from sms.description_fields import DESCRIPTION_FIELDS, check_questions, description_of, description_shown
from sms.lines import MAX_PLACES, LineKind, lines_of, places_of
from sms.masked_rows import DotsChanged, masked, unmasked
from sms.models import ProviderAccount
from sms.providers.addresses import host_trusted, leads_inside
from sms.providers.generic import ADDRESSES, SEALED, SECRET_WORDS
from sms.providers.generic_reading import PLACEHOLDER
from sms.providers.http import Channel
from sms.providers.registry import GatewayKind, gateway_kind, gateway_kinds

LTR = {"dir": "ltr", "autocomplete": "off"}
MAX_LINES = 50
RATE_REFUSED = _(
    "Write a number from 1 to 1,000. To send nothing by this account, take the tick from «Use this account»."
)
MAX_APPROVED = 1000
_LINE = re.compile(r"\+?[0-9]{3,19}")
_BODY_ID = re.compile(r"[0-9]{1,9}")
_PASSWORD_LABELS: Mapping[str, Any] = {
    "melipayamak_console": _("Console key"),
    "generic": _("Password or key, for {password}"),
}
_USERNAME_LABELS: Mapping[str, Any] = {"generic": _("User name, for {username}")}


class AccountForm(forms.Form):
    """One provider account. Stored secrets are never shown: an empty box keeps them."""

    title = forms.CharField(label=_("Name of the account"), max_length=80)
    kind = forms.ChoiceField(label=_("Provider"), widget=forms.HiddenInput)
    username = forms.CharField(label=_("User name"), max_length=120, widget=forms.TextInput(attrs=LTR))
    password = forms.CharField(
        label=_("Password or API key"),
        max_length=200,
        strip=False,
        widget=forms.PasswordInput(attrs={"dir": "ltr", "autocomplete": "new-password"}),
    )
    base_url = AddressBox(
        label=_("Address of the provider"),
        required=False,
        max_length=200,
        help_text=_("Leave it empty for the provider's usual address."),
        widget=forms.URLInput(attrs=LTR),
    )
    lines = forms.CharField(
        label=_("Sender lines"),
        required=False,
        help_text=_("One number on each line. The first one is used where a step names none."),
        widget=forms.Textarea(attrs={"dir": "ltr", "rows": 4}),
    )
    rate_per_second = DigitsIntegerField(
        label=_("Messages a second at most"),
        min_value=1,
        max_value=1000,
        initial=5,
        error_messages={"min_value": RATE_REFUSED, "max_value": RATE_REFUSED},
    )
    batch_size = DigitsIntegerField(
        label=_("Messages in one call at most"),
        min_value=1,
        max_value=100,
        initial=1,
        required=False,
        help_text=_(
            "More is faster. If the answer to a call is lost, the outcome of every message in it is unknown."
        ),
    )
    is_active = forms.BooleanField(label=_("Use this account"), required=False, initial=True)

    def __init__(
        self,
        data: QueryDict | None = None,
        *,
        account: ProviderAccount | None = None,
        kind: str = "",
        kept: Collection[str] = (),
        described: Mapping[str, Any] | None = None,
    ) -> None:
        """`kind` is the one asked for, else the account's. `kept` names the credentials that are stored,
        `described` is the sealed part of a stored description."""
        first = gateway_kinds()[0]
        wanted = (
            (data.get("kind", "") if data is not None else "") or kind or (account.kind if account else "")
        )
        self.provider: GatewayKind = gateway_kind(wanted) or first
        initial = _initial(account) if account else {}
        self._stored: Mapping[str, Any] = described or {}
        shown = {name: masked(rows) for name, rows in self._stored.items()}
        super().__init__(data, initial={**initial, **description_shown(shown), "kind": self.provider.kind})
        self.fields["kind"].choices = [(one.kind, one.label) for one in gateway_kinds()]  # type: ignore[attr-defined]
        self._fit_to_kind()
        for name in set(kept) & self.fields.keys():
            self.fields[name].required = False
            self.fields[name].help_text = _("Set. Leave it empty to keep it.")

    def _fit_to_kind(self) -> None:
        for name in ("username", "password"):
            self.fields[name].required = name in self.provider.secrets
        self.fields["password"].label = _PASSWORD_LABELS.get(
            self.provider.kind, self.fields["password"].label
        )
        self.fields["username"].label = _USERNAME_LABELS.get(
            self.provider.kind, self.fields["username"].label
        )
        gone = [] if self.provider.batches else ["batch_size"]
        if self.provider.described:
            self.fields |= {name: make() for name, make in DESCRIPTION_FIELDS.items()}
            self.fields["base_url"].required = True
            self.fields["base_url"].label = _("Address messages are sent to")
            self.fields["base_url"].help_text = _(
                "An address of the public internet that begins with https://. Where it needs a key, write"
                " {password} in its place."
            )
        elif self.provider.development:
            gone += ["username", "password", "base_url"]
        elif "username" not in self.provider.secrets:
            gone.append("username")
        for name in gone:
            del self.fields[name]

    def clean_lines(self) -> list[str]:
        typed = to_latin_digits(self.cleaned_data["lines"])
        lines = list(dict.fromkeys("".join(line.split()) for line in typed.splitlines() if line.strip()))
        wrong = [line for line in lines if not _LINE.fullmatch(line)]
        if wrong:
            raise ValidationError(_("%(line)s is not a sender line."), params={"line": wrong[0][:30]})
        if len(lines) > MAX_LINES:
            raise ValidationError(_("There are too many lines."))
        return lines

    def clean_batch_size(self) -> int:
        return self.cleaned_data["batch_size"] or 1

    def clean_base_url(self) -> str:
        typed: str = self.cleaned_data["base_url"].strip()
        if not typed:
            return ""
        address = checked_address(typed, self._kept("base_url"), described=self.provider.described)
        trusted = host_trusted(urlsplit(address).hostname or "")
        try:
            Channel(address, public_only=self.provider.described and not trusted)
        except ValueError as exc:
            raise ValidationError(_("Write an address that begins with https://.")) from exc
        if not trusted and (not self.provider.described or leads_inside(urlsplit(address).hostname or "")):
            raise ValidationError(_("This server may not call that address. Ask whoever runs it."))
        unknown = set(PLACEHOLDER.findall(address)) - SECRET_WORDS
        if self.provider.described and unknown:
            raise ValidationError(_("There is no {%(word)s}."), params={"word": min(unknown)})
        return address

    def _kept(self, name: str) -> str:
        return str(self.initial.get(name) or "")

    def _keep_what_dots_stand_for(self, cleaned: dict[str, Any]) -> None:
        for name in set(ADDRESSES) & cleaned.keys():
            try:
                cleaned[name] = checked_address(cleaned[name], self._kept(name), described=True)
            except ValidationError as fault:
                self.add_error(name, fault)
        for name in set(SEALED) & cleaned.keys():
            try:
                cleaned[name] = unmasked(cleaned[name], self._stored.get(name, {}))
            except DotsChanged as exc:
                message = _("Write the whole value of %(name)s, or leave its row as it was.")
                self.add_error(name, ValidationError(message, params={"name": exc.args[0]}))

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        self._keep_what_dots_stand_for(cleaned)
        if self.provider.described and not (cleaned.get("success_path") or cleaned.get("id_path")):
            self.add_error(
                "success_path", _("Say how to tell that a message was accepted, or where its id is.")
            )
        if self.provider.described:
            for name, fault in check_questions(cleaned):
                self.add_error(name, fault)
        return cleaned

    def values(self) -> AccountValues:
        """What was typed, once the form is valid."""
        typed = dict(self.cleaned_data)
        described = {name: typed.pop(name) for name in DESCRIPTION_FIELDS if name in typed}
        options, sealed = description_of(described) if self.provider.described else ({}, {})
        return AccountValues(**{"base_url": "", **typed}, options=options, sealed=sealed)


def _initial(account: ProviderAccount) -> dict[str, Any]:
    fields = ("title", "base_url", "rate_per_second", "is_active", "batch_size")
    return {name: getattr(account, name) for name in fields} | {
        "lines": "\n".join(account.lines),
        **description_shown(account.options),
    }


class LinesForm(forms.Form):
    """What each line of an account may carry, and the approved text of those that have one."""

    def __init__(self, data: QueryDict | None = None, *, account: ProviderAccount) -> None:
        super().__init__(data)
        self.lines = lines_of(account.lines, account.line_details)
        known = gateway_kind(account.kind)
        kinds = [one for one in LineKind.choices if one[0] != LineKind.PATTERN or (known and known.patterns)]
        for place, line in enumerate(self.lines):
            self.fields[f"kind_{place}"] = forms.ChoiceField(
                label=_("Kind of the line"), choices=kinds, initial=line.kind.value
            )
            if self._wants_text(place, line.kind):
                self.fields[f"text_{place}"] = _approved_field(line.text)

    def _wants_text(self, place: int, stored: LineKind) -> bool:
        chosen = self.data.get(f"kind_{place}", "") if self.is_bound else stored
        return chosen == LineKind.PATTERN

    def rows(self) -> list[dict[str, Any]]:
        """The boxes of each line, for the page."""
        return [
            {
                "line": line,
                "kind": self[f"kind_{place}"],
                "text": self[f"text_{place}"] if f"text_{place}" in self.fields else None,
            }
            for place, line in enumerate(self.lines)
        ]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        for place, line in enumerate(self.lines):
            approved = cleaned.get(f"kind_{place}") == LineKind.PATTERN
            if approved and not _BODY_ID.fullmatch(line.number):
                self.add_error(f"kind_{place}", _("An approved text has a number of at most nine digits."))
        return cleaned

    def details(self) -> dict[str, dict[str, str]]:
        """What is stored, once the form is valid. Promotional lines need no entry."""
        found: dict[str, dict[str, str]] = {}
        for place, line in enumerate(self.lines):
            kind = self.cleaned_data[f"kind_{place}"]
            if kind == LineKind.PATTERN:
                found[line.number] = {"kind": kind, "text": self.cleaned_data[f"text_{place}"]}
            elif kind != LineKind.PROMOTIONAL:
                found[line.number] = {"kind": kind}
        return found


def _approved_field(text: str) -> forms.CharField:
    return forms.CharField(
        label=_("Approved text"),
        max_length=MAX_APPROVED,
        initial=text,
        help_text=_("As the provider approved it, with {0}, {1} and so on where its variables are."),
        widget=forms.Textarea(attrs={"rows": 3}),
        validators=[_check_places],
    )


def _check_places(text: str) -> None:
    places: Sequence[int] = places_of(text)
    if sorted(set(places)) != list(range(len(set(places)))) or len(set(places)) > MAX_PLACES:
        raise ValidationError(_("The places are {0}, {1} and so on, without a gap."))
