"""Whose number a mobile is, told by its prefix. A number that moved to another operator keeps its prefix,
so this is the operator it was given by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sms.models import Operator

PREFIXES: Final[Mapping[Operator, str]] = {
    Operator.MCI: ("0910 0911 0912 0913 0914 0915 0916 0917 0918 0919 0990 0991 0992 0993 0994 0995 0996"),
    Operator.IRANCELL: "0900 0901 0902 0903 0904 0905 0930 0933 0935 0936 0937 0938 0939 0941",
    Operator.RIGHTEL: "0920 0921 0922 0923",
}
_BY_PREFIX: Final = {
    prefix: operator for operator, prefixes in PREFIXES.items() for prefix in prefixes.split()
}


def operator_of(mobile: str) -> Operator:
    """The operator of a canonical mobile number (`09…`)."""
    return _BY_PREFIX.get(mobile[:4], Operator.OTHER)
