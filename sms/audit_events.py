"""What the audit log says of changes to the SMS channel."""

from __future__ import annotations

from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from workspaces import audit

EVENTS: Final[dict[str, str | Promise]] = {
    "sms.account_added": _("SMS account added"),
    "sms.account_changed": _("SMS account changed"),
    "sms.account_made_primary": _("Primary SMS account changed"),
    "sms.fallback_changed": _("Order of the SMS accounts changed"),
    "sms.lines_changed": _("Kinds of the sender lines changed"),
    "sms.settings_changed": _("SMS settings changed"),
    "sms.webhook_renewed": _("Webhook address renewed"),
    "sms.inbound_changed": _("Settings of inbound messages changed"),
    "sms.price_added": _("Price added"),
    "sms.price_removed": _("Price removed"),
    "sms.usage_exported": _("Usage downloaded"),
    "sms.channel_closed": _("SMS account stopped taking messages"),
    "sms.channel_reopened": _("SMS channel reopened"),
    "sms.test_sent": _("Test message sent"),
    "sms.credit_low": _("SMS credit is running low"),
    "sms.lookup_asked": _("Unknown outcome to be looked up again"),
    "sms.asked_back": _("A blocked person asked for messages again"),
    "sms.retry_asked": _("Failed message to be sent again"),
    "sms.template_added": _("SMS template added"),
    "sms.template_changed": _("SMS template changed"),
    "sms.template_removed": _("SMS template removed"),
    "sms.line_rules_changed": _("Hours of a sender line changed"),
    "sms.logs_exported": _("Message log downloaded"),
}
FIELDS: Final[dict[str, str | Promise]] = {
    "title": _("Title"),
    "kind": _("Provider"),
    "base_url": _("Address of the provider"),
    "lines": _("Sender lines"),
    "rate_per_second": _("Messages a second at most"),
    "is_active": _("Active"),
    "credentials": _("User name and password"),
    "primary_account": _("Primary account"),
    "fallback": _("Accounts that stand in"),
    "line_details": _("Kinds of the sender lines"),
    "batch_size": _("Messages in one call at most"),
    "options": _("Description of the provider"),
    "opt_out_text": _("Opt-out text"),
    "backoff_minutes": _("Minutes of pause after a fault of the account"),
    "webhook_token": _("Webhook address"),
    "paused_until": _("Paused until"),
    "paused_reason": _("Reason of the pause"),
    "sms_log": _("Message number"),
    "inbound": _("Number of the received message"),
    "retry_of": _("Again after message number"),
    "retry_reason": _("Why it is sent again"),
    "name": _("Name"),
    "body": _("Text"),
    "operator": _("Operator"),
    "window": _("Hours"),
    "finality_hours": _("Hours until delivery reports end"),
    "credit": _("Credit"),
    "low_credit_below": _("Notice when credit is below"),
    "frequency_messages": _("Messages to one number at most"),
    "frequency_days": _("In so many days"),
    "forbidden_words": _("Words that are not allowed"),
    "refuse_links": _("Links are not allowed"),
    "line": _("Line"),
    "script": _("Script"),
    "rials": _("Rials for a part"),
    "valid_from": _("From day"),
    "month": _("Month"),
    "rows": _("Rows"),
    "format": _("File"),
    "opt_out_words": _("Further words for no"),
    "opt_in_words": _("Further words for yes again"),
    "confirmation": _("Confirmation of an opt-out"),
    "sender_param": _("Name of the sender's number"),
    "line_param": _("Name of our line"),
    "text_param": _("Name of the text"),
    "reference_param": _("Name of the provider's id"),
}


def register() -> None:
    """Called once, from the app's `ready`."""
    audit.register_events(EVENTS)
    audit.register_fields(FIELDS)
