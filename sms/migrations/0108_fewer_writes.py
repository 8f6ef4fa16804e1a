"""Two indexes of messages that PostgreSQL has twice, and a key of the ledger that follows from another."""

from django.db import migrations

from core.migration_keys import ImpliedWorkspace
from core.migration_operations import PostgreSQLOnly

# (workspace_id, id) is unique and read backwards as well as forwards; nobody searches keys by their beginning.
TWICE = {
    "sms_newest": "sms_smslog (workspace_id, id DESC)",
    "sms_smslog_idempotency_key_af389b57_like": "sms_smslog (idempotency_key varchar_pattern_ops)",
}


class Migration(migrations.Migration):
    dependencies = [("sms", "0107_inbound_pending_guard")]

    operations = [
        ImpliedWorkspace("sms_smsusage"),
        PostgreSQLOnly(
            [f"DROP INDEX IF EXISTS {name}" for name in TWICE],
            [f"CREATE INDEX {name} ON {what}" for name, what in TWICE.items()],
            why="Drop indexes of messages that another one serves",
        ),
    ]
