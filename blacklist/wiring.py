"""What the app tells the rest of the house when it starts: audit labels, navigation, the start page."""

from __future__ import annotations

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from blacklist import queries
from blacklist.models import BlacklistEntry, Channel, Reason, Source
from core import navigation
from core.navigation import NavItem
from workspaces import audit, home
from workspaces.http import MemberRequest
from workspaces.permissions import Perm

EVENTS = {
    "blacklist.added": _("Number blocked"),
    "blacklist.reactivated": _("Number blocked again"),
    "blacklist.removed": _("Number unblocked"),
    "blacklist.imported": _("Blacklist imported from a file"),
    "blacklist.exported": _("Blacklist exported"),
}
FIELDS = {
    "values": _("Numbers"),
    "count": _("Count"),
    "source": _("Source"),
    "reason": _("Reason"),
    "active": _("Blocked"),
    "channel": _("Channel"),
}


def register() -> None:
    """Called once, from the app's `ready`."""
    audit.register_events(EVENTS)
    audit.register_fields(FIELDS)
    audit.register_values(
        BlacklistEntry,
        {"source": dict(Source.choices), "reason": dict(Reason.choices), "channel": dict(Channel.choices)},
    )
    navigation.register(
        NavItem(
            key="blacklist",
            label=_("Blacklist"),
            url_name="blacklist:list",
            permission=Perm.BLACKLIST_VIEW,
            order=50,
            icon="blacklist",
            group="messages",
        )
    )
    home.register_card("blacklist.blocked", _card, permission=Perm.BLACKLIST_VIEW, order=20)


def _card(_request: MemberRequest) -> home.Card:
    return home.Card(
        label=_("Blocked numbers"),
        value=queries.blocked_count(),
        url=reverse("blacklist:list"),
        icon="blacklist",
    )
