"""Texts that people write once: added, changed and removed, each with a line in the audit log."""

from __future__ import annotations

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from core import clock
from core.errors import NotFound, Refused
from sms.models import SmsTemplate
from workspaces import audit
from workspaces.models import User, Workspace


class NameTaken(Refused):
    code = "template_name_taken"


def all_templates() -> QuerySet[SmsTemplate]:
    """Those of the active workspace, by name."""
    return SmsTemplate.objects.filter(deleted_at__isnull=True).order_by("name", "pk")


def template(pk: int) -> SmsTemplate:
    """Raises NotFound, also for a removed one."""
    row = all_templates().filter(pk=pk).first()
    if row is None:
        raise NotFound
    return row


def add(workspace: Workspace, *, name: str, body: str, user: User) -> SmsTemplate:
    """Raises NameTaken."""
    try:
        with transaction.atomic():
            row = SmsTemplate.objects.create(workspace=workspace, name=name, body=body, created_by=user)
            audit.record("sms.template_added", entity=row, new={"name": name}, user=user)
    except IntegrityError as exc:
        raise NameTaken(_("Another template has this name.")) from exc
    return row


def change(row: SmsTemplate, *, name: str, body: str, user: User) -> bool:
    """True when anything differs from before. Steps that copied the text keep it. Raises NameTaken."""
    try:
        with transaction.atomic():
            stored = SmsTemplate.objects.select_for_update(no_key=True).get(pk=row.pk)
            old, new = audit.changes({"name": stored.name, "body": stored.body}, {"name": name, "body": body})
            if not new:
                return False
            SmsTemplate.objects.filter(pk=row.pk).update(**new, updated_at=clock.now())
            audit.record("sms.template_changed", entity=stored, old=old, new=new, user=user)
    except IntegrityError as exc:
        raise NameTaken(_("Another template has this name.")) from exc
    return True


def remove(row: SmsTemplate, *, user: User) -> bool:
    """False when it was gone already. The row stays, hidden."""
    now = clock.now()
    with transaction.atomic():
        left = SmsTemplate.objects.filter(pk=row.pk, deleted_at__isnull=True)
        if left.update(deleted_at=now, updated_at=now) != 1:
            return False
        audit.record("sms.template_removed", entity=row, old={"name": row.name}, user=user)
    return True
