"""Messages, the accounts they leave by, and what the provider said of them.

A row of `SmsLog` names the execution, campaign and node it was written for by id only: messages are
written by whoever sends, and this app knows none of them.
"""

from __future__ import annotations

import secrets
import uuid

from django.db import models
from django.utils.translation import gettext_lazy as _

from core.tenancy import AppendOnlyModel, UndeletableModel, UTCDateTimeField, WorkspaceModel
from sms.models_inbound import InboundEffect, InboundOutcome, InboundPending, InboundSettings, InboundSms
from sms.models_usage import Script, SmsPrice, SmsUsage


class SmsStatus(models.TextChoices):
    QUEUED = "queued", _("Queued")
    RETRY_READY = "retry_ready", _("Ready to retry")
    SENDING = "sending", _("Sending")
    SUBMITTED = "submitted", _("Handed to the provider")
    SENT = "sent", _("Sent")
    DELIVERED = "delivered", _("Delivered")
    UNDELIVERED = "undelivered", _("Not delivered")
    FAILED = "failed", _("Failed")
    REJECTED = "rejected", _("Rejected")
    UNKNOWN = "unknown", _("Outcome unknown")
    SKIPPED = "skipped", _("Skipped")
    BLACKLISTED = "blacklisted", _("Skipped – Blacklisted")
    CANCELLED = "cancelled", _("Cancelled")
    EXPIRED = "expired", _("Expired")


ACCEPTED_STATUSES = frozenset(
    {SmsStatus.SUBMITTED, SmsStatus.SENT, SmsStatus.DELIVERED, SmsStatus.UNDELIVERED}
)


def _token() -> str:
    return secrets.token_urlsafe(32)


class SmsSettings(WorkspaceModel):
    """One row a workspace: webhook address, texts, and how the channel behaves when it fails."""

    webhook_token = models.CharField(max_length=64, unique=True, default=_token)
    opt_out_text = models.CharField(max_length=160, blank=True)
    backoff_minutes = models.PositiveIntegerField(default=30)
    last_outage_notice_at = UTCDateTimeField(null=True)
    low_credit_below = models.DecimalField(max_digits=16, decimal_places=2, null=True)  # null: no notice
    last_credit_notice_at = UTCDateTimeField(null=True)
    frequency_messages = models.PositiveIntegerField(null=True)  # to one number; null: no cap
    frequency_days = models.PositiveIntegerField(default=1)  # calendar days of the workspace
    forbidden_words = models.JSONField(default=list)
    refuse_links = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace"], name="sms_settings_once")]

    def __str__(self) -> str:
        return f"sms settings {self.workspace_id}"


class ProviderAccount(WorkspaceModel):
    """Credentials and lines at one provider. The credentials are sealed and bound to this row."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=30)  # registry key, for example `melipayamak`
    title = models.CharField(max_length=80)
    base_url = models.URLField(max_length=200, blank=True)  # blank: the provider's own
    sealed_credentials = models.TextField(blank=True)  # core.crypto over a JSON object
    lines = models.JSONField(default=list)  # sender numbers, the first is the default
    line_details = models.JSONField(default=dict)  # line -> its kind and approved text (sms/lines.py)
    options = models.JSONField(default=dict)  # what else its kind asks for; nothing secret
    batch_size = models.PositiveIntegerField(default=1)  # messages in one call at most
    rate_per_second = models.PositiveIntegerField(default=5)
    is_active = models.BooleanField(default=True)
    is_primary = models.BooleanField(default=False)
    fallback_position = models.PositiveIntegerField(null=True)  # its place behind the primary; null: none
    paused_until = UTCDateTimeField(null=True)  # the breaker (sms/breaker.py); null: healthy
    paused_since = UTCDateTimeField(null=True)  # when the outage began
    paused_reason = models.CharField(max_length=40, blank=True)
    trial_until = UTCDateTimeField(null=True)  # one message is trying the account, until then at most
    credit = models.DecimalField(max_digits=16, decimal_places=2, null=True)  # in the provider's unit
    credit_at = UTCDateTimeField(null=True)  # when `credit` was told
    credit_check_at = UTCDateTimeField(null=True)  # when it was last asked for
    credit_fault = models.CharField(max_length=40, blank=True)  # why the last question had no answer

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace"], condition=models.Q(is_primary=True), name="provider_one_primary"
            )
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def seal_binding(self) -> str:
        return f"{self.workspace_id}|sms_provideraccount|{self.pk}|credentials"


class SmsLog(UndeletableModel):
    """One attempt to send one text to one number, committed before the provider is called."""

    producer = models.CharField(max_length=20, default="automation")  # who asked for it
    execution_id = models.BigIntegerField(null=True)
    workflow_id = models.BigIntegerField(null=True)
    campaign_id = models.BigIntegerField(null=True)
    node_id = models.BigIntegerField(null=True)
    subject_type = models.CharField(max_length=20, default="target")
    subject_id = models.BigIntegerField(null=True)
    cycle = models.PositiveIntegerField(default=1)
    attempt_number = models.PositiveIntegerField(default=1)
    idempotency_key = models.CharField(max_length=120, unique=True)
    partition_key = models.CharField(max_length=80)
    row_key = models.CharField(max_length=120)
    claim_token = models.UUIDField(null=True)  # the claim that wrote it: an answer kept on disk must name it
    content_hash = models.CharField(max_length=64, blank=True)
    status = models.CharField(max_length=12, choices=SmsStatus)
    phone_number = models.CharField(max_length=20, blank=True)
    sender_number = models.CharField(max_length=20, blank=True)
    message_template = models.TextField(blank=True)
    final_message = models.TextField(blank=True)
    segments = models.PositiveIntegerField(default=1)  # billed parts
    provider = models.CharField(max_length=30, blank=True)
    provider_account_id = models.UUIDField(null=True)
    not_before = UTCDateTimeField(null=True)
    request_at = UTCDateTimeField(null=True)
    response_at = UTCDateTimeField(null=True)
    provider_message_id = models.CharField(max_length=40, blank=True)
    provider_response = models.JSONField(default=dict)
    error_code = models.CharField(max_length=40, blank=True)
    error_message = models.CharField(max_length=500, blank=True)
    retry_scheduled_at = UTCDateTimeField(null=True)
    poll_at = UTCDateTimeField(null=True)  # when to ask the provider for delivery; null = never (again)
    polls = models.PositiveIntegerField(default=0)
    lookup_at = UTCDateTimeField(null=True)  # when an unknown outcome is looked up next (sms/reconcile.py)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "partition_key", "row_key"], name="sms_row_once"),
            models.UniqueConstraint(  # two messages to one phone are never on the wire together
                fields=["workspace", "phone_number"],
                condition=models.Q(status="sending"),
                name="sms_one_in_flight",
            ),
            models.CheckConstraint(condition=models.Q(status__in=SmsStatus.values), name="sms_status_known"),
        ]
        indexes = [
            models.Index(fields=["execution_id", "cycle", "node_id"], name="sms_of_step"),
            models.Index(fields=["workspace", "-id"], name="sms_newest"),
            models.Index(  # a campaign's messages by status, counted without reading the rows
                fields=["campaign_id", "status", "workspace", "attempt_number"], name="sms_counted"
            ),
            models.Index(fields=["workspace", "subject_type", "subject_id", "-id"], name="sms_of_subject"),
            models.Index(  # a report is matched by the provider's id within the workspace
                fields=["workspace", "provider_message_id"],
                condition=~models.Q(provider_message_id=""),
                name="sms_by_provider_id",
            ),
            models.Index(  # the poll's only query
                fields=["poll_at"], condition=models.Q(poll_at__isnull=False), name="sms_poll_due"
            ),
            models.Index(  # the lookup's only query, and the page of unknown outcomes
                fields=["workspace", "-id"], condition=models.Q(status="unknown"), name="sms_unknown"
            ),
            models.Index(  # what support asked for and has not left yet
                fields=["workspace", "id"], condition=models.Q(status="retry_ready"), name="sms_retry_ready"
            ),
            models.Index(  # frequency cap, one text a phone, the log's search for a whole number
                fields=["workspace", "phone_number", "-id"], name="sms_to_number"
            ),
        ]

    def __str__(self) -> str:
        return self.idempotency_key


class SmsLogEvent(AppendOnlyModel):
    """What happened to a message after it left: a delivery report, a poll's answer, a settlement."""

    sms_log = models.ForeignKey(SmsLog, on_delete=models.PROTECT, related_name="events")
    event = models.CharField(max_length=30)
    provider_status = models.CharField(max_length=60, blank=True)
    payload = models.JSONField(default=dict)
    dedupe_key = models.CharField(max_length=100)
    occurred_at = UTCDateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["sms_log", "dedupe_key"], name="sms_event_once")]

    def __str__(self) -> str:
        return self.event


class UnmatchedReport(WorkspaceModel):
    """A delivery report that came before its message's id was on record. Matched later, or dropped."""

    provider_message_id = models.CharField(max_length=40)
    status = models.CharField(max_length=12)
    provider_status = models.CharField(max_length=60, blank=True)
    payload = models.JSONField(default=dict)
    received_at = UTCDateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "provider_message_id", "provider_status"], name="sms_unmatched_once"
            )
        ]

    def __str__(self) -> str:
        return self.provider_message_id


class SmsTemplate(WorkspaceModel):
    """A text people write once and copy into steps. A step keeps its copy: edits here change no workflow."""

    name = models.CharField(max_length=120)
    body = models.TextField()
    created_by = models.ForeignKey("workspaces.User", null=True, on_delete=models.SET_NULL, related_name="+")
    deleted_at = UTCDateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "name"],
                condition=models.Q(deleted_at__isnull=True),
                name="sms_template_name",
            )
        ]

    def __str__(self) -> str:
        return self.name


class Operator(models.TextChoices):
    """Whose numbers a rule is for, told by their prefix (sms/operators.py)."""

    ANY = "", _("Every operator")
    MCI = "mci", _("Hamrah-e Aval")
    IRANCELL = "irancell", _("Irancell")
    RIGHTEL = "rightel", _("Rightel")
    OTHER = "other", _("Other operators")


class LineRule(WorkspaceModel):
    """When one sender line may send, to all or to the numbers of one operator, and how long its
    delivery reports can take."""

    line = models.CharField(max_length=20)
    operator = models.CharField(max_length=12, choices=Operator, blank=True)
    window = models.JSONField(null=True)  # engine.windows; null: no hours of its own
    finality_hours = models.PositiveIntegerField(null=True)  # null: the installation's; operator is ""

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "line", "operator"], name="sms_line_rule_once"),
            models.CheckConstraint(
                condition=models.Q(operator__in=Operator.values), name="sms_line_operator_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.line} {self.operator}".strip()


__all__ = [
    "ACCEPTED_STATUSES",
    "InboundEffect",
    "InboundOutcome",
    "InboundPending",
    "InboundSettings",
    "InboundSms",
    "LineRule",
    "Operator",
    "ProviderAccount",
    "Script",
    "SmsLog",
    "SmsLogEvent",
    "SmsPrice",
    "SmsSettings",
    "SmsStatus",
    "SmsTemplate",
    "SmsUsage",
    "UnmatchedReport",
]
