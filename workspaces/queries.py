"""Reads of people, workspaces and the audit log."""

from __future__ import annotations

from django.db.models import Case, QuerySet, Value, When

from core.errors import NotFound
from workspaces.models import AuditRecord, Membership, Role, User, Workspace


def memberships_of(user: User) -> list[Membership]:
    """The person's memberships of workspaces that are open, with the workspace, by its name. One query."""
    rows = Membership.unscoped.filter(user_id=user.pk, workspace__is_active=True)
    return list(rows.select_related("workspace").order_by("workspace__name", "workspace_id"))


def members_of(workspace: Workspace) -> QuerySet[Membership]:
    """The members with their people, owners first, then by e-mail."""
    rank = Case(
        *[When(role=role, then=Value(place)) for place, role in enumerate(Role.values)], default=Value(99)
    )
    return Membership.objects.filter(workspace=workspace).select_related("user").order_by(rank, "user__email")


def member_for(workspace: Workspace, pk: int) -> Membership:
    """One member; raises NotFound for another workspace's."""
    found = Membership.objects.filter(workspace=workspace, pk=pk).select_related("user").first()
    if found is None:
        raise NotFound
    return found


def audit_rows(workspace: Workspace, *, event: str = "", user: User | None = None) -> QuerySet[AuditRecord]:
    """The audit log, newest first, narrowed to one event and one person if given."""
    rows = (
        AuditRecord.objects.filter(workspace=workspace).select_related("user").order_by("-created_at", "-pk")
    )
    if event:
        rows = rows.filter(event=event)
    return rows.filter(user=user) if user is not None else rows


def sending_is_stopped(workspace_id: int) -> bool:
    """Whether somebody stopped everything in this workspace. One query."""
    return Workspace.objects.filter(pk=workspace_id, sending_stopped_at__isnull=False).exists()
