"""What the audit log says of changes to the SMS channel."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from workspaces import audit


def register_events() -> None:
    audit.register_events(
        {
            "sms.account_added": _("SMS account added"),
            "sms.account_changed": _("SMS account changed"),
            "sms.account_made_primary": _("Primary SMS account changed"),
            "sms.settings_changed": _("SMS settings changed"),
            "sms.webhook_renewed": _("Webhook address renewed"),
            "sms.channel_closed": _("SMS account stopped taking messages"),
            "sms.channel_reopened": _("SMS channel reopened"),
            "sms.test_sent": _("Test message sent"),
        }
    )
    audit.register_fields(
        {
            "title": _("Title"),
            "kind": _("Provider"),
            "base_url": _("Address of the provider"),
            "lines": _("Sender lines"),
            "rate_per_second": _("Messages a second at most"),
            "is_active": _("Active"),
            "credentials": _("User name and password"),
            "primary_account": _("Primary account"),
            "opt_out_text": _("Opt-out text"),
            "backoff_minutes": _("Minutes of pause after a fault of the account"),
            "webhook_token": _("Webhook address"),
            "paused_until": _("Paused until"),
            "paused_reason": _("Reason of the pause"),
            "sms_log": _("Message number"),
        }
    )
