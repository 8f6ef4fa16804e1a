"""How far a message has come after the provider took it. Reports only ever move it forward.

    submitted -> sent -> undelivered -> failed -> rejected -> delivered

Providers repeat reports, mix their order and sometimes take one back. The states are therefore a
ladder: whatever the order in which the same reports come, the message ends on the same step. Proof
of delivery stands above every report of failure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from core.transitions import Edges
from sms.evidence import Verdict
from sms.models import SmsLog, SmsStatus
from sms.types import DeliveryStatus

if TYPE_CHECKING:
    from django.db.models import QuerySet

LADDER = (
    SmsStatus.SUBMITTED,
    SmsStatus.SENT,
    SmsStatus.UNDELIVERED,
    SmsStatus.FAILED,
    SmsStatus.REJECTED,
    SmsStatus.DELIVERED,
)
DELIVERY_EDGES: Edges = {str(step): frozenset(map(str, LADDER[i + 1 :])) for i, step in enumerate(LADDER)}

# The only ways out of `unknown`: proof that the provider has it, or that it surely has not.
UNKNOWN_EDGES: Mapping[Verdict, SmsStatus] = {
    Verdict.ACCEPTED: SmsStatus.SUBMITTED,
    Verdict.ABSENT: SmsStatus.FAILED,
}

# A report that says "waiting" or "unknown" is history, and moves nothing.
STEP_OF: Mapping[DeliveryStatus, SmsStatus] = {
    DeliveryStatus.SENT: SmsStatus.SENT,
    DeliveryStatus.DELIVERED: SmsStatus.DELIVERED,
    DeliveryStatus.UNDELIVERED: SmsStatus.UNDELIVERED,
    DeliveryStatus.FAILED: SmsStatus.FAILED,
    DeliveryStatus.REJECTED: SmsStatus.REJECTED,
}
SETTLED = frozenset(STEP_OF[status] for status in DeliveryStatus if status.final)


def furthest(statuses: Iterable[DeliveryStatus]) -> SmsStatus | None:
    """The highest step that any of these reports names, or None when none moves a message."""
    steps = [STEP_OF[status] for status in statuses if status in STEP_OF]
    return max(steps, key=LADDER.index, default=None)


def move_forward(
    rows: QuerySet[SmsLog], ids: Iterable[int], to: SmsStatus, now: datetime, *, reason: str = ""
) -> int:
    """Move those messages that stand below `to`; the others are left where they are. One UPDATE.

    `reason`: why a message that ends here did not arrive (`sms/delivery_reasons.py`).
    """
    below = [state for state, targets in DELIVERY_EDGES.items() if to in targets]
    settled = {"poll_at": None} if to in SETTLED else {}
    return rows.filter(pk__in=list(ids), status__in=below).update(
        status=to, error_code=reason, updated_at=now, **settled
    )
