"""What providers post to the webhook. A format is one parser class and one line in `FORMATS`.

Any name that is not registered is a 404.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import parse_qsl

from core.text import to_latin_digits
from sms.providers.melipayamak_codes import DELIVERY_CODES
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
    moves nothing. An entry may also say why, as `reason` (`sms/delivery_reasons.py` lists the words).
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


class MelipayamakFormat:
    """Delivery codes of the Melipayamak panel, posted as JSON or as a form, one message or many.

        {"recId": "4700…", "status": 1}      [{"recId": …, "status": …}, …]
        {"recIds": ["4700…", …], "resultsAsCode": [1, …]}      recId=4700…&status=1

    The panel itself documents no push; this is for relays that pass its answers on in its own words.
    Names may be written in any case. Ids may be numbers: they are never read as floats.
    """

    ID_NAMES = ("recid", "rec_id", "id")
    CODE_NAMES = ("status", "delivery", "resultascode", "value")

    def parse(self, body: bytes) -> Posted:
        entries = list(self._entries(body))
        if len(entries) > MAX_REPORTS:
            raise TooManyReports
        return Posted(reports=tuple(report for one in entries if (report := self._report(one)) is not None))

    def _entries(self, body: bytes) -> Iterable[Mapping[str, Any]]:
        if not body.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"[")):
            return [_form(body)]
        document = _json(body)
        rows = document if isinstance(document, list) else [document]
        if not all(isinstance(row, dict) for row in rows):
            raise Malformed
        lowered = [{str(name).lower(): value for name, value in row.items()} for row in rows]
        return [entry for row in lowered for entry in self._unfolded(row)]

    def _unfolded(self, row: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        ids, codes = row.get("recids"), row.get("resultsascode")
        if ids is None and codes is None:
            return [row]
        if not isinstance(ids, list) or not isinstance(codes, list) or len(ids) != len(codes):
            raise Malformed
        return [{"recid": one, "status": code} for one, code in zip(ids, codes, strict=True)]

    def _report(self, row: Mapping[str, Any]) -> DeliveryReport | None:
        message_id, code = _first(row, self.ID_NAMES), _first(row, self.CODE_NAMES)
        if not message_id or not code:
            return None
        return DeliveryReport(
            provider_message_id=message_id,
            status=DELIVERY_CODES.get(code, DeliveryStatus.UNKNOWN),
            provider_status=code,
            raw=row,
        )


FORMATS: Mapping[str, DeliveryReportParser] = {
    "generic": GenericFormat(),
    "melipayamak": MelipayamakFormat(),
}


def _first(row: Mapping[str, Any], names: Iterable[str]) -> str:
    """The first of the named values as text; "" when there is none."""
    for name in names:
        value = row.get(name)
        if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
            return to_latin_digits(str(value).strip())
    return ""


def _form(body: bytes) -> Mapping[str, Any]:
    try:
        pairs = parse_qsl(body.decode("ascii"), strict_parsing=True, max_num_fields=50)
    except ValueError as exc:
        raise Malformed from exc
    return {name.lower(): value for name, value in pairs}


def _json_object(body: bytes) -> dict[str, Any]:
    document = _json(body)
    if not isinstance(document, dict):
        raise Malformed
    return document


def _json(body: bytes) -> Any:
    try:
        document = json.loads(
            body.decode("utf-8-sig"), parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_once
        )
    except (ValueError, RecursionError) as exc:
        raise Malformed from exc
    if _is_deep(document):
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


def _finite(word: str) -> float:
    number = float(word)
    if not math.isfinite(number):  # 1e400
        raise ValueError(word)
    return number


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object that names a key twice says two things."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key comes twice")
    return found


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
