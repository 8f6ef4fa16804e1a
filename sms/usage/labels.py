"""Who asks for messages, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

EVENT_LABELS: Mapping[str, StrPromise] = {
    "automation": _("Workflow step"),
    "test": _("Test message"),
    "opt_out": _("Opt-out confirmation"),
}


def event_label(event_type: str) -> str:
    """The words for a producer; one that nobody named is shown as it is."""
    return str(EVENT_LABELS.get(event_type, event_type))
