"""API tokens: made once, shown once, known afterwards by their digest only.

A token acts for the member who made it, in one workspace, at the addresses of the JSON interface and
nowhere else. It dies with its end date, with its revocation, with the membership of its maker, with the
maker's account and with the workspace; a maker who may do less makes it do less, at once.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from django.db import transaction
from django.db.models import Case, F, Q, QuerySet, Value, When
from django.utils.translation import gettext as _

from core import clock
from core.errors import Invalid, NotFound, Refused
from core.tenancy import UTCDateTimeField
from core.text import normalize_text
from workspaces import audit
from workspaces.models import ApiToken, Membership, User, Workspace
from workspaces.permissions import Perm, permissions_of

MARK: Final = "peyk_"  # lets people, log filters and secret scanners recognise a token
SECRET_BYTES: Final = 32
SHOWN: Final = len(MARK) + 5
MAX_LENGTH: Final = 200  # nothing longer is looked up
MAX_LIVE: Final = 50  # in one workspace
USED_GRAIN: Final = timedelta(minutes=10)
PER_MINUTE: Final = 300

# What a program may be given. Members, settings and further tokens are people's business.
GRANTABLE: Final = tuple(
    perm
    for perm in Perm
    if perm
    not in {
        Perm.SETTINGS_MANAGE,
        Perm.SUPPORT,
        Perm.WORKSPACE_MANAGE,
        Perm.WORKSPACE_MEMBERS,
        Perm.WORKSPACE_AUDIT,
    }
)


@dataclass(frozen=True, slots=True)
class Issued:
    """A new token. `secret` is the only time anybody sees it."""

    token: ApiToken
    secret: str


def grantable_to(membership: Membership) -> list[Perm]:
    """What this member may give to a token: of their own rights those that programs may have."""
    held = permissions_of(membership)
    return [perm for perm in GRANTABLE if perm in held]


def issue(
    membership: Membership, *, name: str, permissions: Iterable[str], expires_at: datetime | None
) -> Issued:
    """A token of this member. Raises Invalid (`name_missing`, `permissions_missing`,
    `permission_not_yours`, `expiry_past`) and Refused `too_many_tokens`.
    """
    name, wanted = normalize_text(name).replace("\n", " ")[:80], sorted(set(permissions))
    now = clock.now()
    if not name:
        raise Invalid(_("Give the token a name."), code="name_missing")
    if not wanted:
        raise Invalid(_("Choose at least one permission."), code="permissions_missing")
    if not set(wanted) <= set(grantable_to(membership)):
        raise Invalid(_("A token cannot be given more than you may do."), code="permission_not_yours")
    if expires_at is not None and expires_at <= now:
        raise Invalid(_("The end of the token has passed already."), code="expiry_past")
    secret = MARK + secrets.token_urlsafe(SECRET_BYTES)
    with transaction.atomic():
        Workspace.objects.select_for_update(no_key=True).get(pk=membership.workspace_id)
        if _live(membership.workspace_id, now).count() >= MAX_LIVE:
            raise Refused(_("There are too many tokens; revoke one first."), code="too_many_tokens")
        token = ApiToken.objects.create(
            workspace_id=membership.workspace_id,
            user_id=membership.user_id,
            name=name,
            prefix=secret[:SHOWN],
            digest=_digest(secret),
            permissions=wanted,
            expires_at=expires_at,
        )
        new = {"name": name, "prefix": token.prefix, "permissions": wanted, "expires_at": expires_at}
        audit.record("api_token.created", entity=token, new=new, user=membership.user)
    return Issued(token=token, secret=secret)


def revoke(token: ApiToken, *, user: User | None) -> bool:
    """End a token for good; its next request is refused. False when it had been revoked before."""
    with transaction.atomic():
        rows = ApiToken.objects.filter(pk=token.pk, revoked_at__isnull=True)
        if not rows.update(revoked_at=clock.now(), revoked_by=user, updated_at=clock.now()):
            return False
        old = {"name": token.name, "prefix": token.prefix}
        audit.record("api_token.revoked", entity=token, old=old, user=user)
    return True


def revoke_all_of(membership: Membership, *, user: User | None) -> int:
    """End the tokens of a member who leaves: should they come back, their old keys do not."""
    rows = ApiToken.unscoped.filter(
        workspace_id=membership.workspace_id, user_id=membership.user_id, revoked_at__isnull=True
    )
    return rows.update(revoked_at=clock.now(), revoked_by=user, updated_at=clock.now())


def tokens_of(workspace: Workspace) -> QuerySet[ApiToken]:
    """All tokens ever made, newest first, with their makers."""
    return ApiToken.objects.filter(workspace=workspace).select_related("user", "revoked_by").order_by("-pk")


def state_of(token: ApiToken) -> Literal["valid", "expired", "revoked"]:
    if token.revoked_at is not None:
        return "revoked"
    if token.expires_at is not None and token.expires_at <= clock.now():
        return "expired"
    return "valid"


def token_for(workspace: Workspace, pk: int) -> ApiToken:
    """One token. Raises NotFound for another workspace's."""
    token = tokens_of(workspace).filter(pk=pk).first()
    if token is None:
        raise NotFound(_("There is no such token."))
    return token


def recognise(secret: str) -> tuple[ApiToken, Membership] | None:
    """The living token with this secret and the membership it acts with, narrowed to its permissions.

    Two queries. None for anything else: unknown, expired, revoked, or its maker is no member any more.
    """
    if not secret.startswith(MARK) or len(secret) > MAX_LENGTH:
        return None
    now = clock.now()
    found = ApiToken.unscoped.filter(digest=_digest(secret), revoked_at__isnull=True)
    token = found.filter(Q(expires_at__isnull=True) | Q(expires_at__gt=now)).first()
    if token is None:
        return None
    members = Membership.unscoped.filter(
        workspace_id=token.workspace_id,
        user_id=token.user_id,
        user__is_active=True,
        workspace__is_active=True,
    )
    membership = members.select_related("user", "workspace").first()
    if membership is None:
        return None
    membership.narrowed_to = frozenset(token.permissions) & frozenset(GRANTABLE)
    return token, membership


def admit(token: ApiToken) -> int:
    """Count one request: 0 when it may go on, else the seconds until the next one may.

    One conditional UPDATE, so requests that come together cannot pass the limit between them.
    """
    now = clock.now()
    second = int(now.timestamp())
    minute = second // 60
    rows = ApiToken.unscoped.filter(pk=token.pk).filter(~Q(minute=minute) | Q(used__lt=PER_MINUTE))
    is_stale = Q(last_used_at__isnull=True) | Q(last_used_at__lt=now - USED_GRAIN)
    admitted = rows.update(
        used=Case(When(minute=minute, then=F("used") + 1), default=Value(1)),
        minute=minute,
        last_used_at=Case(
            When(is_stale, then=Value(now)), default=F("last_used_at"), output_field=UTCDateTimeField()
        ),
    )
    return 0 if admitted else 60 - second % 60


def _live(workspace_id: int, now: datetime) -> QuerySet[ApiToken]:
    living = Q(expires_at__isnull=True) | Q(expires_at__gt=now)
    return ApiToken.objects.filter(living, workspace_id=workspace_id, revoked_at__isnull=True)


def _digest(secret: str) -> str:
    """The secret is 256 random bits: a plain digest cannot be guessed back, and is found by an index."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
