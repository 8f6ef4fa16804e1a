"""What the start page says of the SMS channel."""

from __future__ import annotations

from django.urls import reverse
from django.utils.translation import gettext as say
from django.utils.translation import gettext_lazy as _

from core.templatetags.peyk import number
from sms import credit, queries
from workspaces import home
from workspaces.http import MemberRequest
from workspaces.permissions import Perm


def register() -> None:
    """Called once when the app is ready."""
    home.register_step("sms.account", account_step, permission=Perm.SETTINGS_MANAGE, order=10)
    home.register_notice("sms.credit", low_credit, permission=Perm.SETTINGS_MANAGE, order=20)


def account_step(request: MemberRequest) -> home.Step:
    return home.Step(
        title=_("Connect your SMS provider"),
        text=_("With the user name and key from the provider's panel. A test message shows that it works."),
        action=_("Connect"),
        url=reverse("sms:settings"),
        icon="provider",
        done=queries.provider_ready(request.workspace.pk),
    )


def low_credit(request: MemberRequest) -> list[home.Notice]:
    return [
        home.Notice(
            title=_("Credit is running low"),
            text=say("%(title)s has %(amount)s left. Charge the account before messages stop.")
            % {"title": low.account.title, "amount": number(low.account.credit)},
            url=reverse("sms:account", args=[low.account.pk]),
            action=_("Show the account"),
        )
        for low in credit.low_accounts(request.workspace.pk)
    ]
