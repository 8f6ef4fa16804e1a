"""Changes of workspaces, members and people: one function a use, each with its audit row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction

from core.errors import NotFound
from workspaces import audit, tokens
from workspaces.errors import AlreadyMember, HasPassword, LastOwner, OwnersOnly
from workspaces.models import Membership, Role, User, Workspace


@dataclass(frozen=True, slots=True)
class Added:
    """`is_new`: the person had no account, and has no password until they follow their link."""

    membership: Membership
    is_new: bool


def create_workspace(
    *, name: str, slug: str, timezone: str, language: str, user: User | None = None
) -> Workspace:
    """A new, empty workspace. Raises django.db.IntegrityError when the slug is taken."""
    with transaction.atomic():
        workspace = Workspace.objects.create(name=name, slug=slug, timezone=timezone, language=language)
        audit.record(
            "workspace.created",
            entity=workspace,
            new={"name": name, "slug": slug, "timezone": timezone, "language": language},
            user=user,
            workspace_id=workspace.pk,
        )
    return workspace


def change_workspace(workspace: Workspace, *, values: dict[str, Any], user: User) -> bool:
    """Set name, time zone or language. True when something differs from before."""
    old, new = audit.changes({key: getattr(workspace, key) for key in values}, values)
    if not new:
        return False
    with transaction.atomic():
        for key, value in new.items():
            setattr(workspace, key, value)
        workspace.save(update_fields=[*new, "updated_at"])
        audit.record(
            "workspace.changed", entity=workspace, old=old, new=new, user=user, workspace_id=workspace.pk
        )
    return True


def add_member(
    workspace: Workspace,
    *,
    email: str,
    role: str,
    full_name: str = "",
    by: Membership | None,
    password: str | None = None,
) -> Added:
    """Make the person with this e-mail a member; an unknown one gets an account.

    `by` is who adds (None: the command line). Raises OwnersOnly, or AlreadyMember.
    """
    _check_owner_rule(by, role)
    email = User.objects.normalize_email(email.strip()).lower()
    try:
        with transaction.atomic():
            user = User.objects.filter(email=email).first()
            is_new = user is None
            if user is None:
                user = User.objects.create_user(email, password, full_name=full_name)
            membership = Membership.unscoped.create(workspace=workspace, user=user, role=role)
            audit.record(
                "member.added",
                entity=membership,
                new={"email": email, "role": role},
                user=by.user if by else None,
                workspace_id=workspace.pk,
            )
    except IntegrityError as exc:
        if not Membership.unscoped.filter(workspace=workspace, user__email=email).exists():
            raise
        raise AlreadyMember from exc
    return Added(membership=membership, is_new=is_new)


def change_role(membership: Membership, *, role: str, by: Membership) -> bool:
    """Give a member another role; it counts from their next request. False when nothing changed.

    Raises OwnersOnly (a person below owner touches an owner, or makes one), LastOwner and NotFound.
    """
    with transaction.atomic():
        current = _locked(membership)
        if current.role == role:
            return False
        _check_owner_rule(by, current.role, role)
        if current.role == Role.OWNER:
            _check_not_last_owner(current)
        old, current.role = current.role, role
        current.save(update_fields=["role", "updated_at"])
        audit.record(
            "member.role_changed",
            entity=current,
            old={"role": old},
            new={"email": current.user.email, "role": role},
            user=by.user,
            workspace_id=current.workspace_id,
        )
    return True


def remove_member(membership: Membership, *, by: Membership) -> None:
    """End a membership and its tokens; the person is out at their next request.

    Raises OwnersOnly, LastOwner, NotFound.
    """
    with transaction.atomic():
        current = _locked(membership)
        _check_owner_rule(by, current.role)
        if current.role == Role.OWNER:
            _check_not_last_owner(current)
        tokens.revoke_all_of(current, user=by.user)
        audit.record(
            "member.removed",
            entity=current,
            old={"email": current.user.email, "role": current.role},
            user=by.user,
            workspace_id=current.workspace_id,
        )
        current.delete()


def renew_invitation(membership: Membership, *, by: Membership) -> User:
    """The person whose invitation link may be shown again.

    Only for somebody without a password who is in this workspace alone: a link would otherwise open
    an account that is not this workspace's to give. Raises HasPassword and OwnersOnly.
    """
    _check_owner_rule(by, membership.role)
    user = membership.user
    elsewhere = Membership.unscoped.filter(user=user).exclude(workspace_id=membership.workspace_id).exists()
    if user.has_usable_password() or elsewhere:
        raise HasPassword
    return user


def change_person(user: User, *, full_name: str, language: str) -> None:
    """What people set for themselves. `language` "" follows the workspace."""
    user.full_name, user.language = full_name, language
    user.save(update_fields=["full_name", "language", "updated_at"])


def _locked(membership: Membership) -> Membership:
    """The row as it is now, and the owners of its workspace, held until the transaction ends.

    Two owners who demote each other at one moment come one after the other, and the second is refused.
    """
    rows = Membership.unscoped.select_for_update(no_key=True, of=("self",)).filter(
        workspace_id=membership.workspace_id
    )
    list(rows.filter(role=Role.OWNER).order_by("pk"))
    current = rows.select_related("user").filter(pk=membership.pk).first()
    if current is None:
        raise NotFound
    return current


def _check_owner_rule(by: Membership | None, *roles: str) -> None:
    if by is not None and by.role != Role.OWNER and Role.OWNER in roles:
        raise OwnersOnly


def _check_not_last_owner(membership: Membership) -> None:
    owners = Membership.unscoped.filter(
        workspace_id=membership.workspace_id, role=Role.OWNER, user__is_active=True
    ).exclude(pk=membership.pk)
    if not owners.exists():
        raise LastOwner
