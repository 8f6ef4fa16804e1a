"""Where people and messages were lost, and how the operators deliver: the lists under a campaign's funnel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _

from automation.states import EndReason, ExecutionStatus
from campaigns.figures import Figures
from campaigns.models import Campaign
from sms.models import Operator, SmsStatus
from sms.reasons import explain

NO_CODE: Final = "-"  # in the address of people whose message has no code


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """So many people or messages, why, and the address of the people behind them."""

    label: str
    number: int
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorRow:
    """The messages to one operator's numbers. `rate`: delivered of the finally reported, None without any."""

    label: str
    tried: int
    delivered: int
    on_the_way: int
    undelivered: int
    failed: int
    unknown: int

    @property
    def rate(self) -> float | None:
        final = self.delivered + self.undelivered
        return self.delivered / final if final else None


def people_lost(campaign: Campaign, figures: Figures) -> list[Loss]:
    """Those who stopped before the end, by reason."""
    labels = dict(EndReason.choices)
    return [
        Loss(
            label=str(labels.get(reason, reason) or ExecutionStatus(status).label),
            number=number,
            url=people_url(campaign, status=status, reason=reason),
        )
        for status, reason, number in figures.ends
    ]


def messages_lost(campaign: Campaign, figures: Figures) -> list[Loss]:
    """Messages that failed or did not arrive, by reason."""
    sums: dict[tuple[str, str], int] = {}
    for provider, code, number in figures.codes:
        label = explain(provider, code) or _("No reason was given.")
        sums[(label, code)] = sums.get((label, code), 0) + number
    found = sorted(sums.items(), key=lambda item: -item[1])
    return [
        Loss(label=label, number=number, url=people_url(campaign, code=code or NO_CODE))
        for (label, code), number in found
    ]


def operators(figures: Figures) -> list[OperatorRow]:
    """The operators that were written to, the largest first."""
    rows = [_operator(name, statuses) for name, statuses in figures.operators.items()]
    return sorted(rows, key=lambda row: -row.tried)


def people_url(campaign: Campaign, **chosen: str) -> str:
    query = urlencode({name: value for name, value in chosen.items() if value})
    return f"{reverse('campaigns:people', args=[campaign.pk])}?{query}"


def _operator(name: str, statuses: Mapping[str, int]) -> OperatorRow:
    def of(*wanted: SmsStatus) -> int:
        return sum(statuses.get(status, 0) for status in wanted)

    return OperatorRow(
        label=str(Operator(name).label) if name in Operator.values else name,
        tried=sum(statuses.values()),
        delivered=of(SmsStatus.DELIVERED),
        on_the_way=of(SmsStatus.SUBMITTED, SmsStatus.SENT),
        undelivered=of(SmsStatus.UNDELIVERED),
        failed=of(SmsStatus.FAILED, SmsStatus.REJECTED),
        unknown=of(SmsStatus.UNKNOWN),
    )
