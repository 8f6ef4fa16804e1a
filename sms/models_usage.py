"""What was accepted and is billed, and what a part costs. Imported by `sms.models`."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from core.tenancy import AppendOnlyModel, UTCDateTimeField, WorkspaceModel


class Script(models.TextChoices):
    """Which alphabet a message is billed in: one character outside the Latin one makes all of it Persian."""

    PERSIAN = "ucs2", _("Persian")
    LATIN = "gsm7", _("Latin")


class SmsUsage(AppendOnlyModel):
    """The ledger: one row for each message that a provider accepted, written at acceptance.

    Reports and bills are made from these rows alone, so what they group by is copied from the message.
    """

    sms_log = models.OneToOneField("sms.SmsLog", on_delete=models.PROTECT, related_name="usage")
    event_type = models.CharField(max_length=20)  # who asked for the message: its producer
    sent_on = UTCDateTimeField()  # when the provider accepted it
    message_count = models.PositiveSmallIntegerField(default=1)
    sms_count = models.PositiveIntegerField()  # parts: as the provider reported them, else as counted
    counted_parts = models.PositiveIntegerField()  # what we counted before sending: the estimate
    script = models.CharField(max_length=4, choices=Script)
    line = models.CharField(max_length=20, blank=True)
    campaign_id = models.BigIntegerField(null=True)
    provider = models.CharField(max_length=30, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(message_count=1), name="sms_usage_one_message"),
            models.CheckConstraint(
                condition=models.Q(sms_count__gte=1, counted_parts__gte=1), name="sms_usage_a_part_at_least"
            ),
            models.CheckConstraint(condition=models.Q(script__in=Script.values), name="sms_usage_script"),
        ]
        indexes = [models.Index(fields=["workspace", "sent_on"], name="sms_usage_by_time")]

    def __str__(self) -> str:
        return f"usage of message {self.sms_log_id}"


class SmsPrice(WorkspaceModel):
    """What one part costs from a day on. A line's own price wins over the one for all lines."""

    line = models.CharField(max_length=20, blank=True)  # blank: every line without a price of its own
    script = models.CharField(max_length=4, choices=Script)
    rials = models.DecimalField(max_digits=12, decimal_places=2)
    valid_from = models.DateField()  # a day of the workspace

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "line", "script", "valid_from"], name="sms_price_once"
            ),
            models.CheckConstraint(condition=models.Q(rials__gte=0), name="sms_price_not_negative"),
            models.CheckConstraint(condition=models.Q(script__in=Script.values), name="sms_price_script"),
        ]

    def __str__(self) -> str:
        return f"{self.line} {self.script} {self.valid_from}".strip()
