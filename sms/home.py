"""What the start page says of the SMS channel."""

from __future__ import annotations

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from sms import queries
from workspaces import home
from workspaces.http import MemberRequest
from workspaces.permissions import Perm


def register() -> None:
    """Called once when the app is ready."""
    home.register_step("sms.account", account_step, permission=Perm.SETTINGS_MANAGE, order=10)


def account_step(request: MemberRequest) -> home.Step:
    return home.Step(
        title=_("Connect your SMS provider"),
        text=_("With the user name and key from the provider's panel. A test message shows that it works."),
        action=_("Connect"),
        url=reverse("sms:settings"),
        icon="provider",
        done=queries.provider_ready(request.workspace.pk),
    )
