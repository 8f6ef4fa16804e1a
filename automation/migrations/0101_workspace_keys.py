"""Workflows, campaigns and walks name only rows of their own workspace, in the database too."""

from django.db import migrations

from core.migration_keys import SameWorkspace, WorkspaceKey

WORKFLOW = "automation_workflow"
VERSION = "automation_workflowversion"
NODE = "automation_workflownode"
EXECUTION = "automation_workflowexecution"
EVENT = "automation_workflowexecutionevent"
CAMPAIGN = "campaigns_campaign"


class Migration(migrations.Migration):
    dependencies = [
        ("automation", "0100_append_only"),
        ("campaigns", "0001_initial"),
        ("targets", "0100_workspace_keys"),
    ]

    operations = [
        *(WorkspaceKey(table) for table in (WORKFLOW, VERSION, NODE, EXECUTION, CAMPAIGN)),
        SameWorkspace(WORKFLOW, "published_version_id", VERSION),
        SameWorkspace(VERSION, "workflow_id", WORKFLOW),
        SameWorkspace(NODE, "version_id", VERSION),
        SameWorkspace("automation_workflowedge", "version_id", VERSION),
        SameWorkspace("automation_workflowedge", "from_node_id", NODE),
        SameWorkspace("automation_workflowedge", "to_node_id", NODE),
        SameWorkspace(CAMPAIGN, "workflow_id", WORKFLOW),
        SameWorkspace(CAMPAIGN, "workflow_version_id", VERSION),
        SameWorkspace(CAMPAIGN, "source_target_list_id", "targets_targetlist"),
        SameWorkspace(EXECUTION, "campaign_id", CAMPAIGN),
        SameWorkspace(EXECUTION, "workflow_id", WORKFLOW),
        SameWorkspace(EXECUTION, "workflow_version_id", VERSION),
        SameWorkspace(EXECUTION, "current_node_id", NODE),
        SameWorkspace(EVENT, "execution_id", EXECUTION),
        SameWorkspace(EVENT, "campaign_id", CAMPAIGN),
        SameWorkspace(EVENT, "node_id", NODE),
        SameWorkspace("campaigns_enrollmentbatch", "campaign_id", CAMPAIGN),
    ]
