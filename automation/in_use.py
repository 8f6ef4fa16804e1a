"""Why a workflow or one of its versions cannot be put away, in words."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _

from core.dates import format_number


def in_use(people: int, campaigns: Sequence[str]) -> str:
    """Who is on the way through it and which campaigns hold it; either may be missing."""
    parts = [_("It is in use.")]
    if people:
        text = ngettext("%(n)s person is on their way.", "%(n)s people are on their way.", people)
        parts.append(text % {"n": format_number(people, get_language() or "fa")})
    if campaigns:
        names = _(", ").join(campaigns)
        parts.append(_("Campaigns: %(names)s. End or cancel them first.") % {"names": names})
    elif people:
        parts.append(_("Their campaigns are over and they are still being taken out; try again in a moment."))
    return " ".join(parts)
