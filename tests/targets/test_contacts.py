"""One reading of contact input: the same table through the create form, the edit form and the import."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from core.spreadsheets.reading import SheetRow
from targets.contacts import duplicates_of, find_known, read_contact
from targets.forms import TargetForm
from targets.importing.interpret import Draft, Interpreter, Refusal
from targets.importing.mapping import Layout
from targets.models import Target
from tests.factories import make_target
from workspaces.models import Workspace

Answer = tuple[str, str] | str  # (mobile, landline) or the text of the first refusal
Path = Callable[[Workspace, str, str], Answer]


def by_create_form(workspace: Workspace, mobile: str, landline: str) -> Answer:
    return _by_form(TargetForm(_posted(mobile, landline), workspace_id=workspace.pk))


def by_edit_form(workspace: Workspace, mobile: str, landline: str) -> Answer:
    target = Target.objects.first() or make_target(workspace, mobile="09009999999")
    return _by_form(TargetForm(_posted(mobile, landline), workspace_id=workspace.pk, target=target))


def by_import(_workspace: Workspace, mobile: str, landline: str) -> Answer:
    layout = Layout(1, ("موبایل", "تلفن ثابت"))
    reading = Interpreter(layout, {"0": "mobile", "1": "landline"}).read(SheetRow(2, (mobile, landline)))
    if isinstance(reading, Draft):
        return reading.contact.mobile, reading.contact.landline
    assert isinstance(reading, Refusal)
    return reading.code


def _posted(mobile: str, landline: str) -> dict[str, str]:
    return {"mobile": mobile, "landline": landline, "status": "new", "priority": "normal"}


def _by_form(form: TargetForm) -> Answer:
    if form.is_valid():
        return form.values()["mobile"], form.values()["landline"]
    cells = [("mobile", form.data["mobile"]), ("landline", form.data["landline"])]
    return read_contact(cells, sort=False).problems[0].code  # type: ignore[arg-type]


@pytest.mark.django_db
@pytest.mark.parametrize("path", [by_create_form, by_edit_form, by_import])
@pytest.mark.parametrize(
    ("mobile", "landline", "answer"),
    [
        ("۰۹۱۲۳۴۵۶۷۸۹", "", ("09123456789", "")),
        ("+98 912 345 6789", "021-88776655", ("09123456789", "02188776655")),
        ("", "٠٢١٨٨٧٧٦٦٥٥", ("", "02188776655")),
        ("'09123456789", "", ("09123456789", "")),
        ("0912CALLNOW", "", "phone_characters"),
        ("09123456789", "12", "phone_length"),
        ("9.123456789E+09", "", "phone_decimal"),
        ("+12025550123", "", "phone_foreign"),
        ("9" * 40, "", "phone_length"),
    ],
)
def test_three_paths_read_one_input_alike(
    workspace: Workspace, path: Path, mobile: str, landline: str, answer: Answer
) -> None:
    assert path(workspace, mobile, landline) == answer


@pytest.mark.parametrize(
    ("cells", "where", "code"),
    [
        ([("mobile", "02188776655")], "mobile", "contact_is_landline"),
        ([("landline", "09123456789")], "landline", "contact_is_mobile"),
        ([("mobile", ""), ("landline", "")], "mobile", "contact_empty"),
    ],
)
def test_a_form_refuses_a_number_of_the_other_kind_under_its_field(
    cells: list[tuple[str, str]], where: str, code: str
) -> None:
    (problem,) = read_contact(cells, sort=False).problems  # type: ignore[arg-type]
    assert (problem.where, problem.code) == (where, code)


def test_an_import_puts_numbers_where_their_nature_belongs() -> None:
    contact = read_contact([("mobile", "02188776655"), ("landline", "09123456789")], sort=True)
    assert (contact.mobile, contact.landline, contact.problems) == ("09123456789", "02188776655", ())


def test_one_number_written_twice_is_one_number() -> None:
    assert read_contact([("mobile", "09123456789"), ("mobile", "+989123456789")], sort=True).problems == ()


def test_two_mobile_numbers_for_one_person_are_a_problem() -> None:
    (problem,) = read_contact([("mobile", "09123456789"), ("mobile", "09351112233")], sort=True).problems
    assert (problem.code, problem.at) == ("contact_two_mobiles", 1)


def test_people_are_found_by_number_or_code_in_their_own_workspace_only(
    workspace: Workspace, other_workspace: Workspace
) -> None:
    ours = make_target(workspace, mobile="09123456789", external_id="A1")
    make_target(other_workspace, mobile="09123456789", external_id="A1")
    contact = read_contact([("mobile", "09123456789")], sort=True)
    assert duplicates_of(contact, external_id="A1") == {"mobile": ours, "external_id": ours}


def test_the_person_being_edited_is_no_duplicate(workspace: Workspace) -> None:
    ours = make_target(workspace, mobile="09123456789")
    contact = read_contact([("mobile", "09123456789")], sort=True)
    assert duplicates_of(contact, except_id=ours.pk) == {}


def test_deleted_people_are_not_found(workspace: Workspace) -> None:
    from core import clock

    make_target(workspace, mobile="09123456789", deleted_at=clock.now())
    assert find_known([read_contact([("mobile", "09123456789")], sort=True)]).by_mobile == {}


def test_a_person_found_by_two_keys_is_one_object(workspace: Workspace) -> None:
    make_target(workspace, mobile="09123456789", landline="02188776655", external_id="A1")
    contact = read_contact([("mobile", "09123456789"), ("landline", "02188776655")], sort=True)
    known = find_known([contact], ["A1"])
    found = known.by_mobile["09123456789"]
    assert known.by_landline["02188776655"] is found
    assert known.by_external_id["A1"] is found
