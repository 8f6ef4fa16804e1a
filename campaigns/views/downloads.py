"""The campaigns, the people of one, its history and its numbers as files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from django.http.response import HttpResponseBase
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from automation import event_lines
from automation.models import WorkflowExecution, WorkflowExecutionEvent
from automation.panels import step_name
from campaigns import dashboard, history, queries
from campaigns.figures_table import COLUMNS, lines_of
from campaigns.forms import LogFilter, StatusFilter, selected
from campaigns.models import Campaign
from campaigns.people import PeopleFilter
from campaigns.policy import policy_of
from campaigns.views.gate import automation_page
from core import clock
from core.errors import TryLater
from core.exporting import Digits, Table, moment
from core.tenancy import current_workspace_id
from engine.types import NO_TIMEOUT
from targets.queries import Visibility, subjects_for
from workspaces.decorators import permission_required
from workspaces.downloads import send, send_rows
from workspaces.http import MemberRequest
from workspaces.permissions import Perm


def _people(chunk: Sequence[WorkflowExecution]) -> Iterator[list[object]]:
    people = subjects_for(current_workspace_id(), [row.subject_id for row in chunk])
    for row in chunk:
        target = people.get(row.subject_id)
        due = row.next_run_at if row.next_run_at and row.next_run_at < NO_TIMEOUT else None
        yield [
            Digits(row.subject_id), str(target or ""), Digits(target.mobile if target else ""),
            row.get_status_display(), row.get_end_reason_display(), step_name(row.current_node), row.cycle,
            moment(due), moment(row.created_at), moment(row.completed_at), row.variant, row.last_error,
        ]  # fmt: skip


def _events(chunk: Sequence[WorkflowExecutionEvent]) -> Iterator[list[object]]:
    people = subjects_for(current_workspace_id(), [row.subject_id for row in chunk])
    for row in chunk:
        target = people.get(row.subject_id)
        yield [
            moment(row.occurred_at), Digits(row.subject_id), str(target or ""),
            Digits(target.mobile if target else ""), row.get_type_display(), step_name(row.node),
            row.message or event_lines.reason(row.data), moment(event_lines.until(row.data)),
            str(row.actor_user or ""),
        ]  # fmt: skip


def _campaigns(visibility: Visibility) -> Table[Campaign]:
    """The table of campaigns with as many people as one may see."""

    def cells(chunk: Sequence[Campaign]) -> Iterator[list[object]]:
        people = dashboard.progress_of([row.pk for row in chunk], visibility)
        for row in chunk:
            found = people.get(row.pk, dashboard.People.nobody())
            yield [
                Digits(row.pk), row.name, row.get_status_display(), row.workflow.name, found.total,
                found.ended, moment(row.activated_at), moment(row.created_at),
            ]  # fmt: skip

    return Table(name="campaigns", title=_("Campaigns"), columns=CAMPAIGN_COLUMNS, cells=cells)


CAMPAIGN_COLUMNS: Final = (
    _("Campaign number"), _("Name"), _("Status"), _("Workflow"), _("People"), _("Finished"), _("Started at"),
    _("Created"),
)  # fmt: skip

PEOPLE = Table(
    name="campaign-people",
    title=_("People"),
    columns=(
        _("Person's number"), _("Person"), _("Mobile"), _("Status"), _("Reason of the end"), _("Step"),
        _("Round"), _("Next"), _("Entered"), _("Ended"), _("Branch"), _("Last error"),
    ),
    cells=_people,
)  # fmt: skip
EVENTS = Table(
    name="campaign-log",
    title=_("Log"),
    columns=(
        _("When"), _("Person's number"), _("Person"), _("Mobile"), _("What happened"), _("Step"), _("Reason"),
        _("Until"), _("Who"),
    ),
    cells=_events,
)  # fmt: skip


@require_safe
@permission_required(Perm.CAMPAIGNS_VIEW)
@automation_page
def campaigns(request: MemberRequest, kind: str) -> HttpResponseBase:
    """The campaigns of the chosen status, or all."""
    status = selected(StatusFilter(request.GET), "status", request.GET)
    table = _campaigns(Visibility(request.membership))
    return send(request, table, queries.campaign_list(status), kind, chosen={"status": status})


@require_safe
@permission_required(Perm.CAMPAIGNS_VIEW)
@automation_page
def people(request: MemberRequest, pk: int, kind: str) -> HttpResponseBase:
    """The walks that the filter of the page leaves."""
    campaign = queries.campaign_for(pk)
    form = PeopleFilter(request.GET, campaign=campaign)
    rows = form.rows(Visibility(request.membership)).select_related("current_node")
    return send(request, PEOPLE, rows, kind, chosen=form.chosen(), entity=campaign)


@require_safe
@permission_required(Perm.CAMPAIGNS_VIEW)
@automation_page
def logs(request: MemberRequest, pk: int, kind: str) -> HttpResponseBase:
    """The events that the filter of the page leaves, all pages of them."""
    campaign = queries.campaign_for(pk)
    what = selected(LogFilter(request.GET), "type", request.GET)
    rows = history.events(campaign, Visibility(request.membership), kind=what)
    rows = rows.select_related("node", "actor_user")
    return send(request, EVENTS, rows, kind, chosen={"type": what}, entity=campaign)


@require_safe
@permission_required(Perm.CAMPAIGNS_VIEW)
@automation_page
def numbers(request: MemberRequest, pk: int, kind: str) -> HttpResponseBase:
    """Every number of the campaign's page, for the people this member may see. Raises TryLater while those of
    a large campaign were never counted."""
    campaign = queries.campaign_for(pk)
    board = dashboard.dashboard(campaign, policy_of(campaign), request.membership, clock.now())
    if board.counting:
        raise TryLater(
            gettext("This campaign is being counted; try again in a moment."), code="not_counted_yet"
        )
    lines = lines_of(board)
    return send_rows(request, "campaign-numbers", _("Figures"), COLUMNS, lines, kind, entity=campaign)
