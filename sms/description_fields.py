"""The boxes in which a customer describes a provider, and what they mean to `sms.providers.generic`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from sms.address_fields import AddressBox
from sms.masked_rows import DOTS
from sms.providers.generic import MAPPED, MESSAGE_WORDS, SEALED, SECRET_WORDS, header_allowed, origin
from sms.providers.generic_questions import DELIVERY_WORDS
from sms.providers.generic_reading import PLACEHOLDER

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

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
            if not value.replace(DOTS, "").isascii() or not value.isprintable():
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


class DeliveryRows(RowsField):
    def _check(self, rows: Mapping[str, str]) -> None:
        wrong = [word for word in rows.values() if word not in DELIVERY_WORDS]
        if wrong:
            raise ValidationError(
                _("%(word)s is none of delivered, undelivered, failed, rejected, sent and pending."),
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


def _address(label: Any, help_text: Any) -> AddressBox:
    return AddressBox(
        label=label, required=False, max_length=300, help_text=help_text, widget=forms.TextInput(attrs=LTR)
    )


def check_questions(cleaned: Mapping[str, Any]) -> Iterator[tuple[str, StrPromise]]:
    """The boxes about deliveries and credit that do not fit the rest, with what is wrong there."""
    for url, path, words in (
        ("delivery_url", "delivery_path", SECRET_WORDS | {"id"}),
        ("credit_url", "credit_path", SECRET_WORDS),
    ):
        address = cleaned.get(url) or ""
        if not address:
            continue
        if not cleaned.get(path):
            yield path, _("Say where in the answer it is.")
        if "base_url" in cleaned and origin(address) != origin(cleaned["base_url"]):
            yield url, _("It has to begin like the address messages are sent to.")
        elif set(PLACEHOLDER.findall(address)) - words:
            yield url, _("Only {id}, {username} and {password} may stand in it.")
    if cleaned.get("delivery_url") and "{id}" not in cleaned["delivery_url"]:
        yield "delivery_url", _("{id} has to stand in it, for the message's id.")


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
    "delivery_url": lambda: _address(
        _("Address that tells what became of a message"),
        _("Asked by GET, with {id} for the message's id. Left empty, only reports that are posted count."),
    ),
    "delivery_path": lambda: _path(_("Where the state of the delivery is"), _("Such as data.state.")),
    "delivery_words": lambda: DeliveryRows(
        label=_("What the states mean"),
        separator="=",
        required=False,
        help_text=_(
            "One on each line, such as 10 = delivered. The words are delivered, undelivered, failed,"
            " rejected, sent and pending. A state that is not listed says nothing."
        ),
    ),
    "credit_url": lambda: _address(
        _("Address that tells what is left"), _("Asked by GET. Left empty, credit is not shown.")
    ),
    "credit_path": lambda: _path(_("Where the credit is"), _("Such as data.credit.")),
}


def description_of(cleaned: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What of a valid description is stored in clear, and what sealed."""
    clear = {name: value for name, value in cleaned.items() if name not in SEALED}
    return clear, {name: cleaned.get(name) or {} for name in SEALED}


def description_shown(stored: Mapping[str, Any]) -> dict[str, Any]:
    """The initial values of the boxes."""
    return {name: stored[name] for name in DESCRIPTION_FIELDS if name in stored}
