"""The ledger and what came in are append-only, and what they name lies in their own workspace."""

from django.db import migrations

from core.migration_keys import SameWorkspace, WorkspaceKey
from core.migration_operations import AppendOnly


class Migration(migrations.Migration):
    dependencies = [("sms", "0103_usage_and_inbound")]

    operations = [
        AppendOnly("sms_smsusage"),
        AppendOnly("sms_inboundsms"),
        AppendOnly("sms_inboundoutcome"),
        WorkspaceKey("sms_inboundsms"),
        SameWorkspace("sms_smsusage", "sms_log_id", "sms_smslog"),
        SameWorkspace("sms_inboundoutcome", "inbound_id", "sms_inboundsms"),
        SameWorkspace("sms_inboundoutcome", "reply_id", "sms_smslog"),
    ]
