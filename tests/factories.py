"""One legal row of any model: `make_target(workspace)`, `make(SmsLog, workspace, status="failed")`.

Every builder fills what the constraints demand, so a fixture is never an illegal row. A new model needs
a builder here: the tenancy test fails without one.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import date, timedelta
from itertools import count
from typing import Any, TypeVar

from django.db.models import Model

from automation import catalogue, publishing
from automation import models as automation
from automation.states import CLAIMABLE, CLAIMED, ENDED, LIVE, ExecutionEventType, ExecutionStatus
from blacklist.models import BlacklistEntry
from campaigns.models import (
    Campaign,
    CampaignFigures,
    CampaignJob,
    CampaignStatus,
    EnrollmentBatch,
    JobKind,
    SendingStop,
)
from core import clock
from core.tenancy import workspace_scope
from core.text import search_key
from sms.models import (
    InboundOutcome,
    InboundPending,
    InboundSettings,
    InboundSms,
    LineRule,
    ProviderAccount,
    Script,
    SmsLog,
    SmsLogEvent,
    SmsPrice,
    SmsSettings,
    SmsStatus,
    SmsTemplate,
    SmsUsage,
    UnmatchedReport,
)
from targets.models import (
    Activity,
    ImportJob,
    ImportRow,
    RowOutcome,
    Target,
    TargetEvent,
    TargetEventPending,
    TargetList,
    TargetListMember,
)
from tests.people import make_user
from workspaces.models import ApiToken, AuditRecord, KeptAnswer, Membership, Role, User, Workspace

M = TypeVar("M", bound=Model)
Builder = Callable[..., Model]

_numbers = count(1)
BUILDERS: dict[type[Model], Builder] = {}


def _next() -> int:
    return next(_numbers)


def builds(model: type[M]) -> Callable[[Callable[..., M]], Callable[..., M]]:
    """Register the builder of a model."""

    def register(function: Callable[..., M]) -> Callable[..., M]:
        BUILDERS[model] = function
        return function

    return register


def make(model: type[M], workspace: Workspace, **fields: Any) -> M:
    """A stored row of `model` in `workspace`; `fields` replace what the builder would choose."""
    row = BUILDERS[model](workspace, **fields)
    assert isinstance(row, model)
    return row


def mobile() -> str:
    """A canonical mobile number nobody else in this run has."""
    return f"0912{_next():07d}"


@builds(ApiToken)
def make_api_token(workspace: Workspace, **fields: Any) -> ApiToken:
    """Its secret is nobody's to know; `tokens.issue` gives one that can be used."""
    user = fields.pop("user", None) or make(Membership, workspace).user
    values: dict[str, Any] = {
        "name": "Reports",
        "prefix": "peyk_abcde",
        "digest": uuid.uuid4().hex * 2,
        "permissions": ["automation.campaigns.view"],
    }
    return ApiToken.unscoped.create(workspace=workspace, user=user, **{**values, **fields})


@builds(KeptAnswer)
def make_kept_answer(workspace: Workspace, **fields: Any) -> KeptAnswer:
    values = {"key": f"key-{_next()}", "fingerprint": "0" * 64, "status": 200, "body": "{}"}
    return KeptAnswer.unscoped.create(workspace=workspace, **{**values, **fields})


@builds(Membership)
def make_membership(workspace: Workspace, **fields: Any) -> Membership:
    user: User = fields.pop("user", None) or make_user(f"person{_next()}@{workspace.slug}.example")
    return Membership.unscoped.create(workspace=workspace, user=user, **{"role": Role.MARKETER, **fields})


@builds(AuditRecord)
def make_audit_record(workspace: Workspace, **fields: Any) -> AuditRecord:
    values = {
        "event": "workspace.changed",
        "entity_type": "workspaces.workspace",
        "entity_id": str(workspace.pk),
    }
    return AuditRecord.unscoped.create(workspace=workspace, **{**values, **fields})


@builds(BlacklistEntry)
def make_blacklist_entry(workspace: Workspace, **fields: Any) -> BlacklistEntry:
    values: dict[str, Any] = {"value": mobile()}
    if fields.get("is_active") is False:
        values["removed_at"] = clock.now()
    return BlacklistEntry.unscoped.create(workspace=workspace, **{**values, **fields})


@builds(Target)
def make_target(workspace: Workspace, **fields: Any) -> Target:
    number = _next()
    values: dict[str, Any] = {"name": f"Person {number}", **fields}
    if not values.get("mobile") and not values.get("landline"):
        values["mobile"] = f"0912{number:07d}"
    words = (values.get(key, "") for key in ("name", "first_name", "last_name", "mobile", "landline", "city"))
    values.setdefault("search_text", search_key(" ".join(word for word in words if word)))
    return Target.unscoped.create(workspace=workspace, **values)


@builds(Activity)
def make_activity(workspace: Workspace, **fields: Any) -> Activity:
    fields["target"] = fields.get("target") or make_target(workspace)
    values: dict[str, Any] = {"kind": "call", "title": f"Activity {_next()}", "due_at": clock.now()}
    return Activity.unscoped.create(workspace=workspace, **{**values, **fields})


@builds(TargetEvent)
def make_target_event(workspace: Workspace, **fields: Any) -> TargetEvent:
    fields["target"] = fields.get("target") or make_target(workspace)
    now = clock.now()
    values: dict[str, Any] = {
        "name": "sms_received", "occurred_at": now, "received_at": now, "source": "sms",
        "dedupe_key": f"test-{_next()}",
    }  # fmt: skip
    return TargetEvent.unscoped.create(workspace=workspace, **{**values, **fields})


@builds(TargetEventPending)
def make_target_event_pending(workspace: Workspace, **fields: Any) -> TargetEventPending:
    fields["event"] = fields.get("event") or make_target_event(workspace)
    return TargetEventPending.unscoped.create(workspace=workspace, **{"due_at": clock.now(), **fields})


@builds(TargetList)
def make_target_list(workspace: Workspace, *targets: Target, **fields: Any) -> TargetList:
    made = TargetList.unscoped.create(workspace=workspace, **{"name": f"List {_next()}", **fields})
    for target in targets:
        make_list_member(workspace, list=made, target=target)
    return made


@builds(TargetListMember)
def make_list_member(workspace: Workspace, **fields: Any) -> TargetListMember:
    fields.setdefault("list", None)
    fields["list"] = fields["list"] or make_target_list(workspace)
    fields["target"] = fields.get("target") or make_target(workspace)
    return TargetListMember.unscoped.create(workspace=workspace, **fields)


@builds(ImportJob)
def make_import_job(workspace: Workspace, **fields: Any) -> ImportJob:
    number = _next()
    values = {"file_name": f"people-{number}.csv", "stored_as": f"{number:032x}", "size": 120, "row_count": 2}
    return ImportJob.unscoped.create(workspace=workspace, **{**values, **fields})


@builds(ImportRow)
def make_import_row(workspace: Workspace, **fields: Any) -> ImportRow:
    fields["job"] = fields.get("job") or make_import_job(workspace)
    values = {"row_number": _next() + 1, "outcome": RowOutcome.CREATED}
    return ImportRow.unscoped.create(workspace=workspace, **{**values, **fields})


@builds(SmsSettings)
def make_sms_settings(workspace: Workspace, **fields: Any) -> SmsSettings:
    return SmsSettings.unscoped.create(workspace=workspace, **fields)


@builds(ProviderAccount)
def make_provider_account(workspace: Workspace, **fields: Any) -> ProviderAccount:
    values = {"kind": "melipayamak", "title": "Main line", "lines": ["50004001"]}
    return ProviderAccount.unscoped.create(workspace=workspace, **{**values, **fields})


@builds(SmsTemplate)
def make_sms_template(workspace: Workspace, **fields: Any) -> SmsTemplate:
    values = {"name": f"Template {_next()}", "body": "Hello"}
    return SmsTemplate.unscoped.create(workspace=workspace, **{**values, **fields})


@builds(LineRule)
def make_line_rule(workspace: Workspace, **fields: Any) -> LineRule:
    values = {"line": f"5000{_next()}", "finality_hours": 24}
    return LineRule.unscoped.create(workspace=workspace, **{**values, **fields})


@builds(SmsLog)
def make_sms_log(workspace: Workspace, **fields: Any) -> SmsLog:
    key = f"test-{_next()}"
    values = {
        "status": SmsStatus.SENT,
        "idempotency_key": key,
        "partition_key": "test",
        "row_key": key,
        "phone_number": mobile(),
        "final_message": "Hello",
        "message_template": "Hello",
    }
    return SmsLog.unscoped.create(workspace=workspace, **{**values, **fields})


@builds(SmsLogEvent)
def make_sms_log_event(workspace: Workspace, **fields: Any) -> SmsLogEvent:
    fields["sms_log"] = fields.get("sms_log") or make_sms_log(workspace)
    values = {"event": "delivered", "dedupe_key": f"test-{_next()}", "occurred_at": clock.now()}
    return SmsLogEvent.unscoped.create(workspace=workspace, **{**values, **fields})


@builds(UnmatchedReport)
def make_unmatched_report(workspace: Workspace, **fields: Any) -> UnmatchedReport:
    values = {"provider_message_id": str(_next()), "status": SmsStatus.DELIVERED, "received_at": clock.now()}
    return UnmatchedReport.unscoped.create(workspace=workspace, **{**values, **fields})


@builds(SmsUsage)
def make_sms_usage(workspace: Workspace, **fields: Any) -> SmsUsage:
    row = fields["sms_log"] = fields.get("sms_log") or make_sms_log(workspace, provider="double")
    values = {
        "event_type": row.producer,
        "sent_on": clock.now(),
        "sms_count": 1,
        "counted_parts": 1,
        "script": Script.PERSIAN,
        "campaign_id": row.campaign_id,
        "provider": row.provider,
    }
    return SmsUsage.unscoped.create(workspace=workspace, **{**values, **fields})


@builds(SmsPrice)
def make_sms_price(workspace: Workspace, **fields: Any) -> SmsPrice:
    values = {"script": Script.PERSIAN, "rials": 1000, "valid_from": date(2026, 3, 21)}
    return SmsPrice.unscoped.create(workspace=workspace, **{**values, **fields})


@builds(InboundSms)
def make_inbound(workspace: Workspace, **fields: Any) -> InboundSms:
    number = mobile()
    values = {
        "received_at": clock.now(),
        "sender": number,
        "number": number,
        "line": "50004001",
        "text": "Hello",
        "dedupe_key": f"test-{_next()}",
    }
    return InboundSms.unscoped.create(workspace=workspace, **{**values, **fields})


@builds(InboundPending)
def make_inbound_pending(workspace: Workspace, **fields: Any) -> InboundPending:
    fields["inbound"] = fields.get("inbound") or make_inbound(workspace)
    return InboundPending.unscoped.create(workspace=workspace, **{"due_at": clock.now(), **fields})


@builds(InboundOutcome)
def make_inbound_outcome(workspace: Workspace, **fields: Any) -> InboundOutcome:
    fields["inbound"] = fields.get("inbound") or make_inbound(workspace)
    return InboundOutcome.unscoped.create(workspace=workspace, **{"effect": "nothing", **fields})


@builds(InboundSettings)
def make_inbound_settings(workspace: Workspace, **fields: Any) -> InboundSettings:
    return InboundSettings.unscoped.create(workspace=workspace, **fields)


@builds(automation.AutomationSettings)
def make_automation_settings(workspace: Workspace, **fields: Any) -> automation.AutomationSettings:
    return automation.AutomationSettings.unscoped.create(workspace=workspace, **fields)


@builds(automation.WorkflowTemplate)
def make_workflow_template(workspace: Workspace, **fields: Any) -> automation.WorkflowTemplate:
    values = {"name": f"Template {_next()}", "definition": {"nodes": [], "edges": []}}
    return automation.WorkflowTemplate.unscoped.create(workspace=workspace, **{**values, **fields})


@builds(automation.Workflow)
def make_workflow(workspace: Workspace, **fields: Any) -> automation.Workflow:
    return automation.Workflow.unscoped.create(
        workspace=workspace, **{"name": f"Workflow {_next()}", **fields}
    )


@builds(automation.WorkflowVersion)
def make_version(workspace: Workspace, **fields: Any) -> automation.WorkflowVersion:
    fields["workflow"] = fields.get("workflow") or make_workflow(workspace)
    number = automation.WorkflowVersion.unscoped.filter(workflow=fields["workflow"]).count() + 1
    return automation.WorkflowVersion.unscoped.create(
        workspace=workspace, **{"version_number": number, **fields}
    )


def make_published_version(workspace: Workspace, **fields: Any) -> automation.WorkflowVersion:
    """A version people can be sent through: a start and an end, published as the workflow's own."""
    workflow = fields.pop("workflow", None) or make_workflow(
        workspace, status=automation.WorkflowStatus.ACTIVE
    )
    version = make_version(workspace, workflow=workflow, **fields)
    with workspace_scope(workspace.pk):
        publishing.store(version, catalogue.empty())
    version.status, version.published_at = automation.VersionStatus.PUBLISHED, clock.now()
    version.save(update_fields=["status", "published_at", "updated_at"])
    workflow.published_version = version
    workflow.save(update_fields=["published_version", "updated_at"])
    return version


@builds(automation.WorkflowNode)
def make_node(workspace: Workspace, **fields: Any) -> automation.WorkflowNode:
    fields["version"] = fields.get("version") or make_version(workspace)
    values = {"node_key": f"n{_next()}", "type": automation.NodeKind.START, "subtype": "start"}
    return automation.WorkflowNode.unscoped.create(workspace=workspace, **{**values, **fields})


@builds(automation.DraftState)
def make_draft_state(workspace: Workspace, **fields: Any) -> automation.DraftState:
    fields.setdefault("version", fields.get("version") or make_version(workspace))
    fields = {"stack": "undo", "position": _next(), "definition": {}, "label": "move", **fields}
    return automation.DraftState.unscoped.create(workspace=workspace, **fields)


@builds(automation.WorkflowEdge)
def make_edge(workspace: Workspace, **fields: Any) -> automation.WorkflowEdge:
    fields["version"] = version = fields.get("version") or make_version(workspace)
    fields["from_node"] = fields.get("from_node") or make_node(workspace, version=version)
    if not fields.get("to_node"):
        fields["to_node"] = make_node(workspace, version=version, type=automation.NodeKind.END, subtype="end")
    return automation.WorkflowEdge.unscoped.create(workspace=workspace, **fields)


@builds(Campaign)
def make_campaign(workspace: Workspace, **fields: Any) -> Campaign:
    values: dict[str, Any] = {"name": f"Campaign {_next()}", **fields}
    values["workflow_version"] = values.get("workflow_version") or make_published_version(workspace)
    values.setdefault("workflow", values["workflow_version"].workflow)
    if values.get("status") == CampaignStatus.PAUSED:
        values.setdefault("paused_at", clock.now())
    return Campaign.unscoped.create(workspace=workspace, **values)


@builds(CampaignFigures)
def make_figures(workspace: Workspace, **fields: Any) -> CampaignFigures:
    fields["campaign"] = fields.get("campaign") or make_campaign(workspace)
    return CampaignFigures.unscoped.create(workspace=workspace, **fields)


@builds(CampaignJob)
def make_job(workspace: Workspace, **fields: Any) -> CampaignJob:
    fields["campaign"] = fields.get("campaign") or make_campaign(workspace)
    return CampaignJob.unscoped.create(workspace=workspace, **{"kind": JobKind.CHANGE, **fields})


@builds(SendingStop)
def make_stop(workspace: Workspace, **fields: Any) -> SendingStop:
    values = {"stopped_at": clock.now(), "resumed_at": clock.now(), "reason": "Wrong list", **fields}
    return SendingStop.unscoped.create(workspace=workspace, **values)


@builds(EnrollmentBatch)
def make_batch(workspace: Workspace, **fields: Any) -> EnrollmentBatch:
    fields["campaign"] = fields.get("campaign") or make_campaign(workspace)
    return EnrollmentBatch.unscoped.create(workspace=workspace, **fields)


@builds(automation.WorkflowExecution)
def make_execution(workspace: Workspace, **fields: Any) -> automation.WorkflowExecution:
    """`status` decides the columns that must go with it (live key, lock, due time, end)."""
    values: dict[str, Any] = {"status": ExecutionStatus.ACTIVE, **fields}
    campaign = values["campaign"] = values.get("campaign") or make_campaign(workspace)
    values.setdefault("workflow", campaign.workflow)
    version = values.setdefault("workflow_version", campaign.workflow_version)
    if not values.get("current_node"):
        values["current_node"] = version.nodes(manager="unscoped").first() or make_node(
            workspace, version=version
        )
    if not values.get("subject_id"):
        values["subject_id"] = make_target(workspace).pk
    now, status = clock.now(), values["status"]
    if status in LIVE:
        values.setdefault("active_key", 1)
    if status in CLAIMABLE:
        values = {"eligible_at": now - timedelta(minutes=1), "next_run_at": now, **values}
    if status in CLAIMED:
        values = {"lock_token": uuid.uuid4(), "locked_at": now, **values}
    if status in ENDED:
        values.setdefault("completed_at", now)
    if status == ExecutionStatus.PAUSED:
        values = {"paused_at": now, "paused_from_status": ExecutionStatus.ACTIVE, **values}
    return automation.WorkflowExecution.unscoped.create(workspace=workspace, **values)


@builds(automation.WorkflowExecutionEvent)
def make_execution_event(workspace: Workspace, **fields: Any) -> automation.WorkflowExecutionEvent:
    execution = fields["execution"] = fields.get("execution") or make_execution(workspace)
    values = {
        "campaign": execution.campaign,
        "subject_id": execution.subject_id,
        "type": ExecutionEventType.ENROLLED,
        "occurred_at": clock.now(),
    }
    return automation.WorkflowExecutionEvent.unscoped.create(workspace=workspace, **{**values, **fields})


@builds(automation.DailyCounter)
def make_daily_counter(workspace: Workspace, **fields: Any) -> automation.DailyCounter:
    values = {
        "scope_type": automation.CounterScope.WORKSPACE,
        "scope_id": workspace.pk,
        "day": date(2026, 11, 30),
    }
    return automation.DailyCounter.unscoped.create(workspace=workspace, **{**values, **fields})
