"""The boxes in which a customer describes a provider, and what they mean to `sms.providers.generic`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from sms.providers.generic import MAPPED, MESSAGE_WORDS, PLACEHOLDER, SEALED, SECRET_WORDS, header_allowed

LTR: Final = {"dir": "ltr", "autocomplete": "off"}
MAX_ROWS: Final = 30
MAX_BOX: Final = 4000
_FIELD_NAME = re.compile(r"[A-Za-z0-9_.-]{1,60}(?:\[\])?")
_PATH = re.compile(r"[A-Za-z0-9_-]{1,60}(?:\.[A-Za-z0-9_-]{1,60}){0,9}")
_CODE = re.compile(r"[A-Za-z0-9_.-]{1,40}")


class RowsField(forms.CharField):
    """`name = value` on each line; cleaned into a dict."""

    def __init__(self, *, separator: str, **options: Any) -> None:
        self._separator = separator
        options.setdefault("widget", forms.Textarea(attrs={"dir": "ltr", "rows": 5, "autocomplete": "off"}))
        super().__init__(max_length=MAX_BOX, **options)

    def clean(self, value: Any) -> dict[str, str]:
        rows = [line for line in super().clean(value).splitlines() if line.strip()]
        if len(rows) > MAX_ROWS:
            raise ValidationError(_("There are too many rows."))
        found: dict[str, str] = {}
        for row in rows:
            name, separator, rest = row.partition(self._separator)
            if not separator or not name.strip() or name.strip() in found:
                raise ValidationError(
                    _("This row is not a name and a value, or its name comes twice: %(row)s"),
                    params={"row": row[:60]},
                )
            found[name.strip()] = rest.strip()
        self._check(found)
        return found

    def _check(self, rows: Mapping[str, str]) -> None:
        """Raises ValidationError for rows that do not fit the box."""

    def prepare_value(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return "\n".join(f"{name}{self._shown_separator}{text}" for name, text in value.items())
        return value

    @property
    def _shown_separator(self) -> str:
        return ": " if self._separator == ":" else " = "


class FieldRows(RowsField):
    def _check(self, rows: Mapping[str, str]) -> None:
        _refuse_if(next((name for name in rows if not _FIELD_NAME.fullmatch(name)), None))
        known = MESSAGE_WORDS | SECRET_WORDS
        unknown = [
            word for value in rows.values() for word in PLACEHOLDER.findall(value) if word not in known
        ]
        if unknown:
            raise ValidationError(_("There is no {%(word)s}."), params={"word": unknown[0]})
        used = {word for value in rows.values() for word in PLACEHOLDER.findall(value)}
        if not used & {"to", "to98", "to_plus"} or "text" not in used:
            raise ValidationError(_("The number, such as {to}, and {text} have to be among the values."))


class HeaderRows(RowsField):
    def _check(self, rows: Mapping[str, str]) -> None:
        _refuse_if(next((name for name in rows if not header_allowed(name)), None))
        for value in rows.values():
            if set(PLACEHOLDER.findall(value)) - SECRET_WORDS:
                raise ValidationError(_("Only {username} and {password} may stand in a header."))
            if not value.isascii() or not value.isprintable():
                raise ValidationError(_("A header holds plain Latin characters only."))


class CodeRows(RowsField):
    def _check(self, rows: Mapping[str, str]) -> None:
        _refuse_if(next((code for code in rows if not _CODE.fullmatch(code)), None))
        wrong = [word for word in rows.values() if word not in MAPPED]
        if wrong:
            raise ValidationError(
                _("%(word)s is none of refused, not_sent, unavailable and throttled."),
                params={"word": wrong[0][:30]},
            )


def _refuse_if(name: str | None) -> None:
    if name is not None:
        raise ValidationError(_("%(name)s is not possible here."), params={"name": name[:60]})


def _check_path(path: str) -> None:
    if not _PATH.fullmatch(path):
        raise ValidationError(_("Write names joined by dots, such as data.id or results.0.id."))


def _path(label: Any, help_text: Any) -> forms.CharField:
    return forms.CharField(
        label=label, required=False, max_length=200, help_text=help_text, validators=[_check_path],
        widget=forms.TextInput(attrs=LTR),
    )  # fmt: skip


# In the order of the page. Each makes a new field: fields of a form are its own.
DESCRIPTION_FIELDS: Final[Mapping[str, Callable[[], forms.Field]]] = {
    "method": lambda: forms.ChoiceField(
        label=_("How it is sent"),
        choices=[("post_form", _("POST, as a form")), ("post_json", _("POST, as JSON")), ("get", _("GET"))],
    ),
    "fields": lambda: FieldRows(
        label=_("Fields"),
        separator="=",
        help_text=_(
            "One on each line, such as to = {to}. There are {to}, {to98}, {to_plus}, {text}, {sender},"
            " {reference}, {username} and {password}. In JSON a.b makes an object and to[] a list."
        ),
    ),
    "headers": lambda: HeaderRows(
        label=_("Headers"),
        separator=":",
        required=False,
        help_text=_("One on each line, such as Authorization: Bearer {password}."),
    ),
    "success_path": lambda: _path(
        _("Where the answer says that it was accepted"), _("Such as status. Left empty, an id is the proof.")
    ),
    "success_value": lambda: forms.CharField(
        label=_("What it says there"), required=False, max_length=100, widget=forms.TextInput(attrs=LTR)
    ),
    "id_path": lambda: _path(
        _("Where the message's id is"), _("Such as data.id. Delivery reports are matched by it.")
    ),
    "code_path": lambda: _path(_("Where the code of a refusal is"), _("Such as error.code.")),
    "codes": lambda: CodeRows(
        label=_("What the codes mean"),
        separator="=",
        required=False,
        help_text=_(
            "One on each line, such as 12 = refused. The words are refused, not_sent (try again), unavailable"
            " (the account has to be mended) and throttled (later). A code that is not listed leaves the"
            " outcome unknown. http_500 stands for an HTTP status."
        ),
    ),
}


def description_of(cleaned: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What of a valid description is stored in clear, and what sealed."""
    clear = {name: value for name, value in cleaned.items() if name not in SEALED}
    return clear, {name: cleaned.get(name) or {} for name in SEALED}


def description_shown(stored: Mapping[str, Any]) -> dict[str, Any]:
    """The initial values of the boxes."""
    return {name: stored[name] for name in DESCRIPTION_FIELDS if name in stored}
