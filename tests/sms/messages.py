"""Rows for tests: messages and accounts as the send path leaves them."""

from __future__ import annotations

import json
from datetime import timedelta
from itertools import count
from typing import Any

from core import clock
from core.crypto import seal
from core.tenancy import workspace_scope
from sms.models import ProviderAccount, SmsLog, SmsSettings, SmsStatus
from sms.simulator.server import PASSWORD, USERNAME
from tests.sms.simulator_fixture import LINE
from workspaces.models import Workspace

_numbers = count(1)


def make_account(workspace: Workspace, url: str = "", **fields: Any) -> ProviderAccount:
    """An active primary account at a simulator (`url`), with good credentials."""
    credentials = fields.pop("credentials", {"username": USERNAME, "password": PASSWORD})
    values = {"kind": "melipayamak", "title": "Main", "lines": [LINE], "is_primary": True, **fields}
    account = ProviderAccount(workspace=workspace, base_url=url, **values)
    account.sealed_credentials = seal(json.dumps(credentials), bound_to=account.seal_binding)
    account.save()
    return account


def make_log(workspace: Workspace, message_id: str = "", **fields: Any) -> SmsLog:
    """A message that the provider took (`message_id`) a minute ago, unless `fields` say otherwise."""
    n = next(_numbers)
    now = clock.now()
    values: dict[str, Any] = {
        "status": SmsStatus.SUBMITTED,
        "phone_number": f"0912{n:07}",
        "final_message": f"message {n}",
        "provider": "melipayamak",
        "provider_message_id": message_id,
        "request_at": now - timedelta(minutes=1),
        "response_at": now - timedelta(minutes=1),
        **fields,
    }
    with workspace_scope(workspace.pk):
        return SmsLog.objects.create(
            workspace=workspace, idempotency_key=f"test:{n}", partition_key="test", row_key=str(n), **values
        )


def make_settings(workspace: Workspace, **fields: Any) -> SmsSettings:
    with workspace_scope(workspace.pk):
        return SmsSettings.objects.create(workspace=workspace, **fields)


def status_of(row: SmsLog) -> str:
    """The status as it stands in the database, whatever workspace is active."""
    return SmsLog.unscoped.values_list("status", flat=True).get(pk=row.pk)
