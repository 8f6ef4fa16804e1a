"""What may be kept of a provider's answer: enough to understand it, nothing that must not be seen."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

MASK = "•••"
KEEP_CHARS = 300

_MOBILE = re.compile(r"(?<![0-9])(?:\+?98|0098|0)?9[0-9]{9}(?![0-9])")


def masked(answer: str, secrets: Iterable[str]) -> str:
    """`answer` cut to `KEEP_CHARS`, without any of `secrets` and without mobile numbers.

    Masking comes before cutting, so that a cut can not leave the first half of a password.
    """
    escaped = "&" in answer  # only then can a secret stand there in HTML's way of writing it
    for secret in sorted({s for s in secrets if s}, key=len, reverse=True):
        answer = answer.replace(secret, MASK)
        if escaped:
            answer = answer.replace(html.escape(secret), MASK)
    return _MOBILE.sub(MASK, answer)[:KEEP_CHARS]
