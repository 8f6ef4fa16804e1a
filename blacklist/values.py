"""The one spelling of a contact value: what is stored, compared and locked."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.utils.translation import gettext_lazy as _

from blacklist.models import Channel
from core.errors import Invalid
from core.phones import parse_phone
from core.text import strip_format_chars

MAX_VALUE = 254


def canonical(channel: str, raw: object) -> str:
    """`raw` as it is stored for `channel`: a number as `09…`, an address in lower case.

    Raises Invalid (PhoneError for numbers) saying what is wrong.
    """
    if channel == Channel.SMS:
        return parse_phone(raw).value
    text = strip_format_chars(str(raw)).strip().lower()
    try:
        validate_email(text)
    except ValidationError as exc:
        raise Invalid(_("This is not an e-mail address."), code="email_invalid") from exc
    if len(text) > MAX_VALUE:
        raise Invalid(_("The address is too long."), code="email_invalid")
    return text
