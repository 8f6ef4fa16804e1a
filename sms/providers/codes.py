"""What a code means: its outcome, and a sentence for the person who runs the campaign.

This table holds the faults that come before the provider's own answer. Each provider adds a table
of its own codes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

from sms.types import Outcome

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise


@dataclass(frozen=True, slots=True)
class Meaning:
    """One code: what becomes of the message, and the reason in words."""

    outcome: Outcome
    reason: StrPromise


CodeTable = Mapping[str, Meaning]

# A code that no table lists says nothing about whether the message was taken.
UNLISTED = Meaning(
    Outcome.IN_DOUBT,
    _("The provider answered with an undocumented code, so the message may or may not have been sent."),
)

CALL_FAULTS: CodeTable = {
    # Not one byte of the request left this host.
    "connection_refused": Meaning(
        Outcome.NOT_SENT, _("The provider could not be reached; nothing was sent.")
    ),
    "dns_failed": Meaning(
        Outcome.NOT_SENT, _("The provider's address could not be found; nothing was sent.")
    ),
    "connect_timeout": Meaning(
        Outcome.NOT_SENT, _("The provider did not answer the connection in time; nothing was sent.")
    ),
    "tls_failed": Meaning(
        Outcome.NOT_SENT, _("A secure connection to the provider could not be made; nothing was sent.")
    ),
    "no_free_connection": Meaning(
        Outcome.NOT_SENT, _("Too many messages were under way at once; nothing was sent.")
    ),
    "too_late": Meaning(
        Outcome.NOT_SENT, _("The time for this attempt was over before it began; nothing was sent.")
    ),
    "another_installation": Meaning(
        Outcome.NOT_SENT, _("This database is a copy or was moved and may not send yet; nothing was sent.")
    ),
    "second_host": Meaning(
        Outcome.NOT_SENT, _("Another host works on this database, which is for one; nothing was sent.")
    ),
    # The request was written; whether it was taken is not known.
    "answer_timeout": Meaning(
        Outcome.IN_DOUBT,
        _("The provider did not answer in time, so the message may or may not have been sent."),
    ),
    "connection_lost": Meaning(
        Outcome.IN_DOUBT,
        _("The connection broke before the answer, so the message may or may not have been sent."),
    ),
    "unreadable_answer": Meaning(
        Outcome.IN_DOUBT,
        _("The provider's answer could not be read, so the message may or may not have been sent."),
    ),
    "answer_incomplete": Meaning(
        Outcome.IN_DOUBT,
        _(
            "The provider's answer does not name every message of the call, so the message may or may not"
            " have been sent."
        ),
    ),
    "interrupted": Meaning(
        Outcome.IN_DOUBT,
        _("The work was interrupted while sending, so the message may or may not have been sent."),
    ),
    "internal_error": Meaning(
        Outcome.IN_DOUBT,
        _("A fault of this software came up while sending, so the message may or may not have been sent."),
    ),
    # A message before this one in the same batch found the account closed.
    "channel_closed": Meaning(
        Outcome.UNAVAILABLE, _("The SMS account stopped taking messages; this one was not offered to it.")
    ),
    "address_refused": Meaning(
        Outcome.UNAVAILABLE, _("The provider's address does not lead to the public internet.")
    ),
    "text_not_approved": Meaning(
        Outcome.REFUSED, _("The text is not the approved text of the line it should leave by.")
    ),
    "value_not_possible": Meaning(
        Outcome.REFUSED, _("A value of the approved text holds a character that the provider uses itself.")
    ),
    "not_offered": Meaning(Outcome.REFUSED, _("This provider does not tell what is left on the account.")),
    "no_sender": Meaning(Outcome.UNAVAILABLE, _("No sender line is chosen. Add one in the SMS settings.")),
    "not_configured": Meaning(
        Outcome.UNAVAILABLE, _("No SMS provider is set up. Add an account in the SMS settings.")
    ),
}

_GONE_WRONG = _("The provider's server failed, so the message may or may not have been sent.")
_ELSEWHERE = _("The provider's address answers with a redirect. Check the address in the SMS settings.")
_NO_ACCESS = _("The provider denies access. Check the account and the allowed addresses in its panel.")
_NOT_FOUND = _("Nothing answers to SMS requests at the provider's address. Check it in the SMS settings.")
_NOT_TAKEN = _("The provider refused the request as malformed.")

# 301, 307 and 308 say "nothing was done here". 302 and 303 are also what a server answers after it has
# done the work. Neither is followed: that would send the password, and perhaps the message, elsewhere.
HTTP_STATUS: Mapping[int, Meaning] = {
    301: Meaning(Outcome.UNAVAILABLE, _ELSEWHERE),
    302: Meaning(Outcome.IN_DOUBT, _ELSEWHERE),
    303: Meaning(Outcome.IN_DOUBT, _ELSEWHERE),
    307: Meaning(Outcome.UNAVAILABLE, _ELSEWHERE),
    308: Meaning(Outcome.UNAVAILABLE, _ELSEWHERE),
    400: Meaning(Outcome.REFUSED, _NOT_TAKEN),
    401: Meaning(Outcome.UNAVAILABLE, _NO_ACCESS),
    403: Meaning(Outcome.UNAVAILABLE, _NO_ACCESS),
    404: Meaning(Outcome.UNAVAILABLE, _NOT_FOUND),
    405: Meaning(Outcome.UNAVAILABLE, _NOT_FOUND),
    413: Meaning(Outcome.REFUSED, _NOT_TAKEN),
    415: Meaning(Outcome.REFUSED, _NOT_TAKEN),
    422: Meaning(Outcome.REFUSED, _NOT_TAKEN),
    429: Meaning(Outcome.THROTTLED, _("The provider asked to send more slowly; nothing was sent.")),
    500: Meaning(Outcome.IN_DOUBT, _GONE_WRONG),
    502: Meaning(Outcome.IN_DOUBT, _GONE_WRONG),
    503: Meaning(Outcome.NOT_SENT, _("The provider is out of service for the moment; nothing was sent.")),
    504: Meaning(Outcome.IN_DOUBT, _GONE_WRONG),
}
HTTP_UNLISTED = Meaning(Outcome.IN_DOUBT, _GONE_WRONG)


def http_code(status: int) -> str:
    """The word under which an HTTP status is stored and explained."""
    return f"http_{status}"


def http_meaning(status: int) -> Meaning:
    """What an HTTP status other than 2xx means; an unlisted one leaves the message in doubt."""
    return HTTP_STATUS.get(status, HTTP_UNLISTED)


def meaning_of(code: str, table: CodeTable) -> Meaning:
    """What `code` means: a word of ours, an HTTP status, or an entry of the provider's `table`."""
    if code in table:
        return table[code]
    if code in CALL_FAULTS:
        return CALL_FAULTS[code]
    if code.startswith("http_") and code[5:].isdigit():
        return http_meaning(int(code[5:]))
    return UNLISTED
