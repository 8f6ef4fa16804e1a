"""What a form may be sent by somebody who means harm, and what to fill in elsewhere so that it gets far."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from html import unescape
from typing import Any
from unittest import mock

from django.http import QueryDict

MARKUP = "\"'><script>peyk()</script><img src=x onerror=peyk()>{{7*7}}{% load x %}"
RAW = ("<script>peyk()", "<img src=x onerror")
HOSTILE: Mapping[str, str] = {
    "markup": MARKUP,
    "bidi": "\u202e\u2066abc\u200f\u061c\ufeff\u0000",
    "NUL": "a\x00b",
    "lone surrogate": "\ud800",
    "beyond 64 bits": "9" * 30,
    "below 64 bits": "-" + "9" * 30,
    "Persian digits": "۱۲۳۴۵۶۷۸۹۰۱۲۳۴۵۶۷۸۹۰",
    "Arabic digits": "٠١٢٣٤٥٦٧٨٩",
    "superscript digits": "²³",
    "not a number": "NaN",
    "huge exponent": "1e999999",
    "JSON": '{"root": [[[[]]]], "__proto__": 1}',
    "format string": "%s%n{0}{name!r:>1000000}",
}
MEGABYTE = "a" * 1_000_000
PLAUSIBLE = re.compile(r'<option value="([^"]+)"')


@contextmanager
def noting_names(into: set[str]) -> Iterator[None]:
    """Collect the names of the fields that a view asks a posted form for."""

    def noting(method: str) -> Callable[..., Any]:
        real = getattr(QueryDict, method)

        def noted(self: QueryDict, key: Any, *args: Any, **kwargs: Any) -> Any:
            if isinstance(key, str) and self.encoding:
                into.add(key)
            return real(self, key, *args, **kwargs)

        return noted

    methods = ("__getitem__", "get", "getlist", "__contains__")
    with ExitStack() as stack:
        for name in methods:
            stack.enter_context(mock.patch.object(QueryDict, name, noting(name)))
        yield


def values_in(html: str) -> dict[str, str]:
    """What the forms of a page would send as they stand: the first choice where there is one."""
    found: dict[str, str] = {}
    for tag in re.findall(r"<(?:input|textarea|button)[^>]*>", html):
        name, value = re.search(r'\bname="([^"]*)"', tag), re.search(r'\bvalue="([^"]*)"', tag)
        if name and value and value.group(1):
            found.setdefault(name.group(1), unescape(value.group(1)))
    for name_of, body in re.findall(r'<select[^>]*\bname="([^"]*)"[^>]*>(.*?)</select>', html, re.S):
        choice = PLAUSIBLE.search(body)
        if choice:
            found[name_of] = unescape(choice.group(1))
    return found
