"""What the start page says of the SMS channel."""

from __future__ import annotations

from datetime import timedelta

from django.urls import reverse
from django.utils.translation import gettext as say
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from core import clock
from core.templatetags.peyk import number
from sms import credit, queries, switch
from sms.inbound import queries as inbound_queries
from sms.models import InboundEffect
from sms.reasons import explain
from workspaces import home
from workspaces.http import MemberRequest
from workspaces.permissions import Perm

ASKED_LATELY = timedelta(days=14)


def register() -> None:
    """Called once when the app is ready."""
    home.register_step("sms.account", account_step, permission=Perm.SETTINGS_MANAGE, order=10)
    home.register_notice("sms.asked_back", asked_back, permission=Perm.BLACKLIST_MANAGE, order=40)
    home.register_notice("sms.closed", closed, permission=Perm.SETTINGS_MANAGE, order=15)
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


def closed(request: MemberRequest) -> list[home.Notice]:
    """The accounts that stopped taking messages, with the reason, for those who can open them again."""
    return [
        home.Notice(
            title=_("The SMS channel is closed"),
            text=f"{row.title}: {explain(row.kind, row.paused_reason)}",
            tone="danger",
            url=reverse("sms:settings"),
            action=_("Show the account"),
        )
        for row in queries.outages(request.workspace.pk)
    ]


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


def asked_back(request: MemberRequest) -> list[home.Notice]:
    """People whom somebody here blocked and who wrote the word for yes: only a person may unblock them."""
    if not switch.is_on(request.workspace.pk):
        return []
    numbers = inbound_queries.asked_back(clock.now() - ASKED_LATELY)
    if not numbers:
        return []
    text = ngettext(
        "%(count)s person who is blocked here wrote that they want messages again.",
        "%(count)s people who are blocked here wrote that they want messages again.",
        len(numbers),
    )
    return [
        home.Notice(
            title=_("Blocked people ask for messages"),
            text=text % {"count": number(len(numbers))},
            url=f"{reverse('sms:inbound')}?effect={InboundEffect.OPT_IN_REFUSED}",
            action=_("Show them"),
        )
    ]
