"""Who may do what at which address: the one list the access tests read.

Every named address of the site needs a row, else `test_urls.py` fails and says which one:

    "campaigns:pause": Row({"POST": Perm.CAMPAIGNS_MANAGE}, a_campaign),

`methods` maps each method the address answers to who may use it: PUBLIC, SIGNED_IN, MEMBER (any role),
one permission, or a tuple of permissions of which one is enough. `kwargs` makes what the address names,
in the workspace it is given (inside its scope) and belonging to the person who is going to ask; such an
address must be 404 for another workspace's owner.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from automation import publishing
from automation.models import WorkflowExecution, WorkflowNode, WorkflowTemplate
from blacklist.models import BlacklistEntry
from campaigns.models import Campaign, CampaignJob, EnrollmentBatch
from sms.models import LineRule, ProviderAccount, SmsLog, SmsPrice, SmsTemplate
from targets.models import Activity, ImportJob, ImportStatus, Target, TargetList
from tests.factories import make
from workspaces.models import ApiToken, Membership, User, Workspace
from workspaces.permissions import Perm

PUBLIC, SIGNED_IN, MEMBER = "public", "signed-in", "member"
SEES_PEOPLE = (Perm.TARGETS_VIEW, Perm.TARGETS_VIEW_OWN)
SEES_BLACKLIST = (Perm.BLACKLIST_VIEW, Perm.BLACKLIST_MANAGE)

Access = str | tuple[str, ...]
Kwargs = Callable[[Workspace, User], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Row:
    """`foreign`: whether another workspace's object must be 404 (when `kwargs` names one).

    `json`: answers JSON whatever is asked for, so a visitor gets 401 and not the sign-in page.
    `csrf_exempt`: called by machines without a session. `query` is added to the address and `data` to
    what is posted where the view needs it to answer at all; `body_json`: it is posted as JSON.
    `empty`: what an empty form means here when it is none of the usual answers. `audited`: reading leaves
    a row in the audit log, and nothing else.
    """

    methods: Mapping[str, Access]
    kwargs: Kwargs | None = None
    foreign: bool = True
    json: bool = False
    csrf_exempt: bool = False
    query: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    body_json: bool = False
    empty: int = 0
    audited: bool = False


def a_member(workspace: Workspace, user: User) -> Mapping[str, Any]:
    return {"pk": make(Membership, workspace).pk}


def a_chapter(workspace: Workspace, user: User) -> Mapping[str, Any]:
    return {"chapter": "campaign"}


def no_picture(workspace: Workspace, user: User) -> Mapping[str, Any]:
    return {"language": "fa", "name": "never-made"}


def a_token(workspace: Workspace, user: User) -> Mapping[str, Any]:
    return {"pk": make(ApiToken, workspace).pk}


def no_invitation(workspace: Workspace, user: User) -> Mapping[str, Any]:
    return {"who": "MQ", "token": "never-made"}


def no_webhook(workspace: Workspace, user: User) -> Mapping[str, Any]:
    return {"provider": "melipayamak", "token": "never-made-never-made"}


def no_relay(workspace: Workspace, user: User) -> Mapping[str, Any]:
    return {"token": "never-made-never-made"}


def a_price(workspace: Workspace, user: User) -> Mapping[str, Any]:
    return {"pk": make(SmsPrice, workspace).pk}


def a_usage_file(workspace: Workspace, user: User) -> Mapping[str, Any]:
    return {"what": "messages", "kind": "csv"}


def a_target(workspace: Workspace, user: User) -> Mapping[str, Any]:
    return {"target_id": make(Target, workspace, owner=user).pk}


def an_activity(workspace: Workspace, user: User) -> Mapping[str, Any]:
    return {"activity_id": make(Activity, workspace, target=make(Target, workspace, owner=user)).pk}


def a_list(workspace: Workspace, user: User) -> Mapping[str, Any]:
    return {"list_id": make(TargetList, workspace, created_by=user).pk}


def an_import(workspace: Workspace, user: User) -> Mapping[str, Any]:
    return {"job_id": make(ImportJob, workspace, status=ImportStatus.DONE, created_by=user).pk}


def an_entry(workspace: Workspace, user: User) -> Mapping[str, Any]:
    return {"entry_id": make(BlacklistEntry, workspace).pk}


def a_spreadsheet(workspace: Workspace, user: User) -> Mapping[str, Any]:
    return {"kind": "xlsx"}


def a_message(workspace: Workspace, user: User) -> Mapping[str, Any]:
    return {"pk": make(SmsLog, workspace).pk}


def a_template(workspace: Workspace, user: User) -> Mapping[str, Any]:
    return {"pk": make(SmsTemplate, workspace).pk}


def a_line_rule(workspace: Workspace, user: User) -> Mapping[str, Any]:
    return {"pk": make(LineRule, workspace).pk}


def an_account(workspace: Workspace, user: User) -> Mapping[str, Any]:
    return {"pk": make(ProviderAccount, workspace).pk}


def the_automation_section(workspace: Workspace, user: User) -> Mapping[str, Any]:
    return {"key": "automation"}


def a_workflow(workspace: Workspace, user: User) -> Mapping[str, Any]:
    return {"pk": publishing.create_workflow(name="Welcome", template_key=None, user=user).pk}


def a_version(workspace: Workspace, user: User) -> Mapping[str, Any]:
    return {**a_workflow(workspace, user), "number": 1}


def a_step(workspace: Workspace, user: User) -> Mapping[str, Any]:
    kwargs = a_workflow(workspace, user)
    node = WorkflowNode.objects.filter(version__workflow_id=kwargs["pk"]).order_by("pk")[0]
    return {**kwargs, "key": node.node_key}


def a_message_step(workspace: Workspace, user: User) -> Mapping[str, Any]:
    made = publishing.create_workflow(name="News", template_key="single_message", user=user)
    kwargs = {"pk": made.pk}
    node = WorkflowNode.objects.get(version__workflow_id=kwargs["pk"], type="action")
    return {**kwargs, "key": node.node_key}


def an_own_template(workspace: Workspace, user: User) -> Mapping[str, Any]:
    return {"pk": make(WorkflowTemplate, workspace, created_by=user).pk}


def a_campaign(workspace: Workspace, user: User) -> Mapping[str, Any]:
    return {"pk": make(Campaign, workspace, created_by=user).pk}


def a_campaign_file(workspace: Workspace, user: User) -> Mapping[str, Any]:
    return {**a_campaign(workspace, user), **a_spreadsheet(workspace, user)}


def a_walk(workspace: Workspace, user: User) -> Mapping[str, Any]:
    return {"pk": make(WorkflowExecution, workspace, subject_id=make(Target, workspace, owner=user).pk).pk}


def a_batch(workspace: Workspace, user: User) -> Mapping[str, Any]:
    return {"pk": make(EnrollmentBatch, workspace, created_by=user).pk}


def a_job(workspace: Workspace, user: User) -> Mapping[str, Any]:
    order = {"operation": "pause", "filter": {}}
    return {"pk": make(CampaignJob, workspace, created_by=user, order=order).pk}


def somebody_in_a_batch(workspace: Workspace, user: User) -> Mapping[str, Any]:
    return {**a_batch(workspace, user), "subject_id": make(Target, workspace, owner=user).pk}


def named(key: str, kwargs: Kwargs, other: str = "pk") -> Kwargs:
    """The same object under the name that its JSON address gives it."""

    def renamed(workspace: Workspace, user: User) -> Mapping[str, Any]:
        made = dict(kwargs(workspace, user))
        return {key: made.pop(other), **made}

    return renamed


CORE = {
    "core:healthz": Row({"GET": PUBLIC}),
    "core:metrics": Row({"GET": PUBLIC}),
}

WORKSPACES = {
    "workspaces:home": Row({"GET": MEMBER}),
    "workspaces:search": Row({"GET": MEMBER}),
    "workspaces:search-suggestions": Row({"GET": MEMBER}),
    "workspaces:sign-in": Row({"GET": PUBLIC, "POST": PUBLIC}),
    "workspaces:sign-out": Row({"POST": PUBLIC}),
    "workspaces:invitation": Row({"GET": PUBLIC, "POST": PUBLIC}, no_invitation, foreign=False),
    "workspaces:set-language": Row({"POST": PUBLIC}),
    "workspaces:workspace-list": Row({"GET": SIGNED_IN}),
    "workspaces:switch": Row({"POST": SIGNED_IN}, empty=404),
    "workspaces:account": Row({"GET": SIGNED_IN, "POST": SIGNED_IN}),
    "workspaces:change-password": Row({"GET": SIGNED_IN, "POST": SIGNED_IN}),
    "workspaces:settings": Row({"GET": Perm.WORKSPACE_MANAGE, "POST": Perm.WORKSPACE_MANAGE}),
    "workspaces:members": Row({"GET": Perm.WORKSPACE_MEMBERS}),
    "workspaces:members-export": Row(
        {"GET": Perm.WORKSPACE_MEMBERS}, a_spreadsheet, foreign=False, audited=True
    ),
    "workspaces:member-add": Row({"POST": Perm.WORKSPACE_MEMBERS}),
    "workspaces:member-role": Row({"POST": Perm.WORKSPACE_MEMBERS}, a_member),
    "workspaces:member-remove": Row({"POST": Perm.WORKSPACE_MEMBERS}, a_member),
    "workspaces:member-invite": Row({"POST": Perm.WORKSPACE_MEMBERS}, a_member),
    "workspaces:audit": Row({"GET": Perm.WORKSPACE_AUDIT}),
    "workspaces:audit-export": Row({"GET": Perm.WORKSPACE_AUDIT}, a_spreadsheet, foreign=False, audited=True),
    "workspaces:tokens": Row({"GET": Perm.WORKSPACE_MANAGE}),
    "workspaces:tokens-export": Row(
        {"GET": Perm.WORKSPACE_MANAGE}, a_spreadsheet, foreign=False, audited=True
    ),
    "workspaces:token-add": Row({"GET": Perm.WORKSPACE_MANAGE, "POST": Perm.WORKSPACE_MANAGE}),
    "workspaces:token-revoke": Row({"POST": Perm.WORKSPACE_MANAGE}, a_token),
    "workspaces:guide": Row({"GET": SIGNED_IN}),
    "workspaces:guide-chapter": Row({"GET": SIGNED_IN}, a_chapter, foreign=False),
    "workspaces:guide-picture": Row({"GET": SIGNED_IN}, no_picture, foreign=False, empty=404),
}

TARGETS = {
    "targets:list": Row({"GET": SEES_PEOPLE}),
    "targets:export": Row({"GET": SEES_PEOPLE}, a_spreadsheet, foreign=False, audited=True),
    "targets:new": Row({"GET": Perm.TARGETS_MANAGE, "POST": Perm.TARGETS_MANAGE}),
    "targets:selection": Row({"POST": Perm.TARGETS_MANAGE}),
    "targets:detail": Row({"GET": SEES_PEOPLE}, a_target),
    "targets:edit": Row({"GET": Perm.TARGETS_MANAGE, "POST": Perm.TARGETS_MANAGE}, a_target),
    "targets:delete": Row({"GET": Perm.TARGETS_MANAGE, "POST": Perm.TARGETS_MANAGE}, a_target),
    "targets:set-list": Row({"POST": Perm.TARGETS_MANAGE}, a_target),
    "targets:block": Row({"POST": Perm.BLACKLIST_MANAGE}, a_target),
    "targets:unblock": Row({"POST": Perm.BLACKLIST_MANAGE}, a_target),
    "targets:activities": Row({"GET": SEES_PEOPLE}),
    "targets:activities-export": Row({"GET": SEES_PEOPLE}, a_spreadsheet, foreign=False, audited=True),
    "targets:activity-new": Row({"GET": Perm.ACTIVITIES_MANAGE, "POST": Perm.ACTIVITIES_MANAGE}, a_target),
    "targets:activity-edit": Row(
        {"GET": Perm.ACTIVITIES_MANAGE, "POST": Perm.ACTIVITIES_MANAGE}, an_activity
    ),
    "targets:activity-done": Row({"POST": Perm.ACTIVITIES_MANAGE}, an_activity),
    "targets:activity-reopen": Row({"POST": Perm.ACTIVITIES_MANAGE}, an_activity),
    "targets:lists": Row({"GET": SEES_PEOPLE}),
    "targets:lists-export": Row({"GET": SEES_PEOPLE}, a_spreadsheet, foreign=False, audited=True),
    "targets:list-new": Row({"GET": Perm.TARGETS_MANAGE, "POST": Perm.TARGETS_MANAGE}),
    "targets:list-edit": Row({"GET": Perm.TARGETS_MANAGE, "POST": Perm.TARGETS_MANAGE}, a_list),
    "targets:list-delete": Row({"POST": Perm.TARGETS_MANAGE}, a_list),
    "targets:imports": Row({"GET": Perm.TARGETS_IMPORT}),
    "targets:imports-export": Row({"GET": Perm.TARGETS_IMPORT}, a_spreadsheet, foreign=False, audited=True),
    "targets:import-new": Row({"GET": Perm.TARGETS_IMPORT, "POST": Perm.TARGETS_IMPORT}),
    "targets:import": Row({"GET": Perm.TARGETS_IMPORT}, an_import),
    "targets:import-preview": Row({"POST": Perm.TARGETS_IMPORT}, an_import),
    "targets:import-start": Row({"POST": Perm.TARGETS_IMPORT}, an_import),
    "targets:import-resume": Row({"POST": Perm.TARGETS_IMPORT}, an_import),
    "targets:import-discard": Row({"POST": Perm.TARGETS_IMPORT}, an_import),
    "targets:import-progress": Row({"GET": Perm.TARGETS_IMPORT}, an_import),
    "targets:import-refused": Row({"GET": Perm.TARGETS_IMPORT}, an_import),
}

BLACKLIST = {
    "blacklist:list": Row({"GET": SEES_BLACKLIST}),
    "blacklist:add": Row({"POST": Perm.BLACKLIST_MANAGE}),
    "blacklist:import": Row({"GET": Perm.BLACKLIST_MANAGE, "POST": Perm.BLACKLIST_MANAGE}),
    "blacklist:export": Row({"GET": SEES_BLACKLIST}, a_spreadsheet, foreign=False, audited=True),
    "blacklist:deactivate": Row({"POST": Perm.BLACKLIST_MANAGE}, an_entry),
    "blacklist:reactivate": Row({"POST": Perm.BLACKLIST_MANAGE}, an_entry),
}

SMS = {
    "sms:settings": Row({"GET": Perm.SETTINGS_MANAGE}),
    "sms:channel": Row({"POST": Perm.SETTINGS_MANAGE}),
    "sms:section": Row({"POST": Perm.SETTINGS_MANAGE}, the_automation_section, foreign=False),
    "sms:webhook-renew": Row({"POST": Perm.SETTINGS_MANAGE}),
    "sms:reopen": Row({"POST": Perm.SETTINGS_MANAGE}),
    "sms:account-add": Row({"GET": Perm.SETTINGS_MANAGE, "POST": Perm.SETTINGS_MANAGE}),
    "sms:account": Row({"GET": Perm.SETTINGS_MANAGE, "POST": Perm.SETTINGS_MANAGE}, an_account),
    "sms:account-primary": Row({"POST": Perm.SETTINGS_MANAGE}, an_account),
    "sms:account-lines": Row({"POST": Perm.SETTINGS_MANAGE}, an_account),
    "sms:account-fallback": Row({"POST": Perm.SETTINGS_MANAGE}, an_account),
    "sms:account-check": Row({"POST": Perm.SETTINGS_MANAGE}, an_account),
    "sms:account-test": Row({"POST": Perm.SETTINGS_MANAGE}, an_account),
    "sms:logs": Row({"GET": Perm.SMS_LOGS_VIEW}),
    "sms:log": Row({"GET": Perm.SMS_LOGS_VIEW}, a_message),
    "sms:logs-export": Row({"GET": Perm.SMS_LOGS_VIEW}, a_spreadsheet, foreign=False, audited=True),
    "sms:retry": Row({"POST": Perm.SUPPORT}, a_message),
    "sms:unknown": Row({"GET": Perm.SMS_LOGS_VIEW}),
    "sms:unknown-export": Row({"GET": Perm.SMS_LOGS_VIEW}, a_spreadsheet, foreign=False, audited=True),
    "sms:look-again": Row({"POST": Perm.SUPPORT}, a_message),
    "sms:templates": Row({"GET": Perm.SMS_TEMPLATES_MANAGE}),
    "sms:templates-export": Row(
        {"GET": Perm.SMS_TEMPLATES_MANAGE}, a_spreadsheet, foreign=False, audited=True
    ),
    "sms:template-add": Row({"GET": Perm.SMS_TEMPLATES_MANAGE, "POST": Perm.SMS_TEMPLATES_MANAGE}),
    "sms:template": Row({"GET": Perm.SMS_TEMPLATES_MANAGE, "POST": Perm.SMS_TEMPLATES_MANAGE}, a_template),
    "sms:template-delete": Row({"POST": Perm.SMS_TEMPLATES_MANAGE}, a_template),
    "sms:template-preview": Row({"POST": Perm.SMS_TEMPLATES_MANAGE}),
    "sms:line-rules": Row({"GET": Perm.SETTINGS_MANAGE, "POST": Perm.SETTINGS_MANAGE}),
    "sms:line-rules-export": Row({"GET": Perm.SETTINGS_MANAGE}, a_spreadsheet, foreign=False, audited=True),
    "sms:line-rule-delete": Row({"POST": Perm.SETTINGS_MANAGE}, a_line_rule),
    "sms:inbound": Row({"GET": Perm.SMS_LOGS_VIEW}),
    "sms:inbound-export": Row({"GET": Perm.SMS_LOGS_VIEW}, a_spreadsheet, foreign=False, audited=True),
    "sms:inbound-settings": Row({"GET": Perm.SETTINGS_MANAGE, "POST": Perm.SETTINGS_MANAGE}),
    "sms:prices": Row({"GET": Perm.SETTINGS_MANAGE, "POST": Perm.SETTINGS_MANAGE}),
    "sms:price-remove": Row({"POST": Perm.SETTINGS_MANAGE}, a_price),
    "sms:usage": Row({"GET": Perm.SMS_LOGS_VIEW}),
    "sms:usage-export": Row({"GET": Perm.SMS_LOGS_VIEW}, a_usage_file, foreign=False, audited=True),
    "sms:relay": Row({"GET": PUBLIC, "POST": PUBLIC}, no_relay, foreign=False, csrf_exempt=True),
    "sms:webhook": Row({"POST": PUBLIC}, no_webhook, foreign=False, csrf_exempt=True),
}

AUTOMATION = {
    "automation:list": Row({"GET": Perm.WORKFLOWS_VIEW}),
    "automation:list-export": Row({"GET": Perm.WORKFLOWS_VIEW}, a_spreadsheet, foreign=False, audited=True),
    "automation:create": Row({"GET": Perm.WORKFLOWS_MANAGE, "POST": Perm.WORKFLOWS_MANAGE}),
    "automation:preview": Row({"POST": Perm.WORKFLOWS_MANAGE}),
    "automation:longest": Row({"POST": Perm.WORKFLOWS_MANAGE}),
    "automation:detail": Row({"GET": Perm.WORKFLOWS_VIEW}, a_workflow),
    "automation:rename": Row({"GET": Perm.WORKFLOWS_MANAGE, "POST": Perm.WORKFLOWS_MANAGE}, a_workflow),
    "automation:version": Row({"GET": Perm.WORKFLOWS_VIEW}, a_version),
    "automation:version-archive": Row({"POST": Perm.WORKFLOWS_MANAGE}, a_version),
    "automation:version-restore": Row({"POST": Perm.WORKFLOWS_MANAGE}, a_version),
    "automation:new-draft": Row({"POST": Perm.WORKFLOWS_MANAGE}, a_workflow),
    "automation:publish": Row({"POST": Perm.WORKFLOWS_PUBLISH}, a_workflow),
    "automation:publish-plan": Row({"GET": Perm.WORKFLOWS_VIEW}, a_workflow),
    "automation:archive": Row({"POST": Perm.WORKFLOWS_MANAGE}, a_workflow),
    "automation:restore": Row({"POST": Perm.WORKFLOWS_MANAGE}, a_workflow),
    "automation:builder": Row({"GET": Perm.WORKFLOWS_MANAGE}, a_workflow),
    "automation:region": Row({"GET": Perm.WORKFLOWS_MANAGE}, a_workflow),
    "automation:numbers": Row({"GET": Perm.CAMPAIGNS_VIEW}, a_workflow),
    "automation:history": Row({"GET": Perm.WORKSPACE_AUDIT}, a_workflow),
    "automation:save-template": Row({"POST": Perm.WORKFLOWS_MANAGE}, a_version),
    "automation:remove-template": Row({"POST": Perm.WORKFLOWS_MANAGE}, an_own_template),
    "automation:step-sheet": Row({"GET": Perm.WORKFLOWS_MANAGE}, a_step),
    "automation:step-menu": Row({"GET": Perm.WORKFLOWS_MANAGE}, a_message_step),
    "automation:settings": Row({"GET": Perm.WORKFLOWS_MANAGE, "POST": Perm.WORKFLOWS_MANAGE}, a_workflow),
    "automation:change": Row({"POST": Perm.WORKFLOWS_MANAGE}, a_workflow),
    "automation:step": Row({"GET": Perm.WORKFLOWS_MANAGE, "POST": Perm.WORKFLOWS_MANAGE}, a_step),
    "automation:canvas": Row({"GET": Perm.WORKFLOWS_MANAGE}, a_workflow),
    "automation:export": Row({"GET": Perm.WORKFLOWS_VIEW}, a_workflow),
    "automation:read-in": Row({"GET": Perm.WORKFLOWS_MANAGE, "POST": Perm.WORKFLOWS_MANAGE}, a_workflow),
    "automation:trial": Row({"GET": Perm.WORKFLOWS_MANAGE}, a_workflow),
    "automation:places": Row({"GET": Perm.WORKFLOWS_MANAGE}, a_step),
    "automation:people": Row({"GET": Perm.WORKFLOWS_MANAGE}),
}

STOPPING = {
    "campaigns:stop": Row({"GET": Perm.CAMPAIGNS_MANAGE}),
    "campaigns:stop-now": Row({"POST": Perm.CAMPAIGNS_MANAGE}),
    "campaigns:stop-resume": Row({"POST": Perm.CAMPAIGNS_MANAGE}),
    "campaigns:newcomers": Row({"GET": Perm.CAMPAIGNS_MANAGE, "POST": Perm.CAMPAIGNS_MANAGE}, a_campaign),
    "campaigns:newcomers-count": Row({"GET": Perm.CAMPAIGNS_MANAGE}, a_campaign),
    "campaigns:newcomers-off": Row({"POST": Perm.CAMPAIGNS_MANAGE}, a_campaign),
    "campaigns:enrol-large": Row({"GET": Perm.CAMPAIGNS_MANAGE, "POST": Perm.CAMPAIGNS_MANAGE}, a_campaign),
    "campaigns:large-groups": Row({"GET": Perm.CAMPAIGNS_MANAGE}, a_campaign),
    "campaigns:job": Row({"GET": Perm.CAMPAIGNS_MANAGE}, a_job),
    "campaigns:job-progress": Row({"GET": Perm.CAMPAIGNS_MANAGE}, a_job),
    "campaigns:job-cancel": Row({"POST": Perm.CAMPAIGNS_MANAGE}, a_job),
    "campaigns:batch-stop": Row({"POST": Perm.CAMPAIGNS_MANAGE}, a_batch),
    "campaigns:settling": Row({"GET": Perm.CAMPAIGNS_VIEW}, a_campaign),
}

CAMPAIGNS = {
    **STOPPING,
    "campaigns:list": Row({"GET": Perm.CAMPAIGNS_VIEW}),
    "campaigns:list-export": Row({"GET": Perm.CAMPAIGNS_VIEW}, a_spreadsheet, foreign=False, audited=True),
    "campaigns:health": Row({"GET": Perm.CAMPAIGNS_VIEW}),
    "campaigns:checkup": Row({"GET": Perm.SUPPORT}),
    "campaigns:checkup-json": Row({"GET": Perm.SUPPORT}, json=True, empty=503),
    "campaigns:support": Row({"GET": Perm.SUPPORT}),
    "campaigns:create": Row({"GET": Perm.CAMPAIGNS_MANAGE, "POST": Perm.CAMPAIGNS_MANAGE}),
    "campaigns:detail": Row({"GET": Perm.CAMPAIGNS_VIEW}, a_campaign),
    "campaigns:estimate": Row({"GET": Perm.CAMPAIGNS_MANAGE}, a_campaign),
    "campaigns:live": Row({"GET": Perm.CAMPAIGNS_VIEW}, a_campaign),
    "campaigns:numbers-export": Row({"GET": Perm.CAMPAIGNS_VIEW}, a_campaign_file, audited=True),
    "campaigns:people": Row({"GET": Perm.CAMPAIGNS_VIEW}, a_campaign),
    "campaigns:people-export": Row({"GET": Perm.CAMPAIGNS_VIEW}, a_campaign_file, audited=True),
    "campaigns:people-change": Row({"POST": Perm.CAMPAIGNS_MANAGE}, a_campaign),
    "campaigns:execution-pause": Row({"POST": Perm.CAMPAIGNS_MANAGE}, a_walk),
    "campaigns:execution-resume": Row({"POST": Perm.CAMPAIGNS_MANAGE}, a_walk),
    "campaigns:execution-remove": Row({"POST": Perm.CAMPAIGNS_MANAGE}, a_walk),
    "campaigns:execution-restart": Row({"POST": Perm.CAMPAIGNS_MANAGE}, a_walk),
    "campaigns:execution-retry": Row({"POST": Perm.CAMPAIGNS_MANAGE}, a_walk),
    "campaigns:logs": Row({"GET": Perm.CAMPAIGNS_VIEW}, a_campaign),
    "campaigns:logs-export": Row({"GET": Perm.CAMPAIGNS_VIEW}, a_campaign_file, audited=True),
    "campaigns:edit": Row({"GET": Perm.CAMPAIGNS_MANAGE, "POST": Perm.CAMPAIGNS_MANAGE}, a_campaign),
    "campaigns:activate": Row({"POST": Perm.CAMPAIGNS_MANAGE}, a_campaign),
    "campaigns:pause": Row({"POST": Perm.CAMPAIGNS_MANAGE}, a_campaign),
    "campaigns:resume": Row({"POST": Perm.CAMPAIGNS_MANAGE}, a_campaign),
    "campaigns:cancel": Row({"POST": Perm.CAMPAIGNS_MANAGE}, a_campaign),
    "campaigns:end": Row({"POST": Perm.CAMPAIGNS_MANAGE}, a_campaign),
    "campaigns:open": Row({"POST": Perm.CAMPAIGNS_MANAGE}, a_campaign),
    "campaigns:close": Row({"POST": Perm.CAMPAIGNS_MANAGE}, a_campaign),
    "campaigns:enrol": Row({"GET": Perm.CAMPAIGNS_MANAGE}, a_campaign),
    "campaigns:count": Row({"GET": Perm.CAMPAIGNS_MANAGE}, a_campaign),
    "campaigns:review": Row({"POST": Perm.CAMPAIGNS_MANAGE}, a_campaign),
    "campaigns:batch": Row({"GET": Perm.CAMPAIGNS_MANAGE}, a_batch),
    "campaigns:progress": Row({"GET": Perm.CAMPAIGNS_MANAGE}, a_batch),
    "campaigns:decide": Row({"POST": Perm.CAMPAIGNS_MANAGE}, a_batch),
    "campaigns:commit": Row({"POST": Perm.CAMPAIGNS_MANAGE}, a_batch),
    "campaigns:discard": Row({"POST": Perm.CAMPAIGNS_MANAGE}, a_batch),
    "campaigns:person": Row({"GET": Perm.CAMPAIGNS_MANAGE}, somebody_in_a_batch),
}

WORKFLOW = named("workflow_id", a_workflow)
VERSION = named("workflow_id", a_version)
TARGET, CAMPAIGN = a_target, named("campaign_id", a_campaign)
BATCH, WALK = named("batch_id", a_batch), named("execution_id", a_walk)
A_GRAPH: dict[str, Any] = {
    "nodes": [
        {"key": "s", "type": "start", "subtype": "manual"},
        {"key": "e", "type": "end", "subtype": "stop"},
    ],
    "edges": [{"source": "s", "port": "default", "target": "e"}],
}


def json_row(
    methods: Mapping[str, Access], kwargs: Kwargs | None = None, *, audited: bool = False, **data: Any
) -> Row:
    """A JSON address; `data` is its body where it asks for one."""
    return Row(methods, kwargs, json=True, body_json=bool(data), data=data, audited=audited)


JSON = {
    "json:openapi": json_row({"GET": MEMBER}),
    "json:catalog": json_row({"GET": Perm.WORKFLOWS_VIEW}),
    "json:graph": json_row({"GET": Perm.WORKFLOWS_VIEW, "PUT": Perm.WORKFLOWS_MANAGE}, VERSION, **A_GRAPH),
    "json:validate": json_row({"POST": Perm.WORKFLOWS_VIEW}, VERSION),
    "json:publish": json_row({"POST": Perm.WORKFLOWS_PUBLISH}, WORKFLOW),
    "json:new-version": json_row({"POST": Perm.WORKFLOWS_MANAGE}, WORKFLOW),
    "json:sms-preview": json_row({"POST": (Perm.WORKFLOWS_MANAGE, Perm.SMS_TEMPLATES_MANAGE)}, text="Hello"),
    "json:timeline": json_row({"GET": Perm.CAMPAIGNS_VIEW}, TARGET),
    "json:executions": json_row({"GET": Perm.CAMPAIGNS_VIEW}, TARGET),
    "json:review": json_row({"POST": Perm.CAMPAIGNS_MANAGE}, CAMPAIGN, ids=[1]),
    "json:batch": json_row({"GET": Perm.CAMPAIGNS_MANAGE}, BATCH),
    "json:decisions": json_row({"PUT": Perm.CAMPAIGNS_MANAGE}, BATCH, default="skip"),
    "json:commit": json_row({"POST": Perm.CAMPAIGNS_MANAGE}, BATCH),
    "json:discard": json_row({"POST": Perm.CAMPAIGNS_MANAGE}, BATCH),
    **{
        f"json:campaign-{word}": json_row({"POST": Perm.CAMPAIGNS_MANAGE}, CAMPAIGN)
        for word in ("activate", "pause", "resume", "end", "open", "close", "cancel")
    },
    **{
        f"json:execution-{word}": json_row({"POST": Perm.CAMPAIGNS_MANAGE}, WALK)
        for word in ("pause", "resume", "remove", "restart", "retry")
    },
    "json:executions-change": json_row({"POST": Perm.CAMPAIGNS_MANAGE}, CAMPAIGN, operation="pause", ids=[1]),
    "json:blacklist-export": json_row({"GET": SEES_BLACKLIST}, audited=True),
    "json:blacklist-import": json_row({"POST": Perm.BLACKLIST_MANAGE}),
}

MATRIX: dict[str, Row] = {
    **CORE,
    **WORKSPACES,
    **TARGETS,
    **BLACKLIST,
    **SMS,
    **AUTOMATION,
    **CAMPAIGNS,
    **JSON,
}
