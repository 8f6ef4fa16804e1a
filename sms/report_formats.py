"""What providers post to the webhook. A format is one parser class and one line in `FORMATS`.

Only formats that were seen from a real provider are registered; any other name is a 404.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from sms.types import DeliveryReport, DeliveryStatus

MAX_REPORTS = 200
MAX_DEPTH = 16


class Malformed(Exception):
    """The body is not what the format says. Nothing of it was used."""


class TooManyReports(Exception):
    """More reports than one request may hold. Nothing of it was used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    """What one request said. `opt_outs` are numbers as they were written."""

    reports: tuple[DeliveryReport, ...] = ()
    opt_outs: tuple[str, ...] = ()


class DeliveryReportParser(Protocol):
    """One provider's format. `parse` raises Malformed or TooManyReports, and nothing else.

    One bad entry among good ones is left out; only a body that is not of the format at all is refused.
    """

    def parse(self, body: bytes) -> Posted: ...


class GenericFormat:
    """`{"reports": [{"message_id", "status"}], "opt_outs": ["0912…", {"number": "0912…"}]}`.

    Status is `sent`, `delivered`, `failed` or `rejected`. Another word is kept with its message and
    moves nothing.
    """

    STATUSES: Mapping[str, DeliveryStatus] = {
        "sent": DeliveryStatus.SENT,
        "delivered": DeliveryStatus.DELIVERED,
        "failed": DeliveryStatus.FAILED,
        "rejected": DeliveryStatus.REJECTED,
    }

    def parse(self, body: bytes) -> Posted:
        document = _json_object(body)
        reports = _list(document, "reports")
        if len(reports) > MAX_REPORTS:
            raise TooManyReports
        return Posted(
            reports=tuple(report for entry in reports if (report := self._report(entry)) is not None),
            opt_outs=tuple(number for entry in _list(document, "opt_outs") if (number := _number(entry))),
        )

    def _report(self, entry: object) -> DeliveryReport | None:
        if not isinstance(entry, Mapping):
            return None
        message_id, word = entry.get("message_id"), entry.get("status")
        if isinstance(message_id, int) and not isinstance(message_id, bool):
            message_id = str(message_id)
        if not isinstance(message_id, str) or not message_id.strip():
            return None
        status = self.STATUSES.get(word) if isinstance(word, str) else None
        return DeliveryReport(
            provider_message_id=message_id.strip(),
            status=status or DeliveryStatus.UNKNOWN,
            provider_status=word if isinstance(word, str) else json.dumps(word),
            raw=entry,
        )


FORMATS: Mapping[str, DeliveryReportParser] = {"generic": GenericFormat()}


def _json_object(body: bytes) -> dict[str, Any]:
    try:
        document = json.loads(body.decode("utf-8-sig"), parse_constant=_refuse)
    except (ValueError, RecursionError) as exc:
        raise Malformed from exc
    if not isinstance(document, dict) or _is_deep(document):
        raise Malformed
    return document


def _is_deep(document: object) -> bool:
    """Whether anything is nested deeper than a report can be; walks, so that depth can not crash it."""
    level: list[object] = [document]
    for _depth in range(MAX_DEPTH):
        level = [child for item in level for child in _inside(item) if isinstance(child, dict | list)]
        if not level:
            return False
    return True


def _inside(item: object) -> Iterable[object]:
    if isinstance(item, dict):
        return item.values()
    return item if isinstance(item, list) else ()


def _refuse(word: str) -> None:
    raise ValueError(word)  # NaN and Infinity are no JSON


def _list(document: Mapping[str, Any], name: str) -> list[Any]:
    value = document.get(name, [])
    if not isinstance(value, list):
        raise Malformed
    return value


def _number(entry: object) -> str:
    value = entry.get("number") if isinstance(entry, Mapping) else entry
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
