"""Messages whose outcome is or was unknown, with what looking them up brought. Active workspace only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from sms.evidence import Verdict
from sms.log_queries import LogFilter, narrowed
from sms.models import SmsLog, SmsLogEvent, SmsStatus
from sms.settlement import EVENT, FOR_GOOD

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

STATES: Final[list[tuple[str, StrPromise]]] = [
    ("open", _("Outcome unknown")),
    ("looking", _("Being looked up")),
    ("for_good", _("Unknown for good")),
    ("settled", _("Settled by a look-up")),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What one look at the provider brought."""

    at: datetime
    verdict: str
    why: str
    payload: dict[str, Any]


def messages(state: str, chosen: LogFilter) -> QuerySet[SmsLog]:
    """Newest first."""
    rows = SmsLog.objects.defer("provider_response", "message_template").order_by("-id")
    if state == "settled":
        decided = SmsLogEvent.objects.filter(
            sms_log_id=OuterRef("pk"), event=EVENT, provider_status__in=[Verdict.ACCEPTED, Verdict.ABSENT]
        )
        rows = rows.filter(Exists(decided))
    else:
        rows = rows.filter(status=SmsStatus.UNKNOWN)
    if state == "looking":
        rows = rows.filter(Q(lookup_at__isnull=True) | Q(lookup_at__lt=FOR_GOOD))
    elif state == "for_good":
        rows = rows.filter(lookup_at=FOR_GOOD)
    return narrowed(rows, chosen)


def looks_at(rows: Sequence[SmsLog]) -> dict[int, list[Look]]:
    """The looks at each of these messages, oldest first. One query."""
    events = SmsLogEvent.objects.filter(sms_log_id__in=[row.pk for row in rows], event=EVENT).order_by("id")
    found: dict[int, list[Look]] = {row.pk: [] for row in rows}
    for event in events:
        found[event.sms_log_id].append(look_of(event))
    return found


def look_of(event: SmsLogEvent) -> Look:
    why = str(event.payload.get("why", ""))
    return Look(at=event.occurred_at, verdict=event.provider_status, why=why, payload=dict(event.payload))
