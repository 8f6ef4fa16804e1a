"""The workspace's settings of inbound messages: names, words and the confirmation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from core import clock
from sms.inbound.reading import Names
from sms.inbound.words import Words
from sms.models import InboundSettings
from workspaces import audit
from workspaces.models import User, Workspace


def preferences_of(workspace_id: int) -> InboundSettings:
    """The stored row, or one with the defaults that is not stored. One query."""
    row = InboundSettings.objects.filter(workspace_id=workspace_id).first()
    return row or InboundSettings(workspace_id=workspace_id)


def names_of(row: InboundSettings) -> Names:
    return Names(
        sender=row.sender_param.lower(),
        line=row.line_param.lower(),
        text=row.text_param.lower(),
        reference=row.reference_param.lower(),
    )


def words_of(row: InboundSettings) -> Words:
    return Words.of(row.opt_out_words, row.opt_in_words)


def change_preferences(workspace: Workspace, values: Mapping[str, Any], *, user: User) -> bool:
    """True when anything differs from before."""
    with transaction.atomic():
        row, _made = InboundSettings.objects.get_or_create(workspace=workspace)
        old, new = audit.changes({name: getattr(row, name) for name in values}, values)
        if new:
            InboundSettings.objects.filter(pk=row.pk).update(**new, updated_at=clock.now())
            audit.record("sms.inbound_changed", entity=row, old=old, new=new, user=user)
    return bool(new)
