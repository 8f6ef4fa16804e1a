"""The execution of a line of history is checked with its campaign and step, once a statement.

A send step writes some four lines of history a walk and rewrites the walk three times. The foreign key was one
look-up and one row lock for each line, and needed an index over (workspace, id) that every one of those
rewrites paid for. Executions are never deleted and never change their workspace, so no lock is needed.
PostgreSQL only.
"""

from importlib import import_module

from django.db import migrations

from core.migration_operations import PostgreSQLOnly

EVENT = "automation_workflowexecutionevent"
EXECUTION = "automation_workflowexecution"
NODE = "automation_workflownode"
BEFORE = import_module("automation.migrations.0106_set_wise_history").CHECK

# The lines are few and the tables large: the planner may not read all of a table on account of a cached plan.
CHECK = f"""
SET enable_seqscan = off AS $$
DECLARE
    walk_is_foreign boolean;
    campaign_is_foreign boolean;
BEGIN
    PERFORM 1 FROM {NODE} n WHERE n.id IN (SELECT node_id FROM fresh) FOR KEY SHARE;
    IF EXISTS (
        SELECT 1 FROM (SELECT DISTINCT workspace_id, node_id FROM fresh WHERE node_id IS NOT NULL) f
        LEFT JOIN {NODE} n ON n.id = f.node_id
        WHERE n.workspace_id IS DISTINCT FROM f.workspace_id
    ) THEN
        RAISE EXCEPTION '{EVENT}_node_id_in_workspace' USING ERRCODE = 'foreign_key_violation';
    END IF;
    SELECT bool_or(e.workspace_id IS DISTINCT FROM f.workspace_id),
           bool_or(e.campaign_id IS DISTINCT FROM f.campaign_id)
    INTO walk_is_foreign, campaign_is_foreign
    FROM (SELECT DISTINCT workspace_id, campaign_id, execution_id FROM fresh) f
    LEFT JOIN {EXECUTION} e ON e.id = f.execution_id;
    IF walk_is_foreign THEN
        RAISE EXCEPTION '{EVENT}_execution_id_in_workspace' USING ERRCODE = 'foreign_key_violation';
    ELSIF campaign_is_foreign THEN
        RAISE EXCEPTION '{EVENT}_campaign_id_in_workspace' USING ERRCODE = 'foreign_key_violation';
    END IF;
    RETURN NULL;
END
$$
"""  # noqa: S608  # the names are those above
FUNCTION = f"CREATE OR REPLACE FUNCTION {EVENT}_belongs() RETURNS trigger LANGUAGE plpgsql "


class Migration(migrations.Migration):
    dependencies = [("automation", "0111_counted_by_campaign")]

    operations = [
        PostgreSQLOnly(
            [FUNCTION + CHECK], [FUNCTION + BEFORE],
            why="The execution of a line of history is checked once a statement",
        ),
        PostgreSQLOnly(
            [
                f"ALTER TABLE {EVENT} DROP CONSTRAINT {EVENT}_execution_id_in_workspace",
                f"ALTER TABLE {EXECUTION} DROP CONSTRAINT {EXECUTION}_of_workspace",
            ],
            [
                f"ALTER TABLE {EXECUTION} ADD CONSTRAINT {EXECUTION}_of_workspace UNIQUE (workspace_id, id)",
                f"ALTER TABLE {EVENT} ADD CONSTRAINT {EVENT}_execution_id_in_workspace "
                f"FOREIGN KEY (workspace_id, execution_id) REFERENCES {EXECUTION} (workspace_id, id) "
                "DEFERRABLE INITIALLY DEFERRED",
            ],
            why="Its foreign key goes, and the key that it alone needed",
        ),
        PostgreSQLOnly(
            [
                f"CREATE INDEX execution_of_workflow ON {EXECUTION} USING brin (workflow_id) "
                "WITH (pages_per_range = 32, autosummarize = on)",
                f"DROP INDEX IF EXISTS {EXECUTION}_workflow_id_0f79d900",
            ],
            [
                f"CREATE INDEX {EXECUTION}_workflow_id_0f79d900 ON {EXECUTION} (workflow_id)",
                "DROP INDEX execution_of_workflow",
            ],
            why="Whoever asks for a workflow's walks names its campaigns; its deletion asks a block range index",
        ),
    ]  # fmt: skip
