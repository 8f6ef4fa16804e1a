"""Changes of people and lists. Each is one transaction with its audit row; callers checked the rights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from core import clock
from core.errors import Refused
from core.tenancy import current_workspace_id
from targets import hooks
from targets.models import Activity, Target, TargetList, TargetListMember
from workspaces import audit
from workspaces.models import User

FIELDS = (
    "external_id", "name", "first_name", "last_name", "mobile", "landline", "email", "province", "city",
    "status", "priority", "owner_id", "traits",
)  # fmt: skip
MAX_SELECTION = 20_000
MEMBERS_AT_ONCE = 1_000


def _snapshot(target: Target) -> dict[str, Any]:
    return {name: getattr(target, name) for name in FIELDS}


def create_target(values: Mapping[str, Any], *, user: User | None) -> Target:
    """A new person of the active workspace. Raises Refused when somebody took the number meanwhile."""
    target = Target(workspace_id=current_workspace_id(), **values)
    with _numbers_taken_meanwhile(), transaction.atomic():
        target.save()
        new = {name: value for name, value in _snapshot(target).items() if value}
        audit.record("target.created", entity=target, new=new, user=user)
    return target


def change_target(target: Target, values: Mapping[str, Any], *, user: User | None) -> bool:
    """Bring a person up to `values`; whether anything changed. Raises Refused as above."""
    old = _snapshot(target)
    for name, value in values.items():
        setattr(target, name, value)
    before, after = audit.changes(old, _snapshot(target))
    if not after:
        return False
    with _numbers_taken_meanwhile(), transaction.atomic():
        target.save(update_fields=[*after, "updated_at"])
        audit.record("target.changed", entity=target, old=before, new=after, user=user)
    return True


class _numbers_taken_meanwhile:  # noqa: N801  # reads as a sentence where it is used
    """The form looked for duplicates a moment ago; the unique indexes look again now."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, IntegrityError):
            raise Refused(
                _("Somebody else was just saved with this number or code."), code="contact_taken"
            ) from error


def delete_targets(people: QuerySet[Target], *, user: User | None) -> tuple[int, int]:
    """Remove people (their history stays) and end what is under way for them.

    Returns how many people and how many executions ended. All or nothing.
    """
    workspace_id = current_workspace_id()
    with transaction.atomic():
        # No key of theirs changes: a workflow that records an activity for them need not wait for this.
        ids = list(people.select_for_update(no_key=True).order_by("pk").values_list("pk", flat=True))
        stopped = hooks.cancel_affected(workspace_id, ids, user)
        now = clock.now()
        Target.objects.filter(pk__in=ids).update(deleted_at=now, updated_at=now)
        Activity.objects.filter(target_id__in=ids, hidden_at__isnull=True).update(
            hidden_at=now, updated_at=now
        )
        if len(ids) == 1:
            audit.record("target.deleted", entity=(Target, ids[0]), new={"stopped": stopped}, user=user)
        elif ids:
            new = {"count": len(ids), "ids": ids[:100], "stopped": stopped}
            audit.record("target.deleted", entity=(Target, 0), new=new, user=user)
    return len(ids), stopped


def create_list(name: str, *, description: str = "", user: User | None) -> TargetList:
    """A new list. Raises Refused when there is one of this name."""
    made = TargetList(
        workspace_id=current_workspace_id(), name=name, description=description, created_by=user
    )
    try:
        with transaction.atomic():
            made.save()
            audit.record("target_list.created", entity=made, new={"name": name}, user=user)
    except IntegrityError as exc:
        raise _name_taken() from exc
    return made


def change_list(found: TargetList, *, name: str, description: str, user: User | None) -> bool:
    """Rename or describe a list; whether anything changed. Raises Refused when the name is taken."""
    before = {"name": found.name, "description": found.description}
    old, new = audit.changes(before, {"name": name, "description": description})
    if not new:
        return False
    found.name, found.description = name, description
    try:
        with transaction.atomic():
            found.save(update_fields=["name", "description", "updated_at"])
            audit.record("target_list.changed", entity=found, old=old, new=new, user=user)
    except IntegrityError as exc:
        raise _name_taken() from exc
    return True


def delete_list(found: TargetList, *, user: User | None) -> None:
    """Delete a list; the people on it stay. Raises Refused when something still uses it."""
    with transaction.atomic():
        audit.record("target_list.deleted", entity=found, old={"name": found.name}, user=user)
        TargetListMember.objects.filter(list=found).delete()
        found.delete()


def _name_taken() -> Refused:
    return Refused(_("There is a list of this name already."), code="list_name_taken")


def add_to_list(found: TargetList, target_ids: Iterable[int], *, user: User | None) -> int:
    """Put people of the active workspace on a list; returns how many were not on it before."""
    wanted = set(target_ids)
    if len(wanted) > MAX_SELECTION:
        raise Refused(
            _("At most %(limit)s people can be chosen at once.") % {"limit": MAX_SELECTION},
            code="selection_too_large",
        )
    with transaction.atomic():
        TargetList.objects.select_for_update().get(
            pk=found.pk
        )  # two additions at once count each person once
        present = set(TargetListMember.objects.filter(list=found).values_list("target_id", flat=True))
        alive = Target.objects.filter(pk__in=wanted, deleted_at__isnull=True).values_list("pk", flat=True)
        missing = sorted(set(alive) - present)
        TargetListMember.objects.bulk_create(
            (TargetListMember(workspace_id=found.workspace_id, list=found, target_id=pk) for pk in missing),
            batch_size=MEMBERS_AT_ONCE,
        )
        if missing:
            new = {"name": found.name, "count": len(missing), "ids": missing[:100]}
            audit.record("target_list.members_added", entity=found, new=new, user=user)
    return len(missing)


def remove_from_list(found: TargetList, target_ids: Iterable[int], *, user: User | None) -> int:
    """Take people off a list; returns how many were on it."""
    with transaction.atomic():
        rows = TargetListMember.objects.filter(list=found, target_id__in=set(target_ids))
        gone = sorted(rows.values_list("target_id", flat=True))
        rows.delete()
        if gone:
            old = {"name": found.name, "count": len(gone), "ids": gone[:100]}
            audit.record("target_list.members_removed", entity=found, old=old, user=user)
    return len(gone)
