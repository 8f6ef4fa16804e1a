"""The message of a row of the ledger is checked once a statement; an index that another one begins with goes.

Messages are never deleted and never change their workspace, so no lock is needed. PostgreSQL only, but for
the rule that their workspace stays.
"""

from django.db import migrations

from core.migration_operations import CheckedTogether, PostgreSQLOnly, Unchangeable

USAGE = "sms_smsusage"
LOG = "sms_smslog"

# The rows are few and the table large: the planner may not read all of it on account of a cached plan.
CHECK = f"""
SET enable_seqscan = off AS $$
BEGIN
    IF EXISTS (
        SELECT 1 FROM fresh f LEFT JOIN {LOG} l ON l.id = f.sms_log_id
        WHERE l.workspace_id IS DISTINCT FROM f.workspace_id
    ) THEN
        RAISE EXCEPTION '{USAGE}_sms_log_id_in_workspace' USING ERRCODE = 'foreign_key_violation';
    END IF;
    RETURN NULL;
END
$$
"""  # noqa: S608  # the names are those above


class Migration(migrations.Migration):
    dependencies = [("sms", "0110_counted_by_campaign")]

    operations = [
        Unchangeable(LOG, columns=["workspace_id"]),
        CheckedTogether(USAGE, CHECK, why="The message of a row of the ledger is checked once a statement"),
        PostgreSQLOnly(
            [f"ALTER TABLE {USAGE} DROP CONSTRAINT {USAGE}_sms_log_id_in_workspace"],
            [
                f"ALTER TABLE {USAGE} ADD CONSTRAINT {USAGE}_sms_log_id_in_workspace "
                f"FOREIGN KEY (workspace_id, sms_log_id) REFERENCES {LOG} (workspace_id, id) "
                "DEFERRABLE INITIALLY DEFERRED"
            ],
            why="Its foreign key, one look-up and one lock a row, goes",
        ),
        PostgreSQLOnly(
            [f"DROP INDEX IF EXISTS {USAGE}_workspace_id_449945e7"],
            [f"CREATE INDEX {USAGE}_workspace_id_449945e7 ON {USAGE} (workspace_id)"],
            why="Drop an index that another one begins with",
        ),
    ]
