"""What numbers have had already: set-wise questions to the message log, for whoever is about to send."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from datetime import datetime

from automation.models import WorkflowNode
from sms.lines import MessageKind
from sms.models import ACCEPTED_STATUSES, SmsLog, SmsStatus
from sms.sending import PRODUCER

# It went out, it may have, or it is about to.
WENT = (*ACCEPTED_STATUSES, SmsStatus.UNKNOWN, SmsStatus.SENDING)
Text = tuple[int, int, str, int]  # campaign, node, number, person


def served_by_others(texts: Sequence[Text]) -> set[Text]:
    """Those of `texts` whose number had the same step's text of the campaign as another person. One query."""
    rows = SmsLog.objects.filter(
        phone_number__in={phone for _campaign, _node, phone, _subject in texts},
        campaign_id__in={campaign for campaign, _node, _phone, _subject in texts},
        status__in=WENT,
    )
    had: dict[tuple[int | None, int | None, str], set[int | None]] = {}
    for campaign, node, phone, subject in rows.values_list(
        "campaign_id", "node_id", "phone_number", "subject_id"
    ):
        had.setdefault((campaign, node, phone), set()).add(subject)
    return {text for text in texts if had.get(text[:3], set()) - {text[3]}}


def promotional_since(phones: Collection[str], since: datetime) -> dict[str, int]:
    """How many promotional messages each of these numbers had from `since` on. Two queries.

    Messages of steps count by their step's kind; a test and the answer to an opt-out do not count.
    """
    rows = SmsLog.objects.filter(
        phone_number__in=phones, request_at__gte=since, status__in=WENT, producer=PRODUCER
    )
    found = list(rows.values_list("phone_number", "node_id"))
    service = _service_nodes({node for _phone, node in found if node is not None})
    return dict(Counter(phone for phone, node in found if node not in service))


def _service_nodes(ids: Collection[int]) -> set[int]:
    if not ids:
        return set()
    nodes = WorkflowNode.objects.filter(pk__in=ids, config__message_kind=str(MessageKind.SERVICE))
    return set(nodes.values_list("pk", flat=True))
