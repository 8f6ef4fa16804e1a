"""What an htmx answer tells the person: one sentence in the live region, and where the focus goes."""

from __future__ import annotations

import json
from typing import Literal

from django.http import HttpResponse

Tone = Literal["success", "info", "warn", "danger"]


def announce(response: HttpResponse, text: str, *, tone: Tone = "success", focus: str = "") -> HttpResponse:
    """Let the page show and read out `text` after the swap, then focus the element with id `focus`.

    Keeps events that are in the response's `HX-Trigger` already. Returns the same response.
    """
    events = json.loads(response.headers.get("HX-Trigger", "{}"))
    events["ui:announce"] = {"text": str(text), "tone": tone, "focus": focus}
    # Header values are Latin-1: JSON escapes keep Persian text inside ASCII.
    response["HX-Trigger"] = json.dumps(events, ensure_ascii=True)
    return response


def refusal(text: str, *, status: int = 409) -> HttpResponse:
    """An htmx answer that changes nothing on the page but says why."""
    response = HttpResponse(status=status)
    response["HX-Reswap"] = "none"
    return announce(response, text, tone="danger")
