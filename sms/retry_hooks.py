"""What is asked of whoever a message was written for, before support may have it tried again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from sms.models import SmsLog


@dataclass(frozen=True, slots=True)
class Turn:
    """Whether a message may leave now: not before `until`, or never for the reason `refused`."""

    until: datetime | None = None
    refused: str = ""

    @property
    def is_now(self) -> bool:
        return self.until is None and not self.refused


class Owner(Protocol):
    """Everything is about messages of the active workspace."""

    def hold(self, row: SmsLog) -> None:
        """Lock what must be locked before messages are."""
        ...

    def refusal(self, row: SmsLog) -> str:
        """A reason word why the message may not be tried by hand now; "" when it may."""
        ...

    def is_promotional(self, row: SmsLog) -> bool: ...

    def take(self, row: SmsLog, now: datetime) -> Turn:
        """Ask once more at the moment of sending, and take what one message uses up when it may leave.

        Inside a transaction that holds the message; it is rolled back when the message does not leave.
        """
        ...

    def give_back(self, row: SmsLog) -> None:
        """The provider did not take the message: what `take` took is free again."""
        ...

    def tell(self, row: SmsLog, status: str, code: str, now: datetime) -> None:
        """What came of the message, for whoever reads the history of the person."""
        ...


class Nobody:
    """Of messages that belong to no walk: a test, the answer to an opt-out."""

    def hold(self, row: SmsLog) -> None: ...

    def refusal(self, row: SmsLog) -> str:  # noqa: ARG002
        return ""

    def is_promotional(self, row: SmsLog) -> bool:  # noqa: ARG002
        return False

    def take(self, row: SmsLog, now: datetime) -> Turn:  # noqa: ARG002
        return Turn()

    def give_back(self, row: SmsLog) -> None: ...

    def tell(self, row: SmsLog, status: str, code: str, now: datetime) -> None: ...


_nobody = Nobody()
_owners: dict[str, Owner] = {}


def register_owner(producer: str, owner: Owner) -> None:
    _owners[producer] = owner


def owner_of(row: SmsLog) -> Owner:
    return _owners.get(row.producer, _nobody)
