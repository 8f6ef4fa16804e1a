"""Posting to the relay in tests, and acting on what came in at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from django.test import Client
from django.urls import reverse

from core import clock
from core.tenancy import workspace_scope
from sms.inbound.processing import process
from sms.models import InboundOutcome, InboundSms, SmsSettings
from tests.people import Answer
from workspaces.models import Workspace

NUMBER = "09123456789"
LINE = "50004001"
Write = Callable[..., InboundOutcome]


def token_of(workspace: Workspace) -> str:
    with workspace_scope(workspace.pk):
        return SmsSettings.objects.get_or_create(workspace=workspace)[0].webhook_token


def address(token: str) -> str:
    return reverse("sms:relay", kwargs={"token": token})


def relay(token: str, **fields: Any) -> Answer:
    """One message as a provider passes it on."""
    query = urlencode({"from": NUMBER[1:], "to": LINE, "body": "سلام", **fields})
    return Client().get(f"{address(token)}?{query}")


def write(workspace: Workspace, text: str, *, number: str = NUMBER, **fields: Any) -> InboundOutcome:
    """Somebody writes `text`, and it is acted upon; returns what it did."""
    before = InboundSms.objects.count()
    response = relay(token_of(workspace), **{"from": number, "body": text, **fields})
    assert (response.status_code, InboundSms.objects.count()) == (200, before + 1)
    row = InboundSms.objects.latest("pk")
    process([row.pk], clock.now())
    return InboundOutcome.objects.get(inbound=row)
