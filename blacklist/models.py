"""Who must not be messaged."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from core.tenancy import UTCDateTimeField, WorkspaceModel


class Channel(models.TextChoices):
    SMS = "sms", _("SMS")
    EMAIL = "email", _("E-mail")


class Reason(models.TextChoices):
    MANUAL = "manual", _("Added by hand")
    OPT_OUT = "opt_out", _("Opt-out request")
    COMPLAINT = "complaint", _("Complaint")
    INVALID_NUMBER = "invalid_number", _("Invalid number")
    IMPORTED = "imported", _("Imported")
    OTHER = "other", _("Other")


class Source(models.TextChoices):
    MANUAL = "manual", _("By hand")
    IMPORT = "import", _("File import")
    OPT_OUT = "opt_out", _("Opt-out")
    API = "api", _("API")
    TARGET_STATUS = "target_status", _("Status of the person")


class BlacklistEntry(WorkspaceModel):
    """One contact value that must not be written to. Removal keeps the row; history is in the audit log."""

    channel = models.CharField(max_length=10, choices=Channel, default=Channel.SMS)
    value = models.CharField(max_length=254)
    reason = models.CharField(max_length=16, choices=Reason, default=Reason.MANUAL)
    description = models.CharField(max_length=500, blank=True)
    source = models.CharField(max_length=16, choices=Source, default=Source.MANUAL)
    is_active = models.BooleanField(default=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    removed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    removed_at = UTCDateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "channel", "value"], name="blacklist_value_once"),
            models.CheckConstraint(
                condition=models.Q(is_active=True, removed_at__isnull=True)
                | models.Q(is_active=False, removed_at__isnull=False),
                name="blacklist_removed_at_iff_inactive",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.channel}:{self.pk}"
