"""Messages are never deleted, and what happened to them is append-only."""

from django.db import migrations

from core.migration_operations import AppendOnly, Undeletable


class Migration(migrations.Migration):
    dependencies = [("sms", "0001_initial")]

    operations = [AppendOnly("sms_smslogevent"), Undeletable("sms_smslog")]
