"""People of the workspace as subjects of executions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from automation.runtime.subjects import Subject
from core.statements import read
from targets.models import Target, TargetList, TargetListMember

READ = (
    "name", "first_name", "last_name", "mobile", "landline", "email", "province", "city", "status",
    "priority", "traits", "created_at",
)  # fmt: skip


def load_targets(workspace_id: int, ids: Iterable[int]) -> dict[int, Subject]:
    """The targets that exist (not removed), by id. Three queries, two when none is on a list."""
    wanted = list(ids)
    alive = {"id": wanted, "deleted_at": None}
    lists = _lists(workspace_id, wanted)
    return {
        target_id: _subject(target_id, dict(zip(READ, columns, strict=True)), lists.get(target_id, []))
        for target_id, *columns in read(Target, ("id", *READ), alive, workspace_id=workspace_id)
    }


def _lists(workspace_id: int, target_ids: list[int]) -> dict[int, list[str]]:
    """Names of the lists that each is a member of."""
    theirs = {"target_id": target_ids}
    members = read(TargetListMember, ("target_id", "list_id"), theirs, workspace_id=workspace_id)
    if not members:
        return {}
    wanted = {"id": {list_id for _, list_id in members}}
    names = dict(read(TargetList, ("id", "name"), wanted, workspace_id=workspace_id))
    lists: dict[int, list[str]] = defaultdict(list)
    for target_id, list_id in members:
        lists[target_id].append(names[list_id])
    return lists


def _subject(target_id: int, values: dict[str, Any], lists: list[str]) -> Subject:
    full_name = values["name"] or " ".join(filter(None, (values["first_name"], values["last_name"])))
    facts = {**values.pop("traits"), **values, "name": full_name, "lists": lists}
    return Subject(id=target_id, status=values["status"], facts=facts, contacts={"sms": values["mobile"]})
