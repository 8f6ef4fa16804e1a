"""Loose comparison of one stored value with one expected value, for `engine.conditions`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Any, Final, NamedTuple

from engine.types import FieldType
from engine.zones import ZoneError, resolve_local, zone

# What counts as a number or a moment, as patterns that Python and SQL databases read alike.
SPACES: Final = " \t\n\r\f\v"
DIGITS: Final = "۰۱۲۳۴۵۶۷۸۹٠١٢٣٤٥٦٧٨٩"
NUMBER: Final = r"[+-]?[0-9]{1,30}(?:\.[0-9]{1,30})?"
_DATE: Final = (
    r"(?:[1-9][0-9]{3}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])"
    r"|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))"
    r"|(?:[1-9][0-9](?:0[48]|[2468][048]|[13579][26])|(?:[2468][048]|[13579][26])00)-02-29)"
)
_CLOCK: Final = r"[T ](?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,6})?)?"
LOCAL: Final = rf"{_DATE}(?:{_CLOCK})?"
ZULU: Final = rf"{_DATE}{_CLOCK}Z"
OFFSET: Final = rf"{_DATE}{_CLOCK}[+-](?:[01][0-9]|2[0-3]):[0-5][0-9]"
RELATIVE: Final = r"now(?:[+-][0-9]{1,5}[dhm])?"

_LATIN: Final = str.maketrans(DIGITS, "0123456789" * 2)
_IS_NUMBER: Final = re.compile(NUMBER)
_IS_RELATIVE: Final = re.compile(RELATIVE)
_IS_ISO: Final = re.compile(f"{LOCAL}|{ZULU}|{OFFSET}")
_SPELLED: Final = frozenset({FieldType.NUMBER, FieldType.DATE, FieldType.DATETIME})  # texts stand for more
_UNITS: Final = {"d": "days", "h": "hours", "m": "minutes"}
_TRUTH: Final[Mapping[object, bool]] = {"true": True, "false": False, "1": True, "0": False}


class ConditionError(ValueError):
    """A condition that cannot be answered. `code` is stable; `field` names the field, if there is one."""

    def __init__(self, code: str, field: str = "") -> None:
        self.code = code
        self.field = field
        super().__init__(f"{code}: {field}" if field else code)


class Comparison(NamedTuple):
    """What a comparison needs besides the two values. `kind` is None when the field's type is not known."""

    field: str
    now: datetime
    timezone: str
    kind: FieldType | None = None

    def fail(self) -> ConditionError:
        return ConditionError("type_mismatch", self.field)

    def zone(self) -> tzinfo:
        try:
            return zone(self.timezone)
        except ZoneError as exc:
            raise ConditionError("timezone_invalid", self.field) from exc


def as_number(value: object) -> float | None:
    """The finite number `value` is or spells, as a double (exact up to 2**53); None when it is none."""
    if isinstance(value, str):
        text = value.strip(SPACES).translate(_LATIN)
        return float(text) if _IS_NUMBER.fullmatch(text) else None
    if isinstance(value, (int, float)):
        return float(value) if abs(value) < 1e300 else None  # not for infinities and NaN
    return None


def as_truth(value: object) -> bool | None:
    """The truth value `value` is or spells; None when it is none."""
    if isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        return bool(value) if value in (0, 1) else None
    return _TRUTH.get(value.strip(SPACES).lower()) if isinstance(value, str) else None


def as_text(value: object) -> str:
    """How `value` reads where a part of it is looked for."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def is_moment_text(value: object) -> bool:
    """Whether `value` spells a moment: ISO 8601, or a relative one."""
    return isinstance(value, str) and bool(_IS_RELATIVE.fullmatch(value) or _IS_ISO.fullmatch(value))


def as_moment(value: object, ctx: Comparison, *, relative: bool = True) -> datetime | None:
    """The aware moment `value` is or spells; None when it is none. A date is its first instant."""
    try:
        if isinstance(value, datetime):
            return value if value.tzinfo else resolve_local(value, ctx.zone())
        if isinstance(value, date):
            return resolve_local(datetime.combine(value, time()), ctx.zone())
        if not isinstance(value, str):
            return None
        if _IS_RELATIVE.fullmatch(value):
            return _relative(value, ctx.now) if relative else None
        if not _IS_ISO.fullmatch(value):
            return None
        parsed = datetime.fromisoformat(value)
        return parsed if parsed.tzinfo else resolve_local(parsed, ctx.zone())
    except ConditionError:
        raise
    except (ValueError, OverflowError):
        return None


def _relative(text: str, now: datetime) -> datetime:
    if text == "now":
        return now
    return now + timedelta(**{_UNITS[text[-1]]: int(text[3:-1])})


def as_date(value: object, ctx: Comparison) -> date | None:
    """The date `value` is or falls on in the zone of `ctx`; None when it is none."""
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    moment = as_moment(value, ctx)
    return None if moment is None else moment.astimezone(ctx.zone()).date()


def _temporal_pair(actual: object, expected: object, ctx: Comparison) -> tuple[Any, Any] | None:
    """Both sides as dates or as moments; None when this is no comparison of times."""
    is_date = isinstance(actual, date) and not isinstance(actual, datetime)
    if is_date or (ctx.kind is FieldType.DATE):
        return as_date(actual, ctx), as_date(expected, ctx)
    if isinstance(actual, datetime) or ctx.kind is FieldType.DATETIME or isinstance(expected, date):
        return as_moment(actual, ctx), as_moment(expected, ctx)
    return None


def loosely_equal(actual: object, expected: object, ctx: Comparison) -> bool:
    """`=`: null equals null only; otherwise times, truth values, numbers and texts by what they spell."""
    if isinstance(actual, str) and isinstance(expected, str) and ctx.kind not in _SPELLED:
        return actual == expected  # what nearly every comparison is
    if actual is None or expected is None:
        return actual is expected
    times = _temporal_pair(actual, expected, ctx)
    if times is not None:
        return times[0] is not None and times[0] == times[1]
    if isinstance(actual, bool) or isinstance(expected, bool):
        truth = as_truth(actual)
        return truth is not None and truth == as_truth(expected)
    if isinstance(actual, (list, tuple, Mapping)):
        return False
    number = as_number(actual)
    if number is not None:
        return number == as_number(expected)
    return str(actual) == str(expected)


def _order(actual: object, expected: object, ctx: Comparison) -> int | None:
    """-1, 0 or 1; None when a side is null or empty. Raises ConditionError for what has no order."""
    if actual is None or expected is None or actual == "" or expected == "":
        return None
    times = _temporal_pair(actual, expected, ctx)
    if times is None and isinstance(actual, str) and is_moment_text(expected):
        times = as_moment(actual, ctx, relative=False), as_moment(expected, ctx)
    left, right = times if times is not None else (as_number(actual), as_number(expected))
    if left is None or right is None:
        raise ctx.fail()
    return 0 if left == right else (1 if left > right else -1)


def _elements(value: object) -> list[object]:
    return list(value) if isinstance(value, (list, tuple, set, frozenset)) else [value]


def _is_in(actual: object, expected: object, ctx: Comparison) -> bool:
    wanted = _elements(expected)
    return any(loosely_equal(have, want, ctx) for have in _elements(actual) for want in wanted)


def _contains(actual: object, expected: object, ctx: Comparison) -> bool:
    if actual is None or expected is None or isinstance(actual, Mapping):
        return False
    if isinstance(actual, (list, tuple, set, frozenset)):
        return any(loosely_equal(have, expected, ctx) for have in actual)
    return as_text(expected) in as_text(actual)


def _ordering(accept: Callable[[int], bool]) -> Callable[[object, object, Comparison], bool]:
    def test(actual: object, expected: object, ctx: Comparison) -> bool:
        order = _order(actual, expected, ctx)
        return order is not None and accept(order)

    return test


COMPARISONS: Final[Mapping[str, Callable[[object, object, Comparison], bool]]] = {
    "=": loosely_equal,
    "!=": lambda actual, expected, ctx: not loosely_equal(actual, expected, ctx),
    "<": _ordering(lambda order: order < 0),
    "<=": _ordering(lambda order: order <= 0),
    ">": _ordering(lambda order: order > 0),
    ">=": _ordering(lambda order: order >= 0),
    "in": _is_in,
    "not_in": lambda actual, expected, ctx: not _is_in(actual, expected, ctx),
    "contains": _contains,
    "is_null": lambda actual, _expected, _ctx: actual is None,
    "is_not_null": lambda actual, _expected, _ctx: actual is not None,
}
