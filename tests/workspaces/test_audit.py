"""The audit log: what is written, what never is, and how people read it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from uuid import UUID

import pytest
from django.test import Client
from django.utils import timezone, translation
from django.utils.translation import gettext_noop

from core.tenancy import HistoryIsAppendOnly, WorkspaceRequired
from tests.factories import make_audit_record
from workspaces import audit, audit_page
from workspaces.models import AuditRecord, User, Workspace

EVENT = "workspace.changed"


def has_persian(text: str) -> bool:
    return any("\u0600" <= letter <= "\u06ff" for letter in text)


@pytest.fixture
def _no_new_events() -> Iterator[None]:
    labels, fields = dict(audit.AUDIT_LABELS), dict(audit.FIELD_LABELS)
    yield
    audit.AUDIT_LABELS.clear()
    audit.AUDIT_LABELS.update(labels)
    audit.FIELD_LABELS.clear()
    audit.FIELD_LABELS.update(fields)


@pytest.mark.parametrize("event", sorted(audit.AUDIT_LABELS))
def test_every_event_has_a_label_in_both_languages(event: str) -> None:
    with translation.override("fa"):
        persian = str(audit.AUDIT_LABELS[event])
    with translation.override("en"):
        english = str(audit.AUDIT_LABELS[event])

    assert has_persian(persian), f"no Persian label for {event}: {persian}"
    assert english
    assert not has_persian(english)
    assert english != event


@pytest.mark.parametrize("key", sorted(audit.FIELD_LABELS))
def test_every_named_field_has_a_name_in_both_languages(key: str) -> None:
    with translation.override("fa"):
        assert has_persian(str(audit.FIELD_LABELS[key]))
    with translation.override("en"):
        assert not has_persian(str(audit.FIELD_LABELS[key]))


@pytest.mark.parametrize("event", sorted(audit.AUDIT_LABELS))
def test_every_event_fits_the_column(event: str) -> None:
    assert len(event) <= 60


def test_a_row_names_workspace_person_event_entity_and_values(workspace: Workspace, owner: User) -> None:
    row = audit.record(EVENT, entity=workspace, old={"name": "A"}, new={"name": "B"}, user=owner)

    assert (row.workspace_id, row.user, row.event) == (workspace.pk, owner, EVENT)
    assert (row.entity_type, row.entity_id) == ("workspaces.workspace", str(workspace.pk))
    assert (row.old, row.new) == ({"name": "A"}, {"name": "B"})


def test_an_entity_may_be_named_without_its_row(workspace: Workspace) -> None:
    row = audit.record(EVENT, entity=(Workspace, 7), user=None)

    assert (row.entity_type, row.entity_id) == ("workspaces.workspace", "7")


def test_values_are_stored_as_json_can_say_them(workspace: Workspace) -> None:
    values = {
        "at": datetime(2026, 11, 30, tzinfo=UTC),
        "price": Decimal("1.50"),
        "id": UUID(int=5),
        "many": {3},
    }
    row = audit.record(EVENT, entity=workspace, new=values, user=None)
    row.refresh_from_db()

    assert row.new == {
        "at": "2026-11-30T00:00:00Z",
        "price": "1.50",
        "id": "00000000-0000-0000-0000-000000000005",
        "many": [3],
    }


@pytest.mark.parametrize(
    "key",
    [
        "password",
        "Password",
        "api_key",
        "webhook_token",
        "sealed_credentials",
        "credentials",
        "secret",
        "authorization",
    ],
)
def test_a_secret_is_never_stored(workspace: Workspace, key: str) -> None:
    row = audit.record(EVENT, entity=workspace, old={key: ""}, new={"a": {key: "canary-77"}}, user=None)

    assert (row.old, row.new) == ({key: "not set"}, {"a": {key: "set"}})


@pytest.mark.parametrize("key", ["name", "mobile", "opt_out_text", "daily_limit", "keywords"])
def test_what_is_no_secret_is_stored(workspace: Workspace, key: str) -> None:
    assert audit.record(EVENT, entity=workspace, new={key: "v"}, user=None).new == {key: "v"}


def test_an_event_nobody_can_read_is_not_written(workspace: Workspace) -> None:
    with pytest.raises(audit.UnknownEvent):
        audit.record("workspace.exploded", entity=workspace, user=None)


def test_a_row_needs_a_workspace(db: None) -> None:
    with pytest.raises(WorkspaceRequired):
        audit.record(EVENT, entity=("workspaces.workspace", 1), user=None)


@pytest.mark.usefixtures("_no_new_events")
def test_an_event_means_one_thing() -> None:
    audit.register_events({"story.told": gettext_noop("A story was told")})
    audit.register_events({"story.told": gettext_noop("A story was told")})

    with pytest.raises(ValueError, match=r"story\.told"):
        audit.register_events({"story.told": gettext_noop("Something else")})


def test_a_row_is_never_changed_or_deleted(workspace: Workspace) -> None:
    row = make_audit_record(workspace)
    for attempt in (
        row.save,
        row.delete,
        AuditRecord.objects.all().delete,
        lambda: AuditRecord.objects.update(event="x"),
    ):
        with pytest.raises(HistoryIsAppendOnly):
            attempt()


def test_only_what_differs_is_worth_a_row() -> None:
    assert audit.changes({"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 5}) == ({"b": 2}, {"b": 5})


def test_a_line_tells_before_and_after_in_words(workspace: Workspace, owner: User) -> None:
    row = make_audit_record(
        workspace,
        user=owner,
        old={"role": "seller"},
        new={"role": "admin", "on": True, "days": [1, 2], "gone": None},
    )
    with translation.override("en"):
        line = audit_page.line(row)

    assert [(c.label, c.old, c.new) for c in line.changes] == [
        ("Role", "Seller", "Administrator"),
        ("on", "—", "yes"),
        ("days", "—", "1, 2"),
    ]


def test_a_line_counts_people_and_spells_hours_out(workspace: Workspace, owner: User) -> None:
    hours = {
        "timezone": "Asia/Tehran",
        "days": {"sat": [["09:00", "12:00"], ["14:00", "18:00"]], "fri": None},
    }
    row = make_audit_record(workspace, user=owner, new={"count": 3, "ids": [7, 8, 9], "window": hours})
    with translation.override("en"):
        line = audit_page.line(row)

    assert [c.new for c in line.changes] == ["3", "Saturday 09:00-12:00 14:00-18:00"]
    with translation.override("fa"):
        assert audit_page.line(row).changes[-1].new == "شنبه ۰۹:۰۰-۱۲:۰۰ ۱۴:۰۰-۱۸:۰۰"


@pytest.mark.parametrize(
    ("entity", "key", "stored", "shown"),
    [
        ("campaigns.campaign", "status", "active", "در حال اجرا"),
        ("automation.workflow", "status", "active", "منتشرشده"),
        ("targets.target", "priority", "high", "زیاد"),
        ("blacklist.blacklistentry", "reason", "opt_out", "درخواست لغو"),
        ("campaigns.campaign", "daily_limit", 1200, "۱٬۲۰۰"),
        ("campaigns.campaign", "starts_at", "2026-11-30T05:30:00Z", "۱۴۰۵/۰۹/۰۹، ۰۹:۰۰"),
        ("automation.dailycounter", "day", "2026-11-30", "۱۴۰۵/۰۹/۰۹"),
        ("targets.target", "ids", [12000], "12000"),
        ("targets.target", "name", "active", "active"),
    ],
)
def test_stored_words_numbers_and_moments_are_shown_as_people_write_them(
    workspace: Workspace, entity: str, key: str, stored: object, shown: str
) -> None:
    row = make_audit_record(workspace, entity_type=entity, new={key: stored})
    with translation.override("fa"), timezone.override("Asia/Tehran"):
        assert audit_page.line(row).changes[0].new == shown


def test_an_event_of_an_older_release_is_shown_by_its_key(workspace: Workspace) -> None:
    assert audit_page.line(make_audit_record(workspace, event="gone.event")).label == "gone.event"


def test_what_an_entry_is_about_is_no_change(workspace: Workspace) -> None:
    row = make_audit_record(workspace, old={"step": "Hello"}, new={"step": "Hello", "name": "Hello"})
    assert [change.same for change in audit_page.line(row).changes] == [True, False]


def test_a_long_value_is_cut_on_the_page(workspace: Workspace) -> None:
    line = audit_page.line(make_audit_record(workspace, new={"text": "x" * 1000}))

    assert len(line.changes[0].new) == audit_page.MAX_VALUE_LENGTH


def test_the_page_shows_the_newest_fifty_first(member_client: Client, workspace: Workspace) -> None:
    rows = [make_audit_record(workspace) for _ in range(51)]
    page = member_client.get("/settings/audit").context["page"]

    assert (len(page), page.paginator.count) == (50, 51)
    assert page[0].pk == rows[-1].pk


def test_the_page_can_show_one_event_and_one_person(
    member_client: Client, workspace: Workspace, owner: User
) -> None:
    make_audit_record(workspace, event="member.added", user=owner)
    make_audit_record(workspace, event="member.added")
    make_audit_record(workspace, user=owner)
    page = member_client.get(f"/settings/audit?event=member.added&user={owner.pk}").context["page"]

    assert [(row.event, row.user) for row in page] == [("member.added", owner)]


def test_a_filter_that_means_nothing_narrows_nothing(member_client: Client, workspace: Workspace) -> None:
    make_audit_record(workspace)

    assert len(member_client.get("/settings/audit", {"event": "nope"}).context["page"]) == 1


def test_the_page_shows_nothing_of_another_workspace(
    member_client: Client, other_workspace: Workspace
) -> None:
    make_audit_record(other_workspace)

    assert len(member_client.get("/settings/audit").context["page"]) == 0


def test_the_page_takes_the_same_queries_for_one_row_and_for_fifty(
    member_client: Client, workspace: Workspace, owner: User, django_assert_max_num_queries: object
) -> None:
    for _ in range(50):
        make_audit_record(workspace, user=owner)
    member_client.get("/settings/audit")
    # 3 of the member, members, people, count, rows, the switch of the menu
    with django_assert_max_num_queries(8):  # type: ignore[operator]
        member_client.get("/settings/audit")


def test_what_people_wrote_is_shown_and_not_run(member_client: Client, workspace: Workspace) -> None:
    make_audit_record(workspace, new={"name": "<script>alert(1)</script>"})

    assert b"<script>alert" not in member_client.get("/settings/audit").content
