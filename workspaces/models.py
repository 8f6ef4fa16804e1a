"""Who may see what: workspaces, people, memberships and the audit log."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.db import models
from django.db.models.functions import Lower
from django.utils.translation import gettext_lazy as _

from core.tenancy import AppendOnlyModel, TimeStamped, UndeletableModel, UTCDateTimeField, WorkspaceModel


class Role(models.TextChoices):
    OWNER = "owner", _("Owner")
    ADMIN = "admin", _("Administrator")
    MARKETER = "marketer", _("Marketer")
    OPERATOR = "operator", _("Operator")
    SELLER = "seller", _("Seller")


class UserManager(BaseUserManager["User"]):
    def create_user(self, email: str, password: str | None = None, **extra: Any) -> User:
        """A person who signs in with `email`; without a password nobody can sign in as them."""
        user = self.model(email=self.normalize_email(email).lower(), **extra)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def get_by_natural_key(self, username: str | None) -> User:
        return self.get(email=(username or "").lower())


class User(AbstractBaseUser, TimeStamped):
    """One person; what they may do depends on their membership of a workspace."""

    email = models.EmailField(_("e-mail"), max_length=254, unique=True)
    full_name = models.CharField(_("full name"), max_length=120, blank=True)
    language = models.CharField(max_length=5, blank=True)  # "" follows the workspace
    is_active = models.BooleanField(default=True)

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    objects: ClassVar[UserManager] = UserManager()

    class Meta:
        constraints = [models.UniqueConstraint(Lower("email"), name="user_email_once")]

    def __str__(self) -> str:
        return self.full_name or self.email


class Workspace(TimeStamped):
    """One isolated customer."""

    name = models.CharField(max_length=120)
    slug = models.SlugField(max_length=60, unique=True)
    timezone = models.CharField(max_length=64, default="Asia/Tehran")
    language = models.CharField(max_length=5, default="fa")
    is_active = models.BooleanField(default=True)
    sending_stopped_at = UTCDateTimeField(null=True)  # set: no message leaves, whoever asked for it

    def __str__(self) -> str:
        return self.name


class Membership(WorkspaceModel):
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="memberships")
    role = models.CharField(max_length=12, choices=Role)

    # Set while a token acts for the member: of the role's rights only these count. Never stored.
    narrowed_to: frozenset[str] | None = None

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "user"], name="membership_once"),
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="membership_role_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user_id}:{self.role}"


class AuditRecord(AppendOnlyModel):
    """Who changed what, with the old and the new values (never secrets)."""

    user = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")
    event = models.CharField(max_length=60)
    entity_type = models.CharField(max_length=40)
    entity_id = models.CharField(max_length=40)
    old = models.JSONField(default=dict)
    new = models.JSONField(default=dict)

    class Meta:
        indexes = [
            models.Index(fields=["workspace", "-created_at"], name="audit_newest"),
            models.Index(fields=["workspace", "entity_type", "entity_id"], name="audit_of_entity"),
        ]

    def __str__(self) -> str:
        return self.event


class KeptAnswer(WorkspaceModel):
    """What a program was answered, under the key it sent: `workspaces.kept_answers`. Dropped after days.

    `fingerprint` is a digest of who asked for what. Without a status only inside the transaction that
    does the work.
    """

    key = models.CharField(max_length=200)
    fingerprint = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(null=True)
    headers = models.JSONField(default=dict)
    body = models.TextField(blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "key"], name="kept_answer_once")]
        indexes = [models.Index(fields=["created_at"], name="kept_answer_oldest")]

    def __str__(self) -> str:
        return self.key


class ApiToken(UndeletableModel):
    """A key with which a program acts for `user` in one workspace. Only its digest is kept.

    `permissions` are what it was given; what it may do is never more than its maker may do now. The
    window columns count its requests of one minute (`used`, in the minute number `minute`).
    """

    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=80)
    prefix = models.CharField(max_length=12)  # what people recognise it by
    digest = models.CharField(max_length=64, unique=True)
    permissions = models.JSONField(default=list)
    expires_at = UTCDateTimeField(null=True)
    last_used_at = UTCDateTimeField(null=True)  # to ten minutes
    revoked_at = UTCDateTimeField(null=True)
    revoked_by = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")
    minute = models.PositiveBigIntegerField(default=0)
    used = models.PositiveIntegerField(default=0)

    class Meta:
        indexes = [models.Index(fields=["workspace", "-id"], name="api_token_newest")]

    def __str__(self) -> str:
        return f"{self.prefix}…"
