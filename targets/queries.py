"""Reads of people and lists. Everything that shows or selects people goes through here."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Count, Q, QuerySet

from core.errors import NotFound
from core.tenancy import workspace_scope
from targets.models import ImportJob, ImportRow, RowOutcome, Target, TargetList, TargetListMember
from workspaces.models import Membership, User
from workspaces.permissions import permissions_of, sees_only_own


class Visibility:
    """The one answer to "which people may this member see": list, enrolment, campaign pages, timelines.

    Somebody limited to own people sees those they own; a member without any right to see people sees
    none; `everyone()` is for the scheduler and other work done in nobody's name.
    """

    def __init__(self, membership: Membership | None) -> None:
        rights = permissions_of(membership)
        self._all = "targets.view" in rights
        self._owner_id = membership.user_id if membership and sees_only_own(rights) else None

    @classmethod
    def everyone(cls) -> Visibility:
        visibility = cls(None)
        visibility._all = True
        return visibility

    @property
    def limited(self) -> bool:
        return not self._all

    def condition(self, prefix: str = "") -> Q:
        """For query sets that reach people through a relation: `condition("target__")`."""
        if self._all:
            return Q()
        if self._owner_id is None:
            return Q(**{f"{prefix}pk__in": []})
        return Q(**{f"{prefix}owner_id": self._owner_id})

    def people(self) -> QuerySet[Target]:
        """People of the active workspace that may be seen, deleted ones left out."""
        return Target.objects.filter(self.condition(), deleted_at__isnull=True)


def visible_to(membership: Membership | None) -> QuerySet[Target]:
    """People of the active workspace that this member may see."""
    return Visibility(membership).people()


def target_for(membership: Membership | None, target_id: int) -> Target:
    """One person by id. Raises NotFound, also for people whom this member may not see."""
    target = visible_to(membership).select_related("owner").filter(pk=target_id).first()
    if target is None:
        raise NotFound
    return target


def subjects_for(workspace_id: int, ids: Iterable[int]) -> dict[int, Target]:
    """The people behind these ids who still exist, with their owner. One query; missing ids are missing."""
    wanted = set(ids)
    if not wanted:
        return {}
    with workspace_scope(workspace_id):
        rows = Target.objects.filter(pk__in=wanted, deleted_at__isnull=True).select_related("owner")
        return {target.pk: target for target in rows}


def list_ids_for(workspace_id: int, target_ids: Iterable[int]) -> dict[int, set[int]]:
    """The lists each person is on. One query; people on no list are missing."""
    wanted = set(target_ids)
    memberships: dict[int, set[int]] = {}
    if not wanted:
        return memberships
    with workspace_scope(workspace_id):
        pairs = TargetListMember.objects.filter(target_id__in=wanted).values_list("target_id", "list_id")
        for target_id, list_id in pairs:
            memberships.setdefault(target_id, set()).add(list_id)
    return memberships


def id_by_number(number: str) -> int | None:
    """The person of the active workspace with this canonical mobile or landline number, if there is one."""
    if not number:
        return None
    rows = Target.objects.filter(Q(mobile=number) | Q(landline=number), deleted_at__isnull=True)
    return rows.order_by("pk").values_list("pk", flat=True).first()


def names_for(ids: Iterable[int]) -> dict[int, str]:
    """How to call these people of the active workspace. One query; missing ones are missing."""
    wanted = set(ids)
    if not wanted:
        return {}
    rows = Target.objects.filter(pk__in=wanted, deleted_at__isnull=True)
    people = rows.only("name", "first_name", "last_name")
    return {target.pk: str(target) for target in people}


def lists() -> QuerySet[TargetList]:
    """Lists of the active workspace by name."""
    return TargetList.objects.order_by("name", "pk")


def lists_with_counts(visibility: Visibility) -> QuerySet[TargetList]:
    """The same with `member_count`: people who exist and may be seen."""
    seen = Q(targets__deleted_at__isnull=True) & visibility.condition("targets__")
    return lists().annotate(member_count=Count("targets", filter=seen))


def list_for(list_id: int) -> TargetList:
    """One list by id. Raises NotFound."""
    found = TargetList.objects.filter(pk=list_id).first()
    if found is None:
        raise NotFound
    return found


def job_for(job_id: int) -> ImportJob:
    """One import by id. Raises NotFound."""
    job = ImportJob.objects.select_related("list", "created_by").filter(pk=job_id).first()
    if job is None:
        raise NotFound
    return job


def import_jobs() -> QuerySet[ImportJob]:
    """Imports of the active workspace, newest first."""
    return ImportJob.objects.select_related("list", "created_by").order_by("-pk")


def refused_rows(job: ImportJob) -> QuerySet[ImportRow]:
    """The rows of an import that were refused, in the order of the file."""
    return ImportRow.objects.filter(job=job, outcome=RowOutcome.REFUSED).order_by("row_number")


def owner_choices(workspace_id: int) -> QuerySet[User]:
    """Members who can own people, by name."""
    members = Membership.objects.filter(workspace_id=workspace_id)
    return User.objects.filter(pk__in=members.values("user_id"), is_active=True).order_by(
        "full_name", "email"
    )


def places(field: str) -> list[str]:
    """The provinces or cities in use, in order: choices of a filter. At most 200."""
    rows = Target.objects.filter(deleted_at__isnull=True).exclude(**{field: ""})
    return list(rows.order_by(field).values_list(field, flat=True).distinct()[:200])
