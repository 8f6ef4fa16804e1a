"""Sentences for people: what a stored code or status means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

from sms.models import SmsLog, SmsStatus
from sms.providers.registry import meaning

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

# Why a message was not even offered to a provider.
SKIPPED: dict[str, StrPromise] = {
    "no_mobile": _("The person has no valid mobile number."),
    "missing_personalisation": _("A value that the text needs is missing for this person."),
    "empty_text": _("The text is empty for this person."),
    "blacklisted": _("The number is on the blacklist."),
}


def explain(provider: str, code: str) -> str:
    """Why a message of `provider` did not simply go out, in the reader's language; "" for no code."""
    if not code:
        return ""
    return str(SKIPPED[code] if code in SKIPPED else meaning(provider, code).reason)


def status_label(row: SmsLog) -> str:
    """The status in words. A failed message that will be tried again is waiting, not lost."""
    if row.status == SmsStatus.FAILED and row.retry_scheduled_at is not None:
        return str(_("Waiting to retry"))
    return str(row.get_status_display())
