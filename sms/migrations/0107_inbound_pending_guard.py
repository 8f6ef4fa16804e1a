"""What waits to be worked on lies in its message's workspace, in the database too."""

from django.db import migrations

from core.migration_keys import SameWorkspace


class Migration(migrations.Migration):
    dependencies = [("sms", "0106_inbound_pending")]

    operations = [SameWorkspace("sms_inboundpending", "inbound_id", "sms_inboundsms")]
