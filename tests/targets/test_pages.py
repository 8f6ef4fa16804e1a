"""People and lists in the browser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.http import Http404
from django.test import Client
from django.test.utils import CaptureQueriesContext

from blacklist.models import BlacklistEntry
from core import clock
from targets.hooks import register_removal_hook, unregister_removal_hook
from targets.models import Target, TargetList, TargetListMember
from targets.panels import Panel, register_panel, unregister_panel
from tests.factories import make_blacklist_entry, make_target, make_target_list
from tests.people import client_of
from workspaces.models import AuditRecord, User, Workspace

URL = "/targets/"


@pytest.fixture
def site(marketer: User) -> Client:
    return client_of(marketer, language="en")


def posted(**fields: Any) -> dict[str, Any]:
    return {"status": "new", "priority": "normal", "mobile": "", "landline": "", **fields}


def ids(response: Any) -> list[int]:
    return sorted(target.pk for target in response.context["page"])


# --- the list


@pytest.mark.parametrize(
    "query",
    [
        "سارا احمدي",
        "احمدی سارا",
        "0912345",
        "۰۹۱۲۳۴۵",
        "+98 912 345 6789",
        "9123456789",
        "a-77",
        "SARA@EXAMPLE.COM",
    ],
)
def test_search_finds_a_person_however_it_is_typed(site: Client, workspace: Workspace, query: str) -> None:
    sara = Target(
        workspace=workspace,
        name="سارا احمدی",
        mobile="09123456789",
        external_id="A-77",
        email="sara@example.com",
    )
    sara.save()
    make_target(workspace, name="علی")
    assert ids(site.get(URL, {"q": query})) == [sara.pk]


@pytest.mark.parametrize(
    ("parameters", "fields"),
    [
        ({"status": "interested"}, {"status": "interested"}),
        ({"priority": "high"}, {"priority": "high"}),
        ({"province": "یزد"}, {"province": "یزد"}),
        ({"city": "کرج"}, {"city": "کرج"}),
        ({"number": "none"}, {"landline": "02188776655"}),
    ],
)
def test_filters_narrow_the_list(
    site: Client, workspace: Workspace, parameters: dict[str, str], fields: dict[str, str]
) -> None:
    wanted = make_target(workspace, **fields)
    make_target(workspace)
    assert ids(site.get(URL, parameters)) == [wanted.pk]


def test_the_list_filter_and_the_owner_filter(site: Client, workspace: Workspace, seller: User) -> None:
    one, two = make_target(workspace), make_target(workspace, owner=seller)
    made = make_target_list(workspace, one)
    assert ids(site.get(URL, {"list": made.pk})) == [one.pk]
    assert ids(site.get(URL, {"owner": seller.pk})) == [two.pk]


@pytest.mark.parametrize(("answer", "place"), [("yes", 0), ("no", 1)])
def test_the_blacklist_filter(site: Client, workspace: Workspace, answer: str, place: int) -> None:
    people = [make_target(workspace, mobile="09120000001"), make_target(workspace, mobile="09120000002")]
    make_blacklist_entry(workspace, value="09120000001")
    make_blacklist_entry(workspace, value="09120000002", is_active=False)
    assert ids(site.get(URL, {"blocked": answer})) == [people[place].pk]


@pytest.mark.parametrize("parameters", [{"status": "x"}, {"list": "999"}, {"list": "x"}, {"owner": "²"}])
def test_a_condition_that_cannot_be_read_selects_nobody(
    site: Client, workspace: Workspace, parameters: dict[str, str]
) -> None:
    make_target(workspace)
    response = site.get(URL, parameters)
    assert (response.status_code, ids(response)) == (200, [])


def test_other_workspaces_and_deleted_people_are_not_listed(
    site: Client, workspace: Workspace, other_workspace: Workspace
) -> None:
    make_target(other_workspace)
    make_target(workspace, deleted_at=clock.now())
    assert ids(site.get(URL)) == []


def test_a_seller_sees_own_people_only(workspace: Workspace, seller: User) -> None:
    own = make_target(workspace, owner=seller)
    other = make_target(workspace)
    site = client_of(seller)
    assert ids(site.get(URL)) == [own.pk]
    assert site.get(f"{URL}{own.pk}/").status_code == 200
    assert site.get(f"{URL}{other.pk}/").status_code == 404


def test_the_list_costs_as_many_queries_for_fifty_people_as_for_one(
    site: Client, workspace: Workspace, seller: User
) -> None:
    site.get(URL)
    costs = []
    for count in (1, 49):
        for _n in range(count):
            make_target(workspace, owner=seller, city=f"شهر {count}")
        with CaptureQueriesContext(connection) as captured:
            site.get(URL)
        costs.append(len(captured))
    assert costs[0] == costs[1] <= 11  # one of them is the menu's: whether automation is on


# --- one person


def test_a_person_is_added_with_numbers_in_their_one_spelling(
    site: Client, workspace: Workspace, marketer: User
) -> None:
    response = site.post(
        URL + "new/",
        posted(
            first_name=" سارا ",
            mobile="۰۹۱۲ ۳۴۵ ۶۷۸۹",
            landline="021-88776655",
            traits="رنگ: آبي\nکد پستی: ۱۲۳",
        ),
    )
    target = Target.objects.get()
    assert response["Location"] == f"{URL}{target.pk}/"
    assert (target.first_name, target.mobile, target.landline) == ("سارا", "09123456789", "02188776655")
    assert target.traits == {"رنگ": "آبی", "کد_پستی": "۱۲۳"}
    assert AuditRecord.objects.get().new["mobile"] == "09123456789"


@pytest.mark.parametrize(
    ("field", "values", "words"),
    [
        ("mobile", {"mobile": "02188776655"}, "This is a landline number"),
        ("landline", {"landline": "09123456789"}, "This is a mobile number"),
        ("mobile", {}, "Write a mobile or a landline number"),
        ("mobile", {"mobile": "0912CALLNOW"}, "characters that do not belong"),
        ("landline", {"mobile": "09123456789", "landline": "88"}, "ten digits"),
        ("email", {"mobile": "09123456789", "email": "sara@"}, "valid email address"),
        ("traits", {"mobile": "09123456789", "traits": "رنگ آبی"}, "Line 1"),
    ],
)
def test_a_wrong_input_is_refused_under_its_field(
    site: Client, workspace: Workspace, field: str, values: dict[str, str], words: str
) -> None:
    response = site.post(URL + "new/", posted(**values))
    assert response.status_code == 422
    assert words in response.content.decode()
    assert list(response.context["form"].errors) == [field]
    assert not Target.objects.exists()


def test_a_number_that_is_taken_names_the_person(site: Client, workspace: Workspace) -> None:
    target = make_target(workspace, name="سارا احمدی", mobile="09123456789")
    response = site.post(URL + "new/", posted(mobile="+989123456789"))
    assert "سارا احمدی" in str(response.context["form"].errors["mobile"])
    assert f"{URL}{target.pk}/" in response.content.decode()


def test_the_number_of_a_deleted_person_is_free(site: Client, workspace: Workspace) -> None:
    make_target(workspace, mobile="09123456789", deleted_at=clock.now())
    assert site.post(URL + "new/", posted(mobile="09123456789")).status_code == 302


def test_a_person_is_changed_with_old_and_new_in_the_audit_log(site: Client, workspace: Workspace) -> None:
    target = make_target(workspace, name="سارا", mobile="09123456789")
    site.post(f"{URL}{target.pk}/edit/", posted(name="سارا احمدی", mobile="09123456789"))
    target.refresh_from_db()
    record = AuditRecord.objects.get()
    assert (target.name, "احمدی" in target.search_text) == ("سارا احمدی", True)
    assert (record.event, record.old, record.new) == (
        "target.changed",
        {"name": "سارا"},
        {"name": "سارا احمدی"},
    )


def test_saving_without_a_change_writes_nothing(site: Client, workspace: Workspace) -> None:
    target = make_target(workspace, name="سارا", mobile="09123456789", traits={"birth_date": "1991-06-28"})
    form = site.get(f"{URL}{target.pk}/edit/").context["form"]
    values = {name: form[name].value() or "" for name in form.fields}
    assert site.post(f"{URL}{target.pk}/edit/", values).status_code == 302
    assert not AuditRecord.objects.exists()


@pytest.mark.parametrize(
    ("typed", "stored"),
    [("1370/04/07", "1991-06-28"), ("۷ تیر ۱۳۷۰", "1991-06-28"), ("1991-06-28", "1991-06-28")],
)
def test_a_date_of_birth_is_typed_in_any_calendar_and_stored_in_one(
    site: Client, workspace: Workspace, typed: str, stored: str
) -> None:
    site.post(URL + "new/", posted(mobile="09123456789", traits=f"Date of birth: {typed}"))
    assert Target.objects.get().traits == {"birth_date": stored}


def test_a_date_that_became_no_date_is_refused(site: Client, workspace: Workspace) -> None:
    target = make_target(workspace, mobile="09123456789", traits={"عضویت": "2026-11-30"})
    response = site.post(f"{URL}{target.pk}/edit/", posted(mobile="09123456789", traits="عضویت: دیروز"))
    assert "Line 1: this is not a date" in response.content.decode()


def test_a_date_is_shown_in_the_calendar_of_the_reader(
    site: Client, workspace: Workspace, owner: User
) -> None:
    target = make_target(workspace, traits={"birth_date": "1991-06-28"})
    assert "1991-06-28" in site.get(f"{URL}{target.pk}/").content.decode()
    assert "۱۳۷۰/۰۴/۰۷" in client_of(owner).get(f"{URL}{target.pk}/").content.decode()


@pytest.mark.parametrize("page", ["", "edit/", "delete/"])
def test_a_person_of_another_workspace_is_not_found(
    site: Client, workspace: Workspace, other_workspace: Workspace, page: str
) -> None:
    target = make_target(other_workspace)
    assert site.get(f"{URL}{target.pk}/{page}").status_code == 404


def test_a_name_with_markup_is_shown_as_text(site: Client, workspace: Workspace) -> None:
    target = make_target(workspace, name="<script>alert(1)</script>", traits={"x": "<b>"})
    html = site.get(f"{URL}{target.pk}/").content.decode()
    assert "<script>alert(1)" not in html
    assert "<b>" not in html


def test_a_number_is_blocked_and_unblocked_on_the_page(site: Client, workspace: Workspace) -> None:
    target = make_target(workspace, mobile="09123456789")
    site.post(f"{URL}{target.pk}/block/")
    assert BlacklistEntry.objects.get().is_active
    assert "Nothing is sent to this number" in site.get(f"{URL}{target.pk}/").content.decode()
    site.post(f"{URL}{target.pk}/unblock/")
    assert not BlacklistEntry.objects.get().is_active


def test_somebody_without_a_mobile_number_cannot_be_blocked(site: Client, workspace: Workspace) -> None:
    target = make_target(workspace, landline="02188776655")
    assert site.post(f"{URL}{target.pk}/block/").status_code == 409


def test_an_operator_looks_and_changes_nothing(workspace: Workspace, operator: User) -> None:
    target = make_target(workspace)
    site = client_of(operator, language="en")
    html = site.get(f"{URL}{target.pk}/").content.decode()
    assert ("Edit" in html, "Block this number" in html) == (False, False)
    for page in ("edit/", "delete/", "block/", "lists/"):
        assert site.post(f"{URL}{target.pk}/{page}").status_code == 403
    assert site.get(URL + "imports/new/").status_code == 403


# --- removal


@pytest.fixture
def hook() -> Iterator[list[tuple[int, list[int]]]]:
    """Somebody above who has three executions under way for everybody."""
    cancelled: list[tuple[int, list[int]]] = []

    def cancel(workspace_id: int, target_ids: Any, _user: User | None) -> int:
        cancelled.append((workspace_id, list(target_ids)))
        return 3

    register_removal_hook("test", count=lambda _workspace_id, target_ids: 3 * len(target_ids), cancel=cancel)
    yield cancelled
    unregister_removal_hook("test")


def test_deletion_warns_of_what_is_under_way(site: Client, workspace: Workspace, hook: Any) -> None:
    target = make_target(workspace)
    html = site.get(f"{URL}{target.pk}/delete/").content.decode()
    assert "3 executions" in html
    assert hook == []


def test_deletion_keeps_the_row_and_ends_what_is_under_way(
    site: Client, workspace: Workspace, hook: Any
) -> None:
    target = make_target(workspace)
    site.post(f"{URL}{target.pk}/delete/")
    target.refresh_from_db()
    assert target.deleted_at is not None
    assert hook == [(workspace.pk, [target.pk])]
    assert AuditRecord.objects.get().new == {"stopped": 3}


def test_a_failure_elsewhere_keeps_the_person(site: Client, workspace: Workspace) -> None:
    target = make_target(workspace)

    def fail(*_: Any) -> int:
        raise Http404

    register_removal_hook("failing", count=lambda *_: 0, cancel=fail)
    try:
        site.post(f"{URL}{target.pk}/delete/")
    finally:
        unregister_removal_hook("failing")
    target.refresh_from_db()
    assert target.deleted_at is None


# --- panels


@pytest.fixture
def panel() -> Iterator[None]:
    def build(_request: Any, target: Target) -> Any:
        return (
            ("components/empty.html", {"title": f"story of {target.pk}"}) if target.name != "hidden" else None
        )

    register_panel(
        Panel(key="story", label="Story", build=build, visible=lambda r: "targets.manage" in r.permissions)
    )
    yield
    unregister_panel("story")


def test_a_registered_panel_is_a_tab(site: Client, workspace: Workspace, panel: None) -> None:
    target = make_target(workspace)
    assert "?tab=story" in site.get(f"{URL}{target.pk}/").content.decode()
    html = site.get(f"{URL}{target.pk}/?tab=story").content.decode()
    assert f"story of {target.pk}" in html


def test_a_panel_is_not_there_for_those_who_may_not_see_it(
    workspace: Workspace, operator: User, panel: None
) -> None:
    target = make_target(workspace)
    site = client_of(operator)
    html = site.get(f"{URL}{target.pk}/?tab=story").content.decode()
    assert "story of" not in html
    assert ">Story<" not in html


def test_a_panel_that_answers_nothing_is_not_found(site: Client, workspace: Workspace, panel: None) -> None:
    target = make_target(workspace, name="hidden")
    assert site.get(f"{URL}{target.pk}/?tab=story").status_code == 404


# --- lists and selections


def test_a_list_is_created_renamed_and_deleted(site: Client, workspace: Workspace) -> None:
    site.post(URL + "lists/new/", {"name": "مشتریان"})
    made = TargetList.objects.get()
    site.post(f"{URL}lists/{made.pk}/edit/", {"name": "مشتریان خوب"})
    made.refresh_from_db()
    assert made.name == "مشتریان خوب"
    site.post(f"{URL}lists/{made.pk}/delete/")
    assert not TargetList.objects.exists()
    assert [r.event for r in AuditRecord.objects.order_by("pk")] == [
        "target_list.created",
        "target_list.changed",
        "target_list.deleted",
    ]


def test_two_lists_cannot_share_a_name(site: Client, workspace: Workspace) -> None:
    make_target_list(workspace, name="مشتریان")
    response = site.post(URL + "lists/new/", {"name": "مشتريان"})
    assert (response.status_code, TargetList.objects.count()) == (422, 1)


def test_lists_show_how_many_people_a_member_sees_on_them(
    workspace: Workspace, seller: User, marketer: User
) -> None:
    people = [make_target(workspace, owner=seller), make_target(workspace), make_target(workspace)]
    people[2].deleted_at = clock.now()
    people[2].save()
    make_target_list(workspace, *people)
    counts = [
        client_of(user).get(URL + "lists/").context["page"][0].member_count for user in (marketer, seller)
    ]
    assert counts == [2, 1]


def test_one_person_is_put_on_a_list_and_taken_off(site: Client, workspace: Workspace) -> None:
    target, made = make_target(workspace), make_target_list(workspace)
    site.post(f"{URL}{target.pk}/lists/", {"list": made.pk})
    assert TargetListMember.objects.count() == 1
    site.post(f"{URL}{target.pk}/lists/", {"list": made.pk, "off": "1"})
    assert TargetListMember.objects.count() == 0


def test_ticked_people_are_put_on_a_list_once(site: Client, workspace: Workspace) -> None:
    people = [make_target(workspace) for _n in range(3)]
    made = make_target_list(workspace, people[0])
    form = {"scope": "ticked", "action": "add", "list": made.pk, "target": [people[0].pk, people[1].pk]}
    site.post(URL + "selection/", form)
    assert set(TargetListMember.objects.values_list("target_id", flat=True)) == {people[0].pk, people[1].pk}
    assert AuditRecord.objects.get().new["count"] == 1


def test_everybody_the_filter_found_is_put_on_a_list(site: Client, workspace: Workspace) -> None:
    people = [make_target(workspace, city=city) for city in ("کرج", "کرج", "یزد")]
    made = make_target_list(workspace)
    site.post(URL + "selection/", {"scope": "all", "action": "add", "list": made.pk, "query": "city=کرج"})
    assert set(TargetListMember.objects.values_list("target_id", flat=True)) == {people[0].pk, people[1].pk}


def test_a_filter_that_cannot_be_read_selects_nobody_for_an_action(
    site: Client, workspace: Workspace
) -> None:
    make_target(workspace)
    made = make_target_list(workspace)
    site.post(URL + "selection/", {"scope": "all", "action": "add", "list": made.pk, "query": "list=999"})
    assert not TargetListMember.objects.exists()


def test_people_of_another_workspace_cannot_be_selected(
    site: Client, workspace: Workspace, other_workspace: Workspace
) -> None:
    theirs, made = make_target(other_workspace), make_target_list(workspace)
    site.post(
        URL + "selection/", {"scope": "ticked", "action": "add", "list": made.pk, "target": [theirs.pk]}
    )
    assert not TargetListMember.unscoped.exists()


def test_many_people_are_deleted_after_a_question(site: Client, workspace: Workspace, hook: Any) -> None:
    people = [make_target(workspace) for _n in range(2)]
    form: dict[str, Any] = {"scope": "ticked", "action": "delete", "target": [p.pk for p in people]}
    question = site.post(URL + "selection/", form).content.decode()
    assert "Delete 2 people?" in question
    assert "6 executions" in question
    assert Target.objects.filter(deleted_at__isnull=True).count() == 2
    site.post(URL + "selection/", {**form, "confirmed": "1"})
    assert not Target.objects.filter(deleted_at__isnull=True).exists()


@pytest.mark.parametrize("form", [{}, {"scope": "ticked", "action": "add"}, {"scope": "x", "action": "y"}])
def test_a_selection_without_people_or_action_changes_nothing(
    site: Client, workspace: Workspace, form: dict[str, str]
) -> None:
    make_target(workspace)
    response = site.post(URL + "selection/", {**form, "target": "²"})
    assert response.status_code == 302
