"""What a member may do: stable permission keys and the set each role holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType

from workspaces.models import Membership, Role


class Perm(StrEnum):
    """One right. Navigation, pages and JSON name these; the words never change."""

    WORKFLOWS_VIEW = "automation.workflows.view"
    WORKFLOWS_MANAGE = "automation.workflows.manage"
    WORKFLOWS_PUBLISH = "automation.workflows.publish"
    CAMPAIGNS_VIEW = "automation.campaigns.view"
    CAMPAIGNS_MANAGE = "automation.campaigns.manage"
    BLACKLIST_VIEW = "automation.blacklist.view"
    BLACKLIST_MANAGE = "automation.blacklist.manage"
    SMS_TEMPLATES_MANAGE = "automation.sms_templates.manage"
    SMS_LOGS_VIEW = "automation.sms_logs.view"
    SETTINGS_MANAGE = "automation.settings.manage"
    SUPPORT = "automation.support"
    JOURNEY_READ = "journey.read"
    JOURNEY_WRITE = "journey.write"
    JOURNEY_PUBLISH = "journey.publish"
    TARGETS_VIEW = "targets.view"
    TARGETS_VIEW_OWN = "targets.view_own"
    TARGETS_MANAGE = "targets.manage"
    TARGETS_IMPORT = "targets.import"
    ACTIVITIES_MANAGE = "targets.activities"
    WORKSPACE_MANAGE = "workspace.manage"
    WORKSPACE_MEMBERS = "workspace.members"
    WORKSPACE_AUDIT = "workspace.audit"


_ALL = frozenset(Perm)
_ADMINISTRATION = frozenset(
    {
        Perm.SETTINGS_MANAGE,
        Perm.SUPPORT,
        Perm.WORKSPACE_MANAGE,
        Perm.WORKSPACE_MEMBERS,
        Perm.WORKSPACE_AUDIT,
    }
)
_OPERATOR = frozenset(
    {
        Perm.WORKFLOWS_VIEW,
        Perm.CAMPAIGNS_VIEW,
        Perm.CAMPAIGNS_MANAGE,
        Perm.BLACKLIST_VIEW,
        Perm.SMS_LOGS_VIEW,
        Perm.JOURNEY_READ,
        Perm.TARGETS_VIEW,
        Perm.ACTIVITIES_MANAGE,
    }
)

ROLE_PERMISSIONS: Mapping[str, frozenset[Perm]] = MappingProxyType(
    {
        Role.OWNER: _ALL,
        Role.ADMIN: _ALL,
        Role.MARKETER: _ALL - _ADMINISTRATION,
        Role.OPERATOR: _OPERATOR,
        Role.SELLER: frozenset({Perm.TARGETS_VIEW_OWN, Perm.ACTIVITIES_MANAGE, Perm.CAMPAIGNS_VIEW}),
    }
)


def permissions_of(membership: Membership | None) -> frozenset[str]:
    """The rights of a membership; none without one, none for a role this release does not know.

    Those of a member in whose name a token acts are cut down to what the token was given.
    """
    if membership is None:
        return frozenset()
    held = frozenset(perm.value for perm in ROLE_PERMISSIONS.get(membership.role, frozenset()))
    return held if membership.narrowed_to is None else held & membership.narrowed_to


def has_perm(held: Membership | Iterable[str] | None, *wanted: str) -> bool:
    """Whether a membership (or a set such as `request.permissions`) holds one of `wanted`."""
    rights = permissions_of(held) if held is None or isinstance(held, Membership) else frozenset(held)
    return any(perm in rights for perm in wanted)


def sees_only_own(held: Iterable[str]) -> bool:
    """Whether the holder sees the people they own and nobody else's.

    `targets.view` shows everybody, so it wins over `targets.view_own`; with neither nobody is shown,
    which is for the page's own permission to say.
    """
    rights = frozenset(held)
    return Perm.TARGETS_VIEW_OWN in rights and Perm.TARGETS_VIEW not in rights
