"""What people do with campaigns. Each function is one transaction: checks, the change, its audit row.

Rights are the view's business; everything runs inside `workspace_scope`. A move that the state of the
campaign does not allow raises Refused with code `illegal_change` (`campaign_over` once it has ended).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext as _

from automation import workspace_settings
from automation.models import WorkflowExecution
from automation.states import CLAIMED
from campaigns import audit_events, lifecycle, queries, readiness, settling, transitions
from campaigns.details import CampaignDetails, FieldProblem, columns_of, settings_of
from campaigns.models import OVER, Campaign, CampaignStatus
from core import clock
from core.errors import Invalid, Refused
from core.tenancy import current_workspace_id
from workspaces import audit
from workspaces.models import User, Workspace

S = CampaignStatus
CANCELLED: Final = "cancelled"
CANCELLING_PARTIAL: Final = "cancelling_partial"


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelOutcome:
    """`code` is `cancelled`, or `cancelling_partial` while workers hold `in_work` people.

    `stopped` people get nothing any more, from this moment on; of many the rows follow within a minute.
    """

    code: str
    stopped: int
    in_work: int


def create_campaign(
    *, workflow_id: int, details: CampaignDetails, user: User | None, source_list_id: int | None = None
) -> Campaign:
    """A new draft on the workflow's published version, which it keeps for good.

    Raises Invalid with every FieldProblem, or Refused `workflow_not_published`.
    """
    columns = columns_of(details, zone=_zone())
    workflow = (
        queries.startable_workflows().select_related("published_version").filter(pk=workflow_id).first()
    )
    if workflow is None or workflow.published_version is None:
        raise Refused(
            _("Publish the workflow first; a campaign needs a published version."),
            code="workflow_not_published",
        )
    with transaction.atomic():
        campaign = Campaign.objects.create(
            workspace_id=workflow.workspace_id,
            workflow=workflow,
            workflow_version=workflow.published_version,
            source_target_list_id=source_list_id,
            settings=settings_of(details),
            created_by=user,
            **columns,
        )
        new = {"workflow": workflow.name, "version": workflow.published_version.version_number}
        audit.record(
            audit_events.CAMPAIGN_CREATED, entity=campaign, new={**_shown(campaign), **new}, user=user
        )
    return campaign


def update_campaign(
    campaign_id: int, *, details: CampaignDetails, revision: int, user: User | None
) -> Campaign:
    """Change what a person may decide; the workflow and its version stay. `revision` is the one they saw.

    A campaign that runs may change too (its limit, hours, end), only its start is history. Raises
    Invalid, or Refused (`campaign_over`, `campaign_changed`: somebody else was faster).
    """
    campaign = queries.campaign_for(campaign_id)
    columns = columns_of(details, zone=_zone())
    if campaign.has_started and details.starts_at != campaign.starts_at:
        text = _("The campaign has started already; its start cannot be moved.")
        raise Invalid(text, problems=[FieldProblem("starts_at", text)])
    before = _shown(campaign)
    with transaction.atomic():
        # Held: the rule for new people writes its own part of the settings every few minutes.
        held = Campaign.objects.select_for_update(no_key=True).get(pk=campaign_id)
        rows = Campaign.objects.filter(pk=campaign_id, revision=revision, deleted_at__isnull=True).exclude(
            status__in=OVER
        )
        changed = rows.update(
            **columns,
            settings=settings_of(details, held.settings),
            revision=F("revision") + 1,
            updated_at=clock.now(),
        )
        if not changed:
            _refuse_over(queries.campaign_for(campaign_id))
            raise Refused(
                _("Somebody changed this campaign meanwhile; look at it again before you save."),
                code="campaign_changed",
            )
        campaign = queries.campaign_for(campaign_id)
        old, new = audit.changes(before, _shown(campaign))
        if new:
            audit.record(audit_events.CAMPAIGN_CHANGED, entity=campaign, old=old, new=new, user=user)
    return campaign


def activate(campaign_id: int, *, user: User | None) -> Campaign:
    """Start a draft: now, or at its `starts_at` when that is ahead. Those enrolled before begin with it.

    Raises Refused: `automation_disabled`, `provider_not_ready`, `end_is_past`, `illegal_change`.
    """
    campaign = queries.campaign_for(campaign_id)
    _require_status(campaign, S.DRAFT, text=_("Only a draft can be started."))
    return _start(campaign, source=S.DRAFT, user=user)


def pause(campaign_id: int, *, user: User | None) -> Campaign:
    """Freeze a running or scheduled campaign. Nobody inside is touched, so nobody loses their place."""
    now = clock.now()
    before = queries.campaign_for(campaign_id)
    with transaction.atomic():
        moved = transitions.mark_paused(campaign_id, now, user_id=user.pk if user else None)
        if not moved:
            raise _illegal(campaign_id, _("Only a running or scheduled campaign can be paused."))
        _audit_status(audit_events.CAMPAIGN_PAUSED, before, S.PAUSED, user)
    return queries.campaign_for(campaign_id)


def resume(campaign_id: int, *, user: User | None) -> Campaign:
    """Let a paused campaign go on: whoever became due meanwhile is due now.

    One that was paused before its start is scheduled again, or starts when its time has come; then
    the rules of `activate` hold. Raises Refused: `end_is_past`, `illegal_change`.
    """
    campaign = queries.campaign_for(campaign_id)
    _require_status(campaign, S.PAUSED, text=_("Only a paused campaign can be resumed."))
    if not campaign.has_started:
        return _start(campaign, source=S.PAUSED, user=user)
    now = clock.now()
    _refuse_past_end(campaign, now)
    with transaction.atomic():
        if not transitions.mark_active(campaign_id, now, source=S.PAUSED):
            raise _illegal(campaign_id, _("Only a paused campaign can be resumed."))
        _audit_status(audit_events.CAMPAIGN_RESUMED, campaign, S.ACTIVE, user)
        if campaign.starting:  # the pause came before everybody was let go
            transaction.on_commit(lambda: settling.ask(campaign.workspace_id, campaign_id))
    return queries.campaign_for(campaign_id)


def cancel(campaign_id: int, *, user: User | None) -> CancelOutcome:
    """Stop a campaign for good. Messages on their way cannot be called back: their people stop after them."""
    now = clock.now()
    before = queries.campaign_for(campaign_id)
    with transaction.atomic():
        if not transitions.mark_over(campaign_id, now, to=S.CANCELLED):
            raise _illegal(campaign_id, _("This campaign cannot be cancelled."))
        stopped = settling.stop_people(queries.campaign_for(campaign_id), now)
        in_work = WorkflowExecution.objects.filter(
            campaign_id=campaign_id, status__in=sorted(CLAIMED)
        ).count()
        extra = {"stopped_people": stopped, "in_work": in_work}
        _audit_status(audit_events.CAMPAIGN_CANCELLED, before, S.CANCELLED, user, **extra)
    code = CANCELLING_PARTIAL if in_work else CANCELLED
    return CancelOutcome(code=code, stopped=stopped, in_work=in_work)


def end(campaign_id: int, *, user: User | None) -> Campaign:
    """Complete a running or paused campaign by hand; the people inside stop."""
    queries.campaign_for(campaign_id)
    if lifecycle.complete(campaign_id, clock.now(), user=user) is None:
        raise _illegal(campaign_id, _("Only a running or paused campaign can be ended."))
    return queries.campaign_for(campaign_id)


def set_intake(campaign_id: int, *, is_open: bool, user: User | None) -> Campaign:
    """Open or close the campaign to new people; those inside walk on. Setting it twice changes nothing."""
    campaign = queries.campaign_for(campaign_id)
    with transaction.atomic():
        rows = Campaign.objects.filter(pk=campaign_id, intake_open=not is_open).exclude(status__in=OVER)
        changed = rows.update(intake_open=is_open, revision=F("revision") + 1, updated_at=clock.now())
        if changed:
            event = audit_events.INTAKE_OPENED if is_open else audit_events.INTAKE_CLOSED
            audit.record(event, entity=campaign, user=user)
        else:
            _refuse_over(queries.campaign_for(campaign_id))
    return queries.campaign_for(campaign_id)


def _start(campaign: Campaign, *, source: str, user: User | None) -> Campaign:
    """Schedule or start a campaign that never ran."""
    now = clock.now()
    _refuse_past_end(campaign, now)
    readiness.require_ready(campaign)
    ahead = campaign.starts_at is not None and campaign.starts_at > now
    mark = transitions.mark_scheduled if ahead else transitions.mark_active
    with transaction.atomic():
        if not mark(campaign.pk, now, source=source):
            raise _illegal(campaign.pk, _("The campaign was changed meanwhile; look at it again."))
        if ahead:
            _audit_status(audit_events.CAMPAIGN_SCHEDULED, campaign, S.SCHEDULED, user)
        else:
            people = settling.begin(campaign, now)
            _audit_status(audit_events.CAMPAIGN_STARTED, campaign, S.ACTIVE, user, started_people=people)
    return queries.campaign_for(campaign.pk)


def _require_status(campaign: Campaign, status: str, *, text: str) -> None:
    if campaign.status != status:
        _refuse_over(campaign)
        raise Refused(text, code="illegal_change", status_now=campaign.status)


def _refuse_over(campaign: Campaign) -> None:
    if campaign.is_over:
        raise Refused(_("This campaign is over."), code="campaign_over", status_now=campaign.status)


def _illegal(campaign_id: int, text: str) -> Refused:
    campaign = queries.campaign_for(campaign_id)
    _refuse_over(campaign)
    return Refused(text, code="illegal_change", status_now=campaign.status)


def _refuse_past_end(campaign: Campaign, now: datetime) -> None:
    if campaign.ends_at is not None and campaign.ends_at <= now:
        raise Refused(_("The campaign's end has passed; move it or end the campaign."), code="end_is_past")


def _audit_status(event: str, before: Campaign, status: str, user: User | None, **extra: Any) -> None:
    audit.record(
        event, entity=before, old={"status": before.status}, new={"status": str(status), **extra}, user=user
    )


def _shown(campaign: Campaign) -> dict[str, Any]:
    """What the audit log shows of a campaign."""
    fields = ("name", "description", "starts_at", "ends_at", "daily_limit", "send_window")
    stop = campaign.settings.get("stop_when_target_status_in", [])
    return {field: getattr(campaign, field) for field in fields} | {"stop_statuses": stop}


def _zone() -> str:
    workspace_id = current_workspace_id()
    own = workspace_settings.current(workspace_id).timezone
    return own or Workspace.objects.values_list("timezone", flat=True).get(pk=workspace_id)
