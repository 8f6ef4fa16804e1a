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
from automation.models import WorkflowExecution, WorkflowNode
from blacklist.models import BlacklistEntry
from campaigns.models import Campaign, EnrollmentBatch
from sms.models import LineRule, ProviderAccount, SmsLog, SmsPrice, SmsTemplate
from targets.models import ImportJob, ImportStatus, Target, TargetList
from tests.factories import make
from workspaces.models import Membership, User, Workspace
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


def a_campaign(workspace: Workspace, user: User) -> Mapping[str, Any]:
    return {"pk": make(Campaign, workspace, created_by=user).pk}


def a_walk(workspace: Workspace, user: User) -> Mapping[str, Any]:
    return {"pk": make(WorkflowExecution, workspace, subject_id=make(Target, workspace, owner=user).pk).pk}


def a_batch(workspace: Workspace, user: User) -> Mapping[str, Any]:
    return {"pk": make(EnrollmentBatch, workspace, created_by=user).pk}


def somebody_in_a_batch(workspace: Workspace, user: User) -> Mapping[str, Any]:
    return {**a_batch(workspace, user), "subject_id": make(Target, workspace, owner=user).pk}


def a_subject(workspace: Workspace, user: User) -> Mapping[str, Any]:
    return {"subject_id": make(Target, workspace, owner=user).pk}


CORE = {
    "core:healthz": Row({"GET": PUBLIC}),
    "core:metrics": Row({"GET": PUBLIC}),
}

WORKSPACES = {
    "workspaces:home": Row({"GET": MEMBER}),
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
    "workspaces:member-add": Row({"POST": Perm.WORKSPACE_MEMBERS}),
    "workspaces:member-role": Row({"POST": Perm.WORKSPACE_MEMBERS}, a_member),
    "workspaces:member-remove": Row({"POST": Perm.WORKSPACE_MEMBERS}, a_member),
    "workspaces:member-invite": Row({"POST": Perm.WORKSPACE_MEMBERS}, a_member),
    "workspaces:audit": Row({"GET": Perm.WORKSPACE_AUDIT}),
}

TARGETS = {
    "targets:list": Row({"GET": SEES_PEOPLE}),
    "targets:new": Row({"GET": Perm.TARGETS_MANAGE, "POST": Perm.TARGETS_MANAGE}),
    "targets:selection": Row({"POST": Perm.TARGETS_MANAGE}),
    "targets:detail": Row({"GET": SEES_PEOPLE}, a_target),
    "targets:edit": Row({"GET": Perm.TARGETS_MANAGE, "POST": Perm.TARGETS_MANAGE}, a_target),
    "targets:delete": Row({"GET": Perm.TARGETS_MANAGE, "POST": Perm.TARGETS_MANAGE}, a_target),
    "targets:set-list": Row({"POST": Perm.TARGETS_MANAGE}, a_target),
    "targets:block": Row({"POST": Perm.BLACKLIST_MANAGE}, a_target),
    "targets:unblock": Row({"POST": Perm.BLACKLIST_MANAGE}, a_target),
    "targets:lists": Row({"GET": SEES_PEOPLE}),
    "targets:list-new": Row({"GET": Perm.TARGETS_MANAGE, "POST": Perm.TARGETS_MANAGE}),
    "targets:list-edit": Row({"GET": Perm.TARGETS_MANAGE, "POST": Perm.TARGETS_MANAGE}, a_list),
    "targets:list-delete": Row({"POST": Perm.TARGETS_MANAGE}, a_list),
    "targets:imports": Row({"GET": Perm.TARGETS_IMPORT}),
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
    "sms:unknown": Row({"GET": Perm.SMS_LOGS_VIEW}),
    "sms:look-again": Row({"POST": Perm.SUPPORT}, a_message),
    "sms:templates": Row({"GET": Perm.SMS_TEMPLATES_MANAGE}),
    "sms:template-add": Row({"GET": Perm.SMS_TEMPLATES_MANAGE, "POST": Perm.SMS_TEMPLATES_MANAGE}),
    "sms:template": Row({"GET": Perm.SMS_TEMPLATES_MANAGE, "POST": Perm.SMS_TEMPLATES_MANAGE}, a_template),
    "sms:template-delete": Row({"POST": Perm.SMS_TEMPLATES_MANAGE}, a_template),
    "sms:template-preview": Row({"POST": Perm.SMS_TEMPLATES_MANAGE}),
    "sms:line-rules": Row({"GET": Perm.SETTINGS_MANAGE, "POST": Perm.SETTINGS_MANAGE}),
    "sms:line-rule-delete": Row({"POST": Perm.SETTINGS_MANAGE}, a_line_rule),
    "sms:inbound": Row({"GET": Perm.SMS_LOGS_VIEW}),
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
    "automation:create": Row({"GET": Perm.WORKFLOWS_MANAGE, "POST": Perm.WORKFLOWS_MANAGE}),
    "automation:preview": Row({"POST": Perm.WORKFLOWS_MANAGE}),
    "automation:detail": Row({"GET": Perm.WORKFLOWS_VIEW}, a_workflow),
    "automation:rename": Row({"GET": Perm.WORKFLOWS_MANAGE, "POST": Perm.WORKFLOWS_MANAGE}, a_workflow),
    "automation:version": Row({"GET": Perm.WORKFLOWS_VIEW}, a_version),
    "automation:new-draft": Row({"POST": Perm.WORKFLOWS_MANAGE}, a_workflow),
    "automation:publish": Row({"POST": Perm.WORKFLOWS_PUBLISH}, a_workflow),
    "automation:publish-plan": Row({"GET": Perm.WORKFLOWS_VIEW}, a_workflow),
    "automation:archive": Row({"POST": Perm.WORKFLOWS_MANAGE}, a_workflow),
    "automation:restore": Row({"POST": Perm.WORKFLOWS_MANAGE}, a_workflow),
    "automation:builder": Row({"GET": Perm.WORKFLOWS_MANAGE}, a_workflow),
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

CAMPAIGNS = {
    "campaigns:list": Row({"GET": Perm.CAMPAIGNS_VIEW}),
    "campaigns:health": Row({"GET": Perm.CAMPAIGNS_VIEW}),
    "campaigns:create": Row({"GET": Perm.CAMPAIGNS_MANAGE, "POST": Perm.CAMPAIGNS_MANAGE}),
    "campaigns:detail": Row({"GET": Perm.CAMPAIGNS_VIEW}, a_campaign),
    "campaigns:estimate": Row({"GET": Perm.CAMPAIGNS_MANAGE}, a_campaign),
    "campaigns:live": Row({"GET": Perm.CAMPAIGNS_VIEW}, a_campaign),
    "campaigns:people": Row({"GET": Perm.CAMPAIGNS_VIEW}, a_campaign),
    "campaigns:people-change": Row({"POST": Perm.CAMPAIGNS_MANAGE}, a_campaign),
    "campaigns:execution-pause": Row({"POST": Perm.CAMPAIGNS_MANAGE}, a_walk),
    "campaigns:execution-resume": Row({"POST": Perm.CAMPAIGNS_MANAGE}, a_walk),
    "campaigns:execution-remove": Row({"POST": Perm.CAMPAIGNS_MANAGE}, a_walk),
    "campaigns:execution-restart": Row({"POST": Perm.CAMPAIGNS_MANAGE}, a_walk),
    "campaigns:execution-retry": Row({"POST": Perm.CAMPAIGNS_MANAGE}, a_walk),
    "campaigns:logs": Row({"GET": Perm.CAMPAIGNS_VIEW}, a_campaign),
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
    "campaigns:batch-json": Row({"GET": Perm.CAMPAIGNS_MANAGE}, a_batch, json=True),
    "campaigns:progress": Row({"GET": Perm.CAMPAIGNS_MANAGE}, a_batch),
    "campaigns:decide": Row({"POST": Perm.CAMPAIGNS_MANAGE, "PUT": Perm.CAMPAIGNS_MANAGE}, a_batch),
    "campaigns:commit": Row({"POST": Perm.CAMPAIGNS_MANAGE}, a_batch),
    "campaigns:discard": Row({"POST": Perm.CAMPAIGNS_MANAGE}, a_batch),
    "campaigns:executions": Row({"GET": Perm.CAMPAIGNS_VIEW}, a_subject, json=True),
    "campaigns:person": Row({"GET": Perm.CAMPAIGNS_MANAGE}, somebody_in_a_batch),
}

MATRIX: dict[str, Row] = {**CORE, **WORKSPACES, **TARGETS, **BLACKLIST, **SMS, **AUTOMATION, **CAMPAIGNS}
