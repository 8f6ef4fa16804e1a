"""Whether the text of a step can come out as the approved text of its line, whoever the person is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.text import normalize_text
from engine.text import parse_text
from sms.lines import Line, LineKind, pattern_of

_MARK = "\u2042"  # an asterism: a value in whose place anything may stand


def fits(line: Line, config: Mapping[str, Any], opt_out_text: str) -> bool:
    """True for lines of other kinds. Each variable stands for a value of its own."""
    body = config.get("body")
    if line.kind is not LineKind.PATTERN or not isinstance(body, str):
        return True
    text = normalize_text(
        "".join(
            part if isinstance(part, str) else _MARK + part.name + _MARK for part in parse_text(body).parts
        )
    )
    if config.get("append_opt_out") is True and opt_out_text:
        text = f"{text}\n{opt_out_text}"
    return pattern_of(line, text) is not None
