"""JSON of campaigns: the way in, the buttons, and single people inside."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from django.http import HttpResponse
from ninja import Router, Status

from automation import control
from automation.control_moves import TEXTS, Operation, Reason
from campaigns import actions, dashboard, queries
from campaigns.api_schemas import (
    BatchOut,
    BatchStatusOut,
    CampaignOut,
    CancelOut,
    DecisionsIn,
    ExecutionIn,
    ExecutionOut,
    ManyIn,
    ManyOut,
    SelectionIn,
    WalkOut,
    WalksOut,
)
from campaigns.enrollment import batches, committer, decisions, preview, selection
from campaigns.models import BatchStatus, Campaign, EnrollmentBatch
from core.errors import Refused
from targets.filters import TargetFilter
from targets.queries import Visibility, target_for
from workspaces.http import MemberRequest
from workspaces.json_api import Id, needs, route
from workspaces.models import User
from workspaces.permissions import Perm

router = Router()
CAMPAIGN = "/campaigns/{int:campaign_id}"
BATCH = "/enrollments/{int:batch_id}"
CANCEL_HEADER: Final = "X-Campaign-Cancel-Outcome"
CANCEL_CONFLICT: Final = "conflict_generation_completed"
OUTCOME = {CANCEL_HEADER: {"description": "What became of the cancellation.", "schema": {"type": "string"}}}


# The way in


@router.post(f"{CAMPAIGN}/enrollments/preview", **route("review", {201: BatchOut}, 404, 409, body=True))
@needs(Perm.CAMPAIGNS_MANAGE)
def review(request: MemberRequest, campaign_id: Id, selected: SelectionIn) -> Status[BatchOut]:
    """Sort the chosen people into groups and keep the selection for review. Nobody is added yet."""
    campaign = queries.campaign_for(campaign_id)
    visibility = Visibility(request.membership)
    if selected.filter is None:
        ids = selection.named(selected.ids, visibility)
    else:
        conditions = TargetFilter(selected.filter.model_dump(exclude_none=True))
        ids = selection.matching(conditions, visibility)
    return Status(201, _batch(batches.create(campaign, ids, user=request.user)))


@router.get(BATCH, **route("batch", {200: BatchOut}, 404))
@needs(Perm.CAMPAIGNS_MANAGE)
def batch(request: MemberRequest, batch_id: Id) -> BatchOut:
    """A selection: its state, counts, groups and decisions."""
    return _batch(_seen_batch(request, batch_id))


@router.put(f"{BATCH}/decisions", **route("decisions", {200: BatchOut}, 404, 409, body=True))
@needs(Perm.CAMPAIGNS_MANAGE)
def decide(request: MemberRequest, batch_id: Id, answers: DecisionsIn) -> BatchOut:
    """Replace the answers about people who are in another campaign."""
    row = _seen_batch(request, batch_id)
    return _batch(batches.decide(row, decisions.read(answers.model_dump())))


@router.post(f"{BATCH}/commit", **route("commit", {200: BatchOut, 202: BatchOut}, 404, 409, 503))
@needs(Perm.CAMPAIGNS_MANAGE)
def commit(request: MemberRequest, batch_id: Id) -> Status[BatchOut]:
    """Add the people: 200 when done, 202 when a task does it (ask the selection how far it is)."""
    done = committer.commit(_seen_batch(request, batch_id), user=request.user)
    return Status(200 if done else 202, _batch(queries.batch_for(batch_id)))


@router.post(f"{BATCH}/discard", **route("discard", {200: BatchStatusOut}, 404, 409))
@needs(Perm.CAMPAIGNS_MANAGE)
def discard(request: MemberRequest, batch_id: Id) -> BatchStatusOut:
    """Put a reviewed selection away."""
    batches.discard(_seen_batch(request, batch_id), user=request.user)
    return BatchStatusOut(status=BatchStatus.DISCARDED)


# The buttons of a campaign


Move = Callable[[int, User], Campaign]
MOVES: Mapping[str, tuple[Move, str]] = {
    "activate": (lambda pk, user: actions.activate(pk, user=user), "Start a draft, or schedule it."),
    "pause": (lambda pk, user: actions.pause(pk, user=user), "Freeze a running or scheduled campaign."),
    "resume": (lambda pk, user: actions.resume(pk, user=user), "Let a paused campaign go on."),
    "end": (lambda pk, user: actions.end(pk, user=user), "Complete a campaign; the people inside stop."),
    "open": (lambda pk, user: actions.set_intake(pk, is_open=True, user=user), "Let new people in."),
    "close": (lambda pk, user: actions.set_intake(pk, is_open=False, user=user), "Let nobody new in."),
}


def _add_move(word: str, move: Move, words: str) -> None:
    @router.post(
        f"{CAMPAIGN}/{word}", summary=words, **route(f"campaign-{word}", {200: CampaignOut}, 404, 409)
    )
    @needs(Perm.CAMPAIGNS_MANAGE)
    def moved(request: MemberRequest, campaign_id: Id) -> CampaignOut:
        campaign = move(campaign_id, request.user)
        return CampaignOut(status=campaign.status, intake_open=campaign.intake_open)


for _word, (_move, _words) in MOVES.items():
    _add_move(_word, _move, _words)


@router.post(
    f"{CAMPAIGN}/cancel",
    **route(
        "campaign-cancel",
        {200: CancelOut, 202: CancelOut},
        404,
        409,
        extra={"responses": {code: {"headers": OUTCOME} for code in (200, 202, 409)}},
    ),
)
@needs(Perm.CAMPAIGNS_MANAGE)
def cancel(request: MemberRequest, campaign_id: Id, response: HttpResponse) -> Status[CancelOut]:
    """Stop a campaign for good: 202 while messages are on their way, which cannot be called back."""
    try:
        outcome = actions.cancel(campaign_id, user=request.user)
    except Refused as error:
        error.headers = {CANCEL_HEADER: CANCEL_CONFLICT}
        raise
    response[CANCEL_HEADER] = outcome.code
    body = CancelOut(status=outcome.code, stopped=outcome.stopped, in_work=outcome.in_work)
    return Status(202 if outcome.code == actions.CANCELLING_PARTIAL else 200, body)


# People inside


def _add_operation(word: str, operation: Operation, words: str) -> None:
    @router.post(
        f"/executions/{{int:execution_id}}/{word}",
        summary=words,
        **route(f"execution-{word}", {200: ExecutionOut}, 404, 409, body=True),
    )
    @needs(Perm.CAMPAIGNS_MANAGE)
    def changed(request: MemberRequest, execution_id: Id, seen: ExecutionIn | None = None) -> ExecutionOut:
        queries.campaign_of_execution(execution_id, Visibility(request.membership))
        revision = seen.revision if seen else None
        row = control.change(execution_id, operation, user=request.user, revision=revision)
        return ExecutionOut(status=row.status, revision=row.revision)


for _word, _operation, _words in (
    ("pause", Operation.PAUSE, "Let one person wait until resumed."),
    ("resume", Operation.RESUME, "Let one person go on."),
    ("remove", Operation.REMOVE, "Take one person out of the campaign."),
    ("restart", Operation.RESTART, "Begin again from the first step, as a new round."),
    ("retry", Operation.RETRY_STEP, "Try the step that failed once more."),
):
    _add_operation(_word, _operation, _words)


@router.post(
    f"{CAMPAIGN}/executions/change", **route("executions-change", {200: ManyOut}, 404, 409, body=True)
)
@needs(Perm.CAMPAIGNS_MANAGE)
def change_many(request: MemberRequest, campaign_id: Id, wanted: ManyIn) -> ManyOut:
    """Do the same with several people of one campaign; those who cannot be moved are named with a reason."""
    campaign = queries.campaign_for(campaign_id)
    visible = dashboard.seen_executions(campaign, Visibility(request.membership))
    seen = set(visible.filter(pk__in=wanted.ids).values_list("pk", flat=True))
    ids = [pk for pk in wanted.ids if pk in seen]
    outcome = control.change_many(campaign.pk, ids, Operation(wanted.operation), user=request.user)
    hidden = dict.fromkeys((pk for pk in wanted.ids if pk not in seen), Reason.NOT_FOUND)
    return ManyOut.model_validate(
        {
            "done": [{"id": pk, "status": status} for pk, status in outcome.done.items()],
            "refused": [
                {"id": pk, "code": str(reason), "error": str(TEXTS[reason])}
                for pk, reason in {**outcome.refused, **hidden}.items()
            ],
        }
    )


@router.get("/targets/{int:target_id}/executions", **route("executions", {200: WalksOut}, 404))
@needs(Perm.CAMPAIGNS_VIEW)
def executions(request: MemberRequest, target_id: Id) -> WalksOut:
    """The live walks of one person, the one that moves next first."""
    target = target_for(request.membership, target_id)
    walks = preview.elsewhere_of([target.pk]).get(target.pk, [])
    return WalksOut(executions=[WalkOut.model_validate(walk.as_json()) for walk in walks])


def _seen_batch(request: MemberRequest, batch_id: int) -> EnrollmentBatch:
    return queries.batch_seen_by(request.user, Visibility(request.membership), batch_id)


def _batch(row: EnrollmentBatch) -> BatchOut:
    values: dict[str, Any] = {
        "id": row.pk,
        "status": row.status,
        "counts": row.counts,
        "decisions": row.decisions,
        "groups": row.plan,
    }
    return BatchOut.model_validate(values)
