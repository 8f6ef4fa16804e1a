"""What a line of history names is checked once a statement, and indexes that only cost writes go.

A send step writes four lines of history and moves its execution twice. A foreign key is one query a row; an
index is one more page to write for every row. PostgreSQL only: SQLite keeps what Django made.
"""

from django.db import migrations

from core.migration_keys import ImpliedWorkspace
from core.migration_operations import CheckedTogether, PostgreSQLOnly

EVENT = "automation_workflowexecutionevent"
EXECUTION = "automation_workflowexecution"
NODE = "automation_workflownode"
CAMPAIGN = "campaigns_campaign"

# The campaign of a line is its execution's, which exists and stays; its node is one of the workspace, and
# those of a published version are never deleted (`FrozenWithParent`). Locked as a foreign key locks them.
# The lines are few and the tables large: the planner may not read all of a table on account of a cached plan.
CHECK = f"""
SET enable_seqscan = off AS $$
BEGIN
    PERFORM 1 FROM {NODE} n WHERE n.id IN (SELECT node_id FROM fresh) FOR KEY SHARE;
    IF EXISTS (
        SELECT 1 FROM fresh f LEFT JOIN {NODE} n ON n.id = f.node_id
        WHERE f.node_id IS NOT NULL AND n.workspace_id IS DISTINCT FROM f.workspace_id
    ) THEN
        RAISE EXCEPTION '{EVENT}_node_id_in_workspace' USING ERRCODE = 'foreign_key_violation';
    END IF;
    IF EXISTS (
        SELECT 1 FROM fresh f JOIN {EXECUTION} e ON e.id = f.execution_id
        WHERE e.campaign_id IS DISTINCT FROM f.campaign_id
    ) THEN
        RAISE EXCEPTION '{EVENT}_campaign_id_in_workspace' USING ERRCODE = 'foreign_key_violation';
    END IF;
    RETURN NULL;
END
$$
"""  # noqa: S608  # the names are those above


def _key(column: str, parent: str) -> str:
    return (
        f"ALTER TABLE {EVENT} ADD CONSTRAINT {EVENT}_{column}_in_workspace FOREIGN KEY (workspace_id, {column}) "
        f"REFERENCES {parent} (workspace_id, id) DEFERRABLE INITIALLY DEFERRED"
    )


# A new node or version is looked for when it is deleted again: a block range that never held such a number
# is passed over. Whatever asks for the rows of one campaign has an index that begins with the campaign.
WORTHLESS = {
    f"{EVENT}_workspace_id_05ad60d4": (EVENT, "workspace_id"),
    f"{EVENT}_campaign_id_0df93d79": (EVENT, "campaign_id"),
    f"{EVENT}_execution_id_670acc02": (EVENT, "execution_id"),
    f"{EVENT}_actor_user_id_a332e00f": (EVENT, "actor_user_id"),
    f"{EVENT}_node_id_e696e8d6": (EVENT, "node_id"),
    f"{EXECUTION}_campaign_id_2fa7370c": (EXECUTION, "campaign_id"),
    f"{EXECUTION}_current_node_id_84378933": (EXECUTION, "current_node_id"),
    f"{EXECUTION}_workflow_version_id_26c483d7": (EXECUTION, "workflow_version_id"),
}
CHEAPER = {
    "event_by_actor": f"{EVENT} (actor_user_id) WHERE actor_user_id IS NOT NULL",
    "event_of_node": f"{EVENT} USING brin (node_id) WITH (pages_per_range = 32, autosummarize = on)",
    "execution_at_node": f"{EXECUTION} USING brin (current_node_id) WITH (pages_per_range = 32, autosummarize = on)",
    "execution_of_version": (
        f"{EXECUTION} USING brin (workflow_version_id) WITH (pages_per_range = 32, autosummarize = on)"
    ),
}


class Migration(migrations.Migration):
    dependencies = [("automation", "0105_poisoned_index")]

    operations = [
        CheckedTogether(
            EVENT, CHECK, why="Campaign and step of a line of history are checked once a statement"
        ),
        PostgreSQLOnly(
            [
                f"ALTER TABLE {EVENT} DROP CONSTRAINT {EVENT}_node_id_in_workspace",
                f"ALTER TABLE {EVENT} DROP CONSTRAINT {EVENT}_campaign_id_in_workspace",
            ],
            [
                _key("campaign_id", CAMPAIGN),
                _key("node_id", NODE),
            ],
            why="Their foreign keys, one look-up a row, go",
        ),
        ImpliedWorkspace(EVENT),
        PostgreSQLOnly(
            [f"CREATE INDEX {name} ON {what}" for name, what in CHEAPER.items()],
            [f"DROP INDEX {name}" for name in CHEAPER],
            why="Indexes that cost a write nothing",
        ),
        PostgreSQLOnly(
            [f"DROP INDEX IF EXISTS {name}" for name in WORTHLESS],
            [f"CREATE INDEX {name} ON {table} ({column})" for name, (table, column) in WORTHLESS.items()],
            why="Drop indexes that another one begins with, or that only a deletion asks",
        ),
    ]
