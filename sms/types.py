"""The words in which the product speaks of sending, whoever the provider is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum

_NUMBER = re.compile(r"\+?[0-9]{3,15}")


class Outcome(StrEnum):
    """What became of one attempt, told apart by what a retry would do.

    Only `NOT_SENT`, `UNAVAILABLE` and `THROTTLED` prove that the provider has nothing; the message
    may be offered again. Everything that proves neither way is `IN_DOUBT` and is never resent.
    """

    ACCEPTED = "accepted"  # the provider has it
    REFUSED = "refused"  # the provider will never take this message
    NOT_SENT = "not_sent"  # the provider surely has nothing: this message may be tried again
    IN_DOUBT = "in_doubt"  # the provider may have it: look it up, never send it again
    UNAVAILABLE = "unavailable"  # no message passes until a person mends the account: pause the channel
    THROTTLED = "throttled"  # a limit of the provider is used up: the same message passes later

    @property
    def surely_not_sent(self) -> bool:
        """Whether sending this message once more can not make two of it."""
        return self in (Outcome.NOT_SENT, Outcome.UNAVAILABLE, Outcome.THROTTLED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """A text the provider has approved, by its number there, and what is put into its places, in order."""

    body_id: int
    variables: tuple[str, ...] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboundSms:
    """One text for one number. `sender` empty means the account's default line.

    With `pattern` the provider writes the message from its approved text, on a line of its own; `text` is
    what comes of it.

    `reference` is our own key of the attempt. It is handed to providers that take one; whether
    they do or not, it never makes sending twice safe.
    """

    to: str = field(repr=False)  # numbers and texts stay out of logs and tracebacks
    text: str = field(repr=False)
    sender: str = ""
    reference: str = ""
    pattern: Pattern | None = None

    def __post_init__(self) -> None:
        # Providers take a list of numbers in the same field: one message must stay one message.
        if not _NUMBER.fullmatch(self.to):
            raise ValueError("`to` is one number in digits")


@dataclass(frozen=True, slots=True, kw_only=True)
class SendResult:
    """The answer to one attempt.

    `code`: the provider's own code, or one of our words (`sms.providers.codes`) when the fault lies
    before the provider's answer; empty when accepted. `raw`: the answer for a person to read, cut
    short and without credentials, numbers or text. `parts`: only if the provider counted them.
    `retry_after_s`: how long the provider asked us to stay away, if it did.
    """

    outcome: Outcome
    provider_message_id: str | None = None
    code: str = ""
    raw: Mapping[str, object] = field(default_factory=dict)
    parts: int | None = None
    retry_after_s: int | None = None


class DeliveryStatus(StrEnum):
    """What is known of a message that the provider accepted."""

    PENDING = "pending"  # the provider still holds it
    SENT = "sent"  # handed to the operator
    DELIVERED = "delivered"  # on the handset
    UNDELIVERED = "undelivered"  # the operator could not bring it to the handset
    FAILED = "failed"  # it broke on the way
    REJECTED = "rejected"  # the operator or a block list did not let it pass
    UNKNOWN = "unknown"  # the provider does not know, or used a word we do not

    @property
    def final(self) -> bool:
        """Whether no later report can change it."""
        return self in (
            DeliveryStatus.DELIVERED,
            DeliveryStatus.UNDELIVERED,
            DeliveryStatus.FAILED,
            DeliveryStatus.REJECTED,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryReport:
    """What a provider says of one message; `provider_status` is its own word, untranslated."""

    provider_message_id: str
    status: DeliveryStatus
    provider_status: str
    raw: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CreditResult:
    """What is left on the account, in the provider's unit (messages or rials, by account type).

    `amount` is None unless `outcome` is `ACCEPTED`. Zero is an answer, not a fault.
    """

    outcome: Outcome
    amount: Decimal | None = None
    code: str = ""
    raw: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxEntry:
    """One message as the provider lists it. `message_id` is empty where the list names none that a
    delivery can be asked about; `reference` is whatever number the list gives the line."""

    reference: str
    message_id: str = ""
    to: str = field(repr=False)
    text: str = field(repr=False)
    sender: str = ""
    sent_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Outbox:
    """What an account sent, as far as it was read.

    `covers_since`: every message sent from then on, up to the moment of reading, is in `entries`; None
    when that cannot be promised (not asked, broken off, out of order, unreadable). `code` says why.
    """

    outcome: Outcome
    entries: tuple[OutboxEntry, ...] = ()
    covers_since: datetime | None = None
    code: str = ""
