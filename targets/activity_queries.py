"""Reads of activities. Whoever may not see a person sees none of their activities either."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from django.db.models import F, Q, QuerySet
from django.utils import timezone

from core.errors import NotFound
from targets.models import Activity, Target
from targets.queries import Visibility
from workspaces.models import Membership, User

OPEN, OVERDUE, TODAY, DONE = "open", "overdue", "today", "done"
MINE, NOBODYS, EVERYBODYS = "mine", "nobody", "all"
WHEN: Final = (OPEN, OVERDUE, TODAY, DONE)
WHOSE: Final = (MINE, NOBODYS, EVERYBODYS)


def activities(membership: Membership | None) -> QuerySet[Activity]:
    """Activities of the people this member may see; removed people and theirs are left out."""
    rows = Activity.objects.filter(hidden_at__isnull=True)
    return rows.filter(Visibility(membership).condition("target__"))


def in_full(ids: Iterable[int]) -> list[Activity]:
    """These activities in this order, with person, owner and author. One query."""
    wanted = list(ids)
    rows = Activity.objects.filter(pk__in=wanted).select_related("target", "owner", "created_by", "done_by")
    found = {row.pk: row for row in rows}
    return [found[pk] for pk in wanted if pk in found]


def activity_for(membership: Membership | None, activity_id: int) -> Activity:
    """One activity by id. Raises NotFound, also for one of a person this member may not see."""
    found = activities(membership).select_related("target", "owner").filter(pk=activity_id).first()
    if found is None:
        raise NotFound
    return found


def of_target(target: Target) -> QuerySet[Activity]:
    """A person's activities: open ones first, the earliest due on top, then the done ones, latest first."""
    rows = Activity.objects.filter(target=target).select_related("owner", "created_by", "done_by")
    return rows.order_by(F("done_at").desc(nulls_first=True), "due_at", "pk")


def narrowed(
    rows: QuerySet[Activity], *, whose: str, when: str, kind: str, user: User, now: datetime
) -> QuerySet[Activity]:
    """The ones a list asks for, in the order they are to be done (done ones: the latest on top)."""
    if whose == MINE:
        rows = rows.filter(owner=user)
    elif whose == NOBODYS:
        rows = rows.filter(owner__isnull=True)
    if kind:
        rows = rows.filter(kind=kind)
    if when == DONE:
        return rows.filter(done_at__isnull=False).order_by("-done_at", "-pk")
    return rows.filter(_due(when, now), done_at__isnull=True).order_by("due_at", "pk")


def _due(when: str, now: datetime) -> Q:
    if when == OVERDUE:
        return Q(due_at__lt=now)
    if when == TODAY:
        midnight = timezone.localtime(now).replace(hour=0, minute=0, second=0, microsecond=0)
        return Q(due_at__gte=midnight, due_at__lt=midnight + timedelta(days=1))
    return Q()


def due_count(membership: Membership, now: datetime) -> int:
    """How many open activities of this member are due by now."""
    mine = activities(membership).filter(owner_id=membership.user_id)
    return mine.filter(done_at__isnull=True, due_at__lte=now).count()
