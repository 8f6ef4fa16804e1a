"""Changes of activities: by hand, each with its audit row, and by workflows and rules, many at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db import transaction

from core import clock
from core.bulk import insert_rows
from core.text import normalize_text
from targets import events
from targets.models import Activity, Target
from workspaces import audit
from workspaces.models import User

FIELDS = ("kind", "title", "description", "due_at", "owner_id")
ADDED, DONE = "activity_added", "activity_done"
MAX_TITLE = 200
MAX_DESCRIPTION = 5_000


class Recorded(NamedTuple):
    """An activity that something other than a person records.

    `source` says who and for which occasion, at most 80 characters, unique in the workspace: a step's
    execution, node and cycle, or a rule's run and action. Texts are finished texts.
    """

    source: str
    target_id: int
    kind: str
    title: str
    description: str
    due_at: datetime
    owner_id: int | None


def record(workspace_id: int, wanted: Sequence[Recorded]) -> dict[str, int]:
    """Store activities in the caller's transaction: one statement, however many. Returns source -> id.

    A source that has its activity already is passed over and is missing from the answer. Writes no audit
    rows: the history of whoever asked says what was recorded.
    """
    rows = [
        {
            "source": one.source,
            "workspace_id": workspace_id,
            "target_id": one.target_id,
            "kind": one.kind,
            "title": normalize_text(one.title)[:MAX_TITLE],
            "description": normalize_text(one.description)[:MAX_DESCRIPTION],
            "due_at": one.due_at,
            "owner_id": one.owner_id,
        }
        for one in wanted
    ]
    return {source: pk for pk, source in insert_rows(Activity, rows, skip_conflicts=True)}


def create(target: Target, values: Mapping[str, Any], *, done: bool = False, user: User) -> Activity:
    """A colleague notes down an activity, to be done or (`done`) done already."""
    now = clock.now()
    with transaction.atomic():
        made = Activity.objects.create(
            workspace_id=target.workspace_id, target=target, created_by=user,
            done_at=now if done else None, done_by=user if done else None, **values,
        )  # fmt: skip
        new = {name: value for name, value in _snapshot(made).items() if value}
        audit.record("activity.created", entity=made, new=new, user=user)
        _happened(made, ADDED, f"{ADDED}:{made.pk}", now)
        if done:
            _happened(made, DONE, f"{DONE}:{made.pk}:{now.timestamp()}", now)
    return made


def change(activity: Activity, values: Mapping[str, Any], *, user: User) -> bool:
    """Bring an activity up to `values`; whether anything changed."""
    old = _snapshot(activity)
    for name, value in values.items():
        setattr(activity, name, value)
    before, after = audit.changes(old, _snapshot(activity))
    if not after:
        return False
    with transaction.atomic():
        activity.save(update_fields=[*after, "updated_at"])
        audit.record("activity.changed", entity=activity, old=before, new=after, user=user)
    return True


def complete(activity: Activity, *, user: User) -> bool:
    """Mark it done, now and by `user`. False when somebody did already; theirs stands."""
    now = clock.now()
    with transaction.atomic():
        done = _close(activity, was_open=True, at=now, by=user, user=user, event="activity.done")
        if done:
            _happened(activity, DONE, f"{DONE}:{activity.pk}:{now.timestamp()}", now)
    return done


def _happened(activity: Activity, name: str, key: str, now: datetime) -> None:
    """An event of the person; whoever waits for it goes on once this is committed."""
    event = events.NewEvent(
        target_id=activity.target_id, name=name, key=key, source="activities", occurred_at=now,
        properties={"kind": activity.kind},
    )  # fmt: skip
    events.record(activity.workspace_id, [event])


def reopen(activity: Activity, *, user: User) -> bool:
    """It is not done after all. False when it was open already."""
    return _close(activity, was_open=False, at=None, by=None, user=user, event="activity.reopened")


def _close(
    activity: Activity, *, was_open: bool, at: datetime | None, by: User | None, user: User, event: str
) -> bool:
    with transaction.atomic():
        rows = Activity.objects.filter(pk=activity.pk, done_at__isnull=was_open)
        if not rows.update(done_at=at, done_by=by, updated_at=clock.now()):
            return False
        new = {"kind": activity.kind, "title": activity.title}
        audit.record(event, entity=activity, new=new, user=user)
    return True


def _snapshot(activity: Activity) -> dict[str, Any]:
    return {name: getattr(activity, name) for name in FIELDS}
