"""Sentences for people: what a stored code or status means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from django.utils.translation import gettext_lazy as _

from sms.models import SmsLog, SmsStatus
from sms.providers.registry import meaning
from sms.settlement import FOR_GOOD, PROVEN_ABSENT

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

# Why a message was not even offered to a provider, or what was learnt of it later.
OURS: Final[Mapping[str, StrPromise]] = {
    "no_mobile": _("The person has no valid mobile number."),
    "missing_personalisation": _("A value that the text needs is missing for this person."),
    "empty_text": _("The text is empty for this person."),
    "blacklisted": _("The number is on the blacklist."),
    "expired": _("The message would have come too late, so it was not sent."),
    "frequency_cap": _("The number has had as many messages as this workspace allows."),
    "tries_used_up": _("All tries were used up, so the step was passed by."),
    "phone_served": _("Another person with this number has had the message in this campaign."),
    "forbidden_text": _("The text holds a word or link that this workspace does not allow."),
    PROVEN_ABSENT: _("It is proven that the provider never took this message."),
}

# What became of it after the provider took it (sms/delivery_reasons.py gives the words of the reports).
UNDELIVERED: Final[Mapping[str, StrPromise]] = {
    "phone_unreachable": _("The phone was off or out of reach, so the message did not arrive."),
    "number_unknown": _("The operator does not know this number."),
    "operator_blocked": _("The receiver is on the operator's block list for advertising (*800#)."),
    "operator_error": _("The operator reports an error of its own."),
    "operator_not_reached": _("The message did not reach the operator."),
    "filtered": _("The provider or operator filtered the message."),
    "refused_on_the_way": _("The operator did not accept the message."),
    "validity_over": _("The time in which the operator tries to deliver was over."),
    "undelivered": _("The message did not reach the phone, and no reason was given."),
}

# Why a look at the provider decided what it did.
LOOKS: Final[Mapping[str, StrPromise]] = {
    "listed": _("The provider's list holds exactly this message."),
    "id_known": _("The provider knows the message by its id."),
    "not_listed": _("The provider's list is complete for that time and does not hold the message."),
    "equal_texts": _("Equal messages to this number lie so close together that they cannot be told apart."),
    "listed_otherwise": _("The list holds a message to this number that might be this one."),
    "list_incomplete": _("The list lacks messages that the provider surely has, so it proves nothing yet."),
    "list_not_fresh": _("The list shows nothing newer of the line yet, so it may lag behind."),
    "clock_not_checked": _("The list does not reach back far enough to rule out a wrong clock."),
    "clocks_differ": _("The provider's clock and ours differ too much."),
    "too_early": _("The list may not show the message yet."),
    "not_covered": _("The list does not reach back to the time of the message."),
    "outbox_long": _("The list is too long to read back to the time of the message."),
    "outbox_gap": _("The list changed too fast while it was read."),
    "outbox_unreadable": _("The list could not be understood."),
    "id_not_known": _("The provider said nothing of this id."),
    "no_list": _("This provider cannot be asked what it sent."),
    "not_asked": _("The account is gone, switched off, or had no turn."),
}

# Why a message is not tried again by hand.
NO_RETRY: Final[Mapping[str, StrPromise]] = {
    "not_failed": _("Only a message that surely reached nobody can be tried again."),
    "was_accepted": _("The provider took this message, so it is never sent again."),
    "tried_already": _("This message was tried again already."),
    "walk_tries_again": _("The person still stands at this step and tries again without help."),
    "campaign_over": _("The campaign was cancelled, so nothing is sent for it any more."),
    "campaign_gone": _("The campaign of this message does not exist any more."),
    "person_gone": _("The person does not exist any more."),
    "number_changed": _("The person has another number now, so nothing is sent to the old one."),
    "person_stopped": _("The person's status stops messages of this campaign."),
    "line_gone": _("The line of this message does not belong to the account any more."),
    "nothing_to_send": _("This message has no text or no number."),
}

STATUS_WORDS: Final[Mapping[str, StrPromise]] = {
    "sent": _("sent to the operator"),
    "delivered": _("on the phone"),
    "undelivered": _("not on the phone"),
    "failed": _("it broke on the way"),
    "rejected": _("not accepted by the operator"),
    "pending": _("no word from the operator yet"),
}

# Delivery codes of Melipayamak's interfaces (`sms/providers/melipayamak_codes.py` says what each does).
REPORTED: Final[Mapping[str, StrPromise]] = {
    "-1": _("no word from the operator yet"),
    "0": _("handed to the operator"),
    "1": _("on the phone"),
    "2": _("not on the phone"),
    "3": _("a fault at the operator"),
    "5": _("a fault that is not named"),
    "8": _("at the operator"),
    "16": _("did not reach the operator"),
    "35": _("on the operator's block list"),
    "100": _("not known"),
    "200": _("sent to the operator"),
    "300": _("filtered"),
    "400": _("in the provider's line"),
    "500": _("not accepted by the operator"),
}

VERDICTS: Final[Mapping[str, StrPromise]] = {
    "accepted": _("It was sent"),
    "absent": _("It was surely not sent"),
    "undecided": _("Still unknown"),
}


def retry_refusal(code: str) -> str:
    """Why a message is not tried again by hand, in the reader's language; "" for no code."""
    return str(NO_RETRY.get(code, code))


def explain(provider: str, code: str) -> str:
    """Why a message of `provider` did not simply go out, in the reader's language; "" for no code."""
    if not code:
        return ""
    for words in (OURS, UNDELIVERED, NO_RETRY):
        if code in words:
            return str(words[code])
    return str(meaning(provider, code).reason)


def is_ours(code: str) -> bool:
    """Whether the code is a word of ours and not the provider's."""
    return any(code in words for words in (OURS, UNDELIVERED, NO_RETRY))


def explain_report(provider: str, word: str) -> str:
    """What a delivery report's own word means, in the reader's language."""
    status = STATUS_WORDS.get(word)
    if status is not None:
        return str(status)
    if provider.startswith("melipayamak") and word in REPORTED:
        return str(REPORTED[word])
    is_listed = provider.startswith("melipayamak") and word
    return str(_("not in the provider's list of codes")) if is_listed else ""


def explain_look(provider: str, why: str) -> str:
    """Why a look-up decided what it did: a word of ours, or the fault of the call."""
    return str(LOOKS[why]) if why in LOOKS else explain(provider, why)


def verdict_label(verdict: str) -> str:
    return str(VERDICTS.get(verdict, verdict))


def status_label(row: SmsLog) -> str:
    """The status in words. A failed message that will be tried again is waiting, not lost."""
    if row.status == SmsStatus.FAILED and row.retry_scheduled_at is not None:
        return str(_("Waiting to retry"))
    if row.status == SmsStatus.UNKNOWN and row.lookup_at == FOR_GOOD:
        return str(_("Unknown for good"))
    return str(row.get_status_display())
