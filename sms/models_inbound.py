"""What people wrote to our lines, and what was done about it. Imported by `sms.models`."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from core.tenancy import AppendOnlyModel, UTCDateTimeField, WorkspaceModel


class InboundSms(AppendOnlyModel):
    """One message that came in through the relay, stored once and before anything is done about it."""

    received_at = UTCDateTimeField()
    sender = models.CharField(max_length=40, blank=True)  # as it was written
    number = models.CharField(max_length=11, blank=True)  # canonical; blank: no number of Iran
    line = models.CharField(max_length=20, blank=True)  # ours
    text = models.TextField(blank=True)
    reference = models.CharField(max_length=64, blank=True)  # the provider's id, if it sent one
    dedupe_key = models.CharField(max_length=100)
    unread = models.JSONField(default=dict)  # what came, when no sender and text were found in it

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "dedupe_key"], name="sms_inbound_once"),
        ]
        indexes = [
            models.Index(fields=["workspace", "-id"], name="sms_inbound_newest"),
            models.Index(fields=["workspace", "number", "-id"], name="sms_inbound_by_number"),
        ]

    def __str__(self) -> str:
        return f"inbound {self.pk}"


class InboundPending(WorkspaceModel):
    """A message that nothing was done about yet. Goes in the transaction that does it."""

    inbound = models.OneToOneField(InboundSms, on_delete=models.PROTECT, related_name="pending")
    due_at = UTCDateTimeField()  # when the sweep may take it, if the queue did not

    class Meta:
        indexes = [models.Index(fields=["due_at"], name="sms_inbound_due")]

    def __str__(self) -> str:
        return f"waiting {self.inbound_id}"


class InboundEffect(models.TextChoices):
    """What a message did."""

    OPTED_OUT = "opted_out", _("Opted out")
    OPTED_OUT_BEFORE = "opted_out_before", _("Was blocked already")
    OPTED_IN = "opted_in", _("Opted in again")
    OPT_IN_REFUSED = "opt_in_refused", _("Stays blocked")
    OPT_IN_IDLE = "opt_in_idle", _("Was not blocked")
    HANDLED = "handled", _("Handled")
    NOTHING = "nothing", _("Ordinary message")
    UNKNOWN_SENDER = "unknown_sender", _("Sender is no number")
    UNREADABLE = "unreadable", _("Not readable")


class InboundOutcome(AppendOnlyModel):
    """What was done about a message: one row each, once it was done."""

    inbound = models.OneToOneField(InboundSms, on_delete=models.PROTECT, related_name="outcome")
    effect = models.CharField(max_length=20, choices=InboundEffect)
    subject_type = models.CharField(max_length=20, blank=True)
    subject_id = models.BigIntegerField(null=True)  # whose number it was at that moment
    reply = models.ForeignKey("sms.SmsLog", null=True, on_delete=models.PROTECT, related_name="+")
    handled_by = models.JSONField(default=list)  # keys of the handlers that used it

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(effect__in=InboundEffect.values), name="sms_inbound_effect_known"
            )
        ]
        indexes = [
            models.Index(fields=["workspace", "subject_type", "subject_id"], name="sms_inbound_of_subject"),
            models.Index(fields=["workspace", "effect", "-id"], name="sms_inbound_by_effect"),
        ]

    def __str__(self) -> str:
        return f"{self.effect} {self.inbound_id}"


class InboundSettings(WorkspaceModel):
    """One row a workspace: how its provider names things, and the words that mean no and yes."""

    sender_param = models.CharField(max_length=30, default="from")
    line_param = models.CharField(max_length=30, default="to")
    text_param = models.CharField(max_length=30, default="body")
    reference_param = models.CharField(max_length=30, default="retid")
    opt_out_words = models.JSONField(default=list)  # added to the built-in ones
    opt_in_words = models.JSONField(default=list)
    confirmation = models.CharField(max_length=300, blank=True)  # blank: an opt-out is not answered

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace"], name="sms_inbound_settings_once")]

    def __str__(self) -> str:
        return f"inbound settings {self.workspace_id}"
