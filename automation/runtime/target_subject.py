"""People of the workspace as subjects of executions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from automation.runtime.subjects import Subject
from targets.models import Target, TargetListMember

READ = (
    "name", "first_name", "last_name", "mobile", "landline", "email", "province", "city", "status",
    "priority", "traits", "created_at",
)  # fmt: skip


def load_targets(workspace_id: int, ids: Iterable[int]) -> dict[int, Subject]:
    """The targets that exist (not removed), by id. Two queries."""
    wanted = list(ids)
    rows = Target.objects.filter(workspace_id=workspace_id, pk__in=wanted, deleted_at__isnull=True)
    rows = rows.only(*READ)
    lists: dict[int, list[str]] = defaultdict(list)
    members = TargetListMember.objects.filter(target_id__in=wanted).values_list("target_id", "list__name")
    for target_id, name in members:
        lists[target_id].append(name)
    return {row.pk: _subject(row, lists[row.pk]) for row in rows}


def _subject(row: Target, lists: list[str]) -> Subject:
    return Subject(
        id=row.pk,
        status=row.status,
        facts={
            **row.traits,
            "name": row.display_name,
            "first_name": row.first_name,
            "last_name": row.last_name,
            "mobile": row.mobile,
            "landline": row.landline,
            "email": row.email,
            "province": row.province,
            "city": row.city,
            "status": row.status,
            "priority": row.priority,
            "lists": lists,
            "created_at": row.created_at,
        },
        contacts={"sms": row.mobile},
    )
