"""What one recipient's place in an answer of the Melipayamak panel says, whichever interface gave it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from sms.providers.codes import CodeTable, http_code, http_meaning, meaning_of
from sms.providers.http import CallFault, Reply
from sms.providers.masking import masked
from sms.providers.melipayamak_codes import SEND_CODES
from sms.types import OutboundSms, Outcome, SendResult

BATCH_LIMIT = 100
OPT_OUT_WORD = "لغو11"

ID = re.compile(r"[0-9]{10,32}")  # no code of the provider is longer than four characters
CODE = re.compile(r"-?[0-9]{1,9}")

Raw = Mapping[str, object]


def failed(code: str, raw: Raw, table: CodeTable = SEND_CODES) -> SendResult:
    return SendResult(outcome=meaning_of(code, table).outcome, code=code, raw=raw)


def read_slot(slot: str, raw: Raw) -> SendResult:
    """A long number is the message's id, a short one a code; anything else proves nothing."""
    value = slot.strip()
    if ID.fullmatch(value):
        return SendResult(outcome=Outcome.ACCEPTED, provider_message_id=value, raw=raw)
    return failed(value if CODE.fullmatch(value) else "unlisted", raw)


def read_slots(slots: Sequence[str], count: int, raw: Raw) -> list[SendResult]:
    """One result for each of `count` messages of a call that was answered with `slots`.

    A lone code is the verdict on the whole call. Any other number of places than `count` leaves all in
    doubt: nothing says which message has which.
    """
    if len(slots) == count:
        return [read_slot(slot, {**raw, "Value": slot[:40]}) for slot in slots]
    if len(slots) == 1 and not ID.fullmatch(slots[0].strip()):
        return [read_slot(slots[0], raw)] * count
    return [failed("answer_incomplete", raw)] * count


def no_answer(reply: Reply | CallFault, raw: Raw) -> SendResult | None:
    """The verdict where there is no answer of the panel to read: a fault of the call, or its HTTP status."""
    if isinstance(reply, CallFault):
        return failed(reply.code, {"error": reply.detail})
    if 200 <= reply.status < 300:
        return None
    meaning = http_meaning(reply.status)
    return SendResult(
        outcome=meaning.outcome, code=http_code(reply.status), raw=raw, retry_after_s=reply.retry_after_s
    )


def body_of(reply: Reply, secrets: Sequence[str]) -> str:
    """The beginning of an answer that could not be read, for a person to look at."""
    return masked(reply.body.decode("utf-8", "replace"), secrets)


def secrets_of(messages: Sequence[OutboundSms], credentials: Sequence[str]) -> tuple[str, ...]:
    """Whatever must not be kept of an answer."""
    found = list(credentials)
    for sms in messages:
        found += [sms.to, sms.to[-10:], sms.text, *(sms.pattern.variables if sms.pattern else ())]
    return tuple(found)


def batch_key(sms: OutboundSms, sender: str) -> str | None:
    """Only a text that names the way out may go to several people in one call, and only from one line."""
    alone = sms.pattern is not None or OPT_OUT_WORD not in sms.text.replace(" ", "")
    return None if alone else sender


def joined_variables(sms: OutboundSms) -> str | None:
    """The variables of an approved text in one string; None when a value holds the separator itself."""
    variables = sms.pattern.variables if sms.pattern else ()
    return None if any(";" in value for value in variables) else ";".join(variables)
