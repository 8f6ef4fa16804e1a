"""Blocking and unblocking."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from blacklist import actions, queries
from blacklist.actions import AddResult
from blacklist.models import BlacklistEntry, Reason, Source
from tests.clocks import MovableClock
from tests.factories import make_blacklist_entry
from workspaces.models import AuditRecord, User, Workspace

NUMBER = "09123456789"
SPELLINGS = [
    "09123456789",
    "۰۹۱۲۳۴۵۶۷۸۹",
    "٠٩١٢٣٤٥٦٧٨٩",
    "+989123456789",
    "00989123456789",
    "9123456789",
    "0912 345 6789",
]


def add(workspace: Workspace, values: Iterable[object], **extra: Any) -> AddResult:
    fields: dict[str, Any] = {"source": Source.MANUAL, "reason": Reason.MANUAL, "user": None, **extra}
    return actions.add(workspace_id=workspace.pk, channel="sms", values=values, **fields)


def remove(workspace: Workspace, values: Iterable[object], user: User | None = None) -> tuple[str, ...]:
    return actions.remove(workspace_id=workspace.pk, channel="sms", values=values, user=user)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_number_is_stored_in_its_one_spelling(workspace: Workspace, spelling: str) -> None:
    assert add(workspace, [spelling]).added == (NUMBER,)
    assert queries.blocked_values(workspace.pk, "sms", [NUMBER]) == {NUMBER}


def test_spellings_of_one_number_are_one_entry(workspace: Workspace) -> None:
    assert add(workspace, SPELLINGS).added == (NUMBER,)
    assert BlacklistEntry.objects.count() == 1


def test_an_unreadable_value_is_told_with_its_place_and_reason(workspace: Workspace) -> None:
    (wrong,) = add(workspace, [NUMBER, "0912CALLNOW"]).invalid
    assert (wrong.index, wrong.raw, wrong.code) == (1, "0912CALLNOW", "phone_characters")


def test_a_blocked_number_keeps_its_reason_when_it_is_blocked_again(workspace: Workspace) -> None:
    add(workspace, [NUMBER], source=Source.OPT_OUT, reason=Reason.OPT_OUT)
    assert add(workspace, [NUMBER], source=Source.IMPORT, reason=Reason.IMPORTED).already == (NUMBER,)
    assert BlacklistEntry.objects.get().reason == Reason.OPT_OUT


def test_an_unblocked_number_is_blocked_again_with_the_new_reason(workspace: Workspace, owner: User) -> None:
    add(workspace, [NUMBER])
    remove(workspace, [NUMBER])
    again = add(workspace, [NUMBER], source=Source.OPT_OUT, reason=Reason.OPT_OUT, user=owner)
    entry = BlacklistEntry.objects.get()
    assert again.reactivated == (NUMBER,)
    assert (entry.is_active, entry.removed_at, entry.source, entry.created_by) == (
        True,
        None,
        "opt_out",
        owner,
    )


def test_unblocking_keeps_the_row_and_says_who_and_when(
    workspace: Workspace, owner: User, clock: MovableClock
) -> None:
    add(workspace, [NUMBER])
    assert remove(workspace, ["+98 912 345 6789"], owner) == (NUMBER,)
    entry = BlacklistEntry.objects.get()
    assert (entry.is_active, entry.removed_by, entry.removed_at) == (False, owner, clock.now())


def test_unblocking_what_is_not_blocked_changes_nothing(workspace: Workspace) -> None:
    assert remove(workspace, [NUMBER, "nonsense"]) == ()
    assert not AuditRecord.objects.exists()


def test_reactivation_keeps_source_and_reason(workspace: Workspace) -> None:
    add(workspace, [NUMBER], source=Source.OPT_OUT, reason=Reason.COMPLAINT)
    remove(workspace, [NUMBER])
    assert actions.reactivate(workspace_id=workspace.pk, channel="sms", values=[NUMBER], user=None) == (
        NUMBER,
    )
    entry = BlacklistEntry.objects.get()
    assert (entry.is_active, entry.source, entry.reason) == (True, Source.OPT_OUT, Reason.COMPLAINT)


def test_a_block_counts_in_its_own_workspace_only(workspace: Workspace, other_workspace: Workspace) -> None:
    add(other_workspace, [NUMBER])
    assert queries.blocked_values(workspace.pk, "sms", [NUMBER]) == set()
    assert queries.blocked_values(other_workspace.pk, "sms", [NUMBER]) == {NUMBER}


def test_a_block_counts_in_its_own_channel_only(workspace: Workspace) -> None:
    reasons = {"source": Source.MANUAL, "reason": Reason.MANUAL}
    actions.add(workspace_id=workspace.pk, channel="email", values=["Sara@Example.com"], user=None, **reasons)
    assert queries.blocked_values(workspace.pk, "email", ["sara@example.com"]) == {"sara@example.com"}
    assert queries.blocked_values(workspace.pk, "sms", ["sara@example.com"]) == set()


def test_removed_entries_block_nobody(workspace: Workspace) -> None:
    entry = make_blacklist_entry(workspace, is_active=False)
    assert not queries.is_blocked(workspace.pk, "sms", entry.value)


def test_asking_about_nobody_costs_no_query(workspace: Workspace) -> None:
    with CaptureQueriesContext(connection) as captured:
        assert queries.blocked_values(workspace.pk, "sms", ["", ""]) == set()
    assert len(captured) == 0


def test_asking_about_many_is_one_query(workspace: Workspace) -> None:
    numbers = [f"0912{n:07d}" for n in range(500)]
    with CaptureQueriesContext(connection) as captured:
        queries.blocked_values(workspace.pk, "sms", numbers)
    assert len(captured) == 1


def test_adding_many_costs_as_many_statements_as_adding_a_few(workspace: Workspace) -> None:
    costs = []
    for start, count in ((0, 2), (100, 50)):
        with CaptureQueriesContext(connection) as captured:
            add(workspace, [f"0912{n:07d}" for n in range(start, start + count)])
        costs.append(len(captured))
    assert costs[0] == costs[1]


@pytest.mark.parametrize(
    ("source", "event"), [(Source.MANUAL, "blacklist.added"), (Source.IMPORT, "blacklist.imported")]
)
def test_blocking_is_audited(workspace: Workspace, owner: User, source: str, event: str) -> None:
    add(workspace, [NUMBER], source=source, user=owner)
    record = AuditRecord.objects.get()
    entry = BlacklistEntry.objects.get()
    assert (record.event, record.user, record.entity_id) == (event, owner, str(entry.pk))
    assert record.new["values"] == [NUMBER]
    assert record.new["source"] == source


def test_unblocking_and_blocking_again_are_audited_with_old_and_new(
    workspace: Workspace, owner: User
) -> None:
    add(workspace, [NUMBER])
    remove(workspace, [NUMBER], owner)
    actions.reactivate(workspace_id=workspace.pk, channel="sms", values=[NUMBER], user=owner)
    told = [
        (r.event, r.old.get("active"), r.new.get("active")) for r in AuditRecord.objects.order_by("pk")[1:]
    ]
    assert told == [("blacklist.removed", True, False), ("blacklist.reactivated", False, True)]


def test_one_action_on_many_numbers_is_one_audit_row(workspace: Workspace) -> None:
    add(workspace, [f"0912{n:07d}" for n in range(150)])
    record = AuditRecord.objects.get()
    assert record.new["count"] == 150
    assert len(record.new["values"]) == actions.AUDITED_VALUES


def test_adding_nothing_readable_writes_nothing(workspace: Workspace) -> None:
    assert len(add(workspace, ["x", "y"]).invalid) == 2
    assert not AuditRecord.objects.exists()


def test_a_person_takes_back_their_own_no_and_nobody_else_s(workspace: Workspace) -> None:
    add(workspace, [NUMBER], source=Source.OPT_OUT, reason=Reason.OPT_OUT)
    add(workspace, ["09120000000"])
    both = [NUMBER, "09120000000"]
    removed = actions.remove(
        workspace_id=workspace.pk, channel="sms", values=both, user=None, only_source=Source.OPT_OUT
    )

    assert removed == (NUMBER,)
    assert queries.blocked_values(workspace.pk, "sms", both) == {"09120000000"}
