"""The entries of the menu."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from core.navigation import NavItem, register
from workspaces.permissions import Perm

ITEMS = (
    NavItem(
        key="sms.logs", label=_("Message log"), url_name="sms:logs", permission=Perm.SMS_LOGS_VIEW,
        order=50, icon="message", group="messages",
    ),
    NavItem(
        key="sms.inbound", label=_("Inbound"), url_name="sms:inbound", permission=Perm.SMS_LOGS_VIEW,
        order=51, icon="phone", group="messages",
    ),
    NavItem(
        key="sms.usage", label=_("Usage"), url_name="sms:usage", permission=Perm.SMS_LOGS_VIEW,
        order=55, icon="chart", group="messages",
    ),
    NavItem(
        key="sms.templates", label=_("SMS templates"), url_name="sms:templates",
        permission=Perm.SMS_TEMPLATES_MANAGE, order=53, icon="template", group="messages",
    ),
    NavItem(
        key="sms.settings", label=_("SMS"), url_name="sms:settings", permission=Perm.SETTINGS_MANAGE,
        order=81, icon="provider", group="settings",
    ),
)  # fmt: skip


def register_all() -> None:
    """Called once, from the app's `ready`."""
    for item in ITEMS:
        register(item)
