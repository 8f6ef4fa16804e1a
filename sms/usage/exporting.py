"""The month's account as a table to download: by kind, or message by message."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _

from core.dates import format_datetime
from core.text import to_latin_digits
from sms.models import Script, SmsUsage
from sms.usage.accounting import Account
from sms.usage.hooks import CampaignLabel
from sms.usage.labels import EVENT_LABELS, event_label
from sms.usage.months import Month
from sms.usage.prices import PriceBook

MAX_XLSX_ROWS = 200_000
_CHUNK = 2000
Names = Mapping[int, CampaignLabel]
Cells = list[object]


def summary_header() -> Cells:
    return [
        _("Purpose"), _("Campaign"), _("Line"), _("Script"), _("Messages"), _("Parts expected"),
        _("Parts billed"), _("Cost expected (rials)"), _("Cost (rials)"), _("Parts without a price"),
    ]  # fmt: skip


def summary_rows(account: Account, names: Names) -> list[Cells]:
    """One row for each kind of message, and the sum."""
    grouped = account.by(lambda group: (group.event_type, group.campaign_id, group.line, group.script))
    rows = [
        [
            event_label(event), _campaign(campaign, names), line, str(Script(script).label), total.messages,
            total.counted, total.parts, total.expected, total.cost, total.unpriced,
        ]
        for (event, campaign, line, script), total in grouped
    ]  # fmt: skip
    whole = account.total
    last: Cells = [
        _("Total"), "", "", "", whole.messages, whole.counted, whole.parts, whole.expected, whole.cost,
        whole.unpriced,
    ]  # fmt: skip
    return [*rows, last]


def message_header() -> Cells:
    return [
        _("When"), _("Message number"), _("Purpose"), _("Campaign"), _("Line"), _("Script"),
        _("Parts expected"), _("Parts billed"), _("Price of a part (rials)"), _("Cost (rials)"),
    ]  # fmt: skip


def message_rows(month: Month, book: PriceBook, names: Names, language: str) -> Iterator[Cells]:
    """One row for each message of the ledger, oldest first, read in pieces while it is sent.

    Everything that depends on the reader is worked out at the call: the rows are read after it.
    """
    columns = (
        "sent_on", "sms_log_id", "event_type", "campaign_id", "line", "script", "counted_parts", "sms_count",
    )  # fmt: skip
    ledger = SmsUsage.objects.filter(sent_on__gte=month.start, sent_on__lt=month.end).order_by(
        "sent_on", "pk"
    )
    rows = ledger.values_list(*columns).iterator(chunk_size=_CHUNK)
    scripts = {script.value: str(script.label) for script in Script}
    events = {event: str(label) for event, label in EVENT_LABELS.items()}
    zone = ZoneInfo(month.zone)

    def row(values: tuple[datetime, int, str, int | None, str, str, int, int]) -> Cells:
        sent_on, log_id, event, campaign, line, script, counted, parts = values
        rials = book.rials(line, script, sent_on.astimezone(zone).date())
        when = to_latin_digits(format_datetime(sent_on, month.zone, language).replace("،", ""))
        cost: Decimal | str = "" if rials is None else rials * parts
        price: Decimal | str = "" if rials is None else rials
        return [
            when, log_id, events.get(event, event), _campaign(campaign, names), line, scripts[script],
            counted, parts, price, cost,
        ]  # fmt: skip

    return map(row, rows)


def _campaign(campaign_id: int | None, names: Names) -> str:
    if campaign_id is None:
        return ""
    label = names.get(campaign_id)
    return label.name if label else str(campaign_id)
