"""What a part costs, by line, script and day."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _

from core.errors import NotFound, Refused
from sms.models import ProviderAccount, Script, SmsPrice
from sms.parts import count_parts
from sms.usage.ledger import script_of
from workspaces import audit
from workspaces.models import User, Workspace

MAX_PRICES = 500
Key = tuple[str, str]


class PriceExists(Refused):
    code = "price_exists"


class TooManyPrices(Refused):
    code = "too_many_prices"


@dataclass(frozen=True, slots=True)
class PriceBook:
    """All prices of a workspace, as they came into force."""

    entries: dict[Key, list[tuple[date, Decimal]]]

    @classmethod
    def load(cls) -> PriceBook:
        """The prices of the active workspace. One query."""
        return cls.of(SmsPrice.objects.all())

    @classmethod
    def of(cls, rows: Iterable[SmsPrice]) -> PriceBook:
        entries: dict[Key, list[tuple[date, Decimal]]] = defaultdict(list)
        for row in rows:
            entries[row.line, row.script].append((row.valid_from, row.rials))
        return cls({key: sorted(prices) for key, prices in entries.items()})

    def rials(self, line: str, script: str, day: date) -> Decimal | None:
        """The price of a part on `day`: the line's own, else the one for all lines; None: nobody set one."""
        own = self._on(line, script, day) if line else None
        return self._on("", script, day) if own is None else own

    def _on(self, line: str, script: str, day: date) -> Decimal | None:
        prices = self.entries.get((line, script), [])
        at = bisect_right(prices, day, key=lambda price: price[0])
        return prices[at - 1][1] if at else None

    def changes_between(self, first: date, last: date) -> list[date]:
        """The days after `first` and before `last` on which some price changes, in order."""
        days = {day for prices in self.entries.values() for day, _rials in prices}
        return sorted(day for day in days if first < day < last)

    def cost_of(self, text: str, line: str, day: date) -> Decimal | None:
        """What sending `text` once costs, by our own count of its parts; None without a price."""
        rials = self.rials(line, script_of(text), day)
        return None if rials is None else rials * count_parts(text).parts


def prices() -> list[SmsPrice]:
    """For the settings page: by line and script, the newest first."""
    return list(SmsPrice.objects.order_by("line", "script", "-valid_from"))


def known_lines() -> list[str]:
    """Lines that may have a price: those of the accounts, and those that have one. Two queries."""
    listed = [line for lines in ProviderAccount.objects.values_list("lines", flat=True) for line in lines]
    priced = SmsPrice.objects.exclude(line="").values_list("line", flat=True).distinct()
    return sorted({*map(str, listed), *priced})


def add_price(
    workspace: Workspace, *, line: str, script: Script, rials: Decimal, valid_from: date, user: User
) -> SmsPrice:
    """Raises PriceExists when that line and script have a price from that very day, TooManyPrices."""
    if SmsPrice.objects.count() >= MAX_PRICES:
        raise TooManyPrices(_("There are too many prices. Remove some that are no longer needed."))
    try:
        with transaction.atomic():
            row = SmsPrice.objects.create(
                workspace=workspace, line=line, script=script, rials=rials, valid_from=valid_from
            )
            audit.record("sms.price_added", entity=row, new=_shown(row), user=user)
    except IntegrityError as exc:
        raise PriceExists(_("There is a price from that day already. Remove it first.")) from exc
    return row


def remove_price(pk: int, *, user: User) -> None:
    """Raises NotFound."""
    with transaction.atomic():
        row = SmsPrice.objects.select_for_update(no_key=True).filter(pk=pk).first()
        if row is None:
            raise NotFound
        audit.record("sms.price_removed", entity=row, old=_shown(row), user=user)
        row.delete()


def _shown(row: SmsPrice) -> dict[str, object]:
    return {
        "line": row.line,
        "script": row.script,
        "rials": str(row.rials),
        "valid_from": row.valid_from.isoformat(),
    }
