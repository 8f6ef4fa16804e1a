"""Automation settings of a workspace: the switch, the default hours, the limit of all campaigns together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.forms import BaseForm
from django.http import HttpRequest, QueryDict
from django.utils.translation import gettext_lazy as _

from automation import audit_events
from automation.models import AutomationSettings
from core.tenancy import workspace_scope
from sms.sections import SettingsSection
from workspaces import audit
from workspaces.models import User, Workspace

FIELDS = ("enabled", "default_send_window", "global_daily_limit")


def current(workspace_id: int) -> AutomationSettings:
    """The stored settings, or unsaved defaults. One query."""
    found = AutomationSettings.objects.filter(workspace_id=workspace_id).first()
    return found or AutomationSettings(workspace_id=workspace_id)


def is_enabled(workspace_id: int) -> bool:
    """Also for callers without a workspace of their own: a provider's post opens none."""
    with workspace_scope(workspace_id):
        return current(workspace_id).enabled


def on_for(request: HttpRequest) -> bool:
    """Whether the workspace this person stands in has automation on; asked once a request."""
    known: bool | None = getattr(request, "automation_on", None)
    if known is None:
        workspace = getattr(request, "workspace", None)
        known = workspace is not None and is_enabled(workspace.pk)
        request.automation_on = known  # type: ignore[attr-defined]  # kept for the gate and the menu
    return known


def make_form(workspace: Workspace, data: QueryDict | None) -> BaseForm:
    from automation.settings_form import AutomationSettingsForm  # forms load after the applications

    stored = current(workspace.pk)
    initial = {"enabled": stored.enabled, "global_daily_limit": stored.global_daily_limit}
    return AutomationSettingsForm(
        data, stored=stored.default_send_window, timezone=workspace.timezone, initial=initial
    )


def save(workspace: Workspace, cleaned: Mapping[str, Any], user: User) -> bool:
    """Store what was typed; True when something changed. Audited with old and new values."""
    wanted = {
        "enabled": bool(cleaned["enabled"]),
        "default_send_window": cleaned.get("window"),
        "global_daily_limit": cleaned["global_daily_limit"],
    }
    with transaction.atomic():
        AutomationSettings.objects.get_or_create(workspace_id=workspace.pk)
        row = AutomationSettings.objects.select_for_update().get(workspace_id=workspace.pk)
        old = {name: getattr(row, name) for name in FIELDS}
        changed = {name: value for name, value in wanted.items() if old[name] != value}
        if not changed:
            return False
        for name, value in changed.items():
            setattr(row, name, value)
        row.save(update_fields=[*changed, "updated_at"])
        audit.record(
            audit_events.AUTOMATION_SETTINGS_CHANGED,
            entity=row,
            old={name: old[name] for name in changed},
            new=changed,
            user=user,
        )
    return True


SECTION = SettingsSection(key="automation", title=_("Automation"), make_form=make_form, save=save)
