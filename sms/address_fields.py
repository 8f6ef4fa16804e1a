"""Boxes for addresses of a provider. A key that somebody wrote into one is refused, and never shown again.

An address that is stored with a key, from before it was refused, is shown with dots in its place; it stays
as it is stored when it comes back as it was shown.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from core.address_keys import has_user_info, keys_in, without_keys
from sms.masked_rows import DOTS


class AddressBox(forms.CharField):
    """An address as it may be shown: dots stand for keys, also when what was typed is shown again."""

    def prepare_value(self, value: Any) -> Any:
        return without_keys(value, DOTS) if isinstance(value, str) else value


def checked_address(typed: str, stored: str, *, described: bool) -> str:
    """What `typed` means where `stored` was shown with dots. Raises ValidationError for a key in it, and for
    what is no address at all.

    `described`: whether {username} and {password} can stand in the address.
    """
    if stored and typed == without_keys(stored, DOTS):
        return stored
    if DOTS[:3] in typed:
        raise ValidationError(_("Write the whole address, or leave it as it was."))
    if not _can_be_read(typed):
        raise ValidationError(_("Write an address that begins with https://."))
    if has_user_info(typed):
        raise ValidationError(
            _(
                "A user name or password before the @ is not possible. Write them into their own boxes; a"
                " header such as Authorization: Bearer {password} passes them on."
            )
            if described
            else _("A user name or password before the @ is not possible. Write them into their own boxes.")
        )
    if keys_in(typed):
        raise ValidationError(
            _(
                "A key stands written out in this address. Write {password} in its place (or {username}),"
                " and the key itself into the box for it: there it is kept sealed."
            )
            if described
            else _("A key stands written out in this address. Write it into the box for the password or key.")
        )
    return typed


def _can_be_read(address: str) -> bool:
    try:
        _port = urlsplit(address).port
    except ValueError:  # an unclosed bracket, a port that is no number
        return False
    return True
