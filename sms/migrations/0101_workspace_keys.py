"""What happened to a message belongs to the message's workspace, in the database too."""

from django.db import migrations

from core.migration_keys import SameWorkspace, WorkspaceKey


class Migration(migrations.Migration):
    dependencies = [("sms", "0100_append_only")]

    operations = [
        WorkspaceKey("sms_smslog"),
        SameWorkspace("sms_smslogevent", "sms_log_id", "sms_smslog"),
    ]
