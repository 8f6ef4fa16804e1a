"""The one reading of contact input: create form, edit form and file import all come here.

A form says which field a number was typed in, so a landline in the mobile field is refused under that
field. A file's columns are less careful, so there numbers go where their nature belongs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from django.db.models import Q, QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from core import phones
from core.dates import in_digits_of_the_reader
from core.phones import Phone, PhoneError, parse_phone
from targets.models import Target

Field = Literal["mobile", "landline"]
NumberCell = tuple[Field, object]


MESSAGES: dict[str, Promise] = {
    **phones.MESSAGES,
    "contact_is_landline": _("This is a landline number. Write it in the field “Landline”."),
    "contact_is_mobile": _("This is a mobile number. Write it in the field “Mobile”."),
    "contact_two_mobiles": _("There are two different mobile numbers for one person."),
    "contact_two_landlines": _("There are two different landline numbers for one person."),
    "contact_empty": _("Write a mobile or a landline number."),
}
_WRONG_FIELD = {"mobile": "contact_is_landline", "landline": "contact_is_mobile"}
_TWO = {"mobile": "contact_two_mobiles", "landline": "contact_two_landlines"}


@dataclass(frozen=True, slots=True)
class ContactProblem:
    """Why a contact cannot be used. `where` is the field of the message; `at` its place in the input."""

    where: str
    code: str
    fields: dict[str, Any] = field(default_factory=dict)
    at: int = 0

    def __str__(self) -> str:
        return str(MESSAGES[self.code]) % in_digits_of_the_reader(self.fields)


@dataclass(frozen=True, slots=True)
class Contact:
    """A person's numbers in canonical spelling. Usable exactly when there are no problems."""

    mobile: str = ""
    landline: str = ""
    problems: tuple[ContactProblem, ...] = ()


def read_contact(cells: Sequence[NumberCell], *, sort: bool) -> Contact:
    """Read the numbers of one person.

    `cells` are (field the number was written in, text). With `sort` a number goes where it belongs
    whatever field it was written in; without, that is a problem of the field. Empty cells are skipped;
    at least one number is needed and two different numbers of one kind are a problem.
    """
    found: dict[str, str] = {}
    problems: list[ContactProblem] = []
    for at, (written_in, raw) in enumerate(cells):
        phone = _parse(written_in, raw, at, problems)
        if phone is None:
            continue
        if not sort and phone.kind != written_in:
            problems.append(ContactProblem(written_in, _WRONG_FIELD[written_in], at=at))
        elif found.setdefault(phone.kind, phone.value) != phone.value:
            problems.append(ContactProblem(written_in, _TWO[phone.kind], at=at))
    if not found and not problems:
        problems.append(ContactProblem("mobile", "contact_empty"))
    return Contact(found.get("mobile", ""), found.get("landline", ""), tuple(problems))


def _parse(written_in: str, raw: object, at: int, problems: list[ContactProblem]) -> Phone | None:
    try:
        return parse_phone(raw)
    except PhoneError as exc:
        if exc.code != "phone_empty":
            problems.append(ContactProblem(written_in, exc.code, exc.fields, at))
        return None


@dataclass(slots=True)
class Known:
    """People of the workspace found by their numbers or external ids (set-wise), one object each."""

    by_id: dict[int, Target] = field(default_factory=dict)
    by_mobile: dict[str, Target] = field(default_factory=dict)
    by_landline: dict[str, Target] = field(default_factory=dict)
    by_external_id: dict[str, Target] = field(default_factory=dict)

    def remember(self, target: Target) -> None:
        """Make a person findable by what they have now; also for people not yet in the database."""
        for index, value in (
            (self.by_mobile, target.mobile),
            (self.by_landline, target.landline),
            (self.by_external_id, target.external_id),
        ):
            if value:
                index[value] = target
        if target.pk is not None:
            self.by_id[target.pk] = target

    def forget(self, target: Target) -> None:
        """Call before the keys of a person change."""
        self.by_mobile.pop(target.mobile, None)
        self.by_landline.pop(target.landline, None)
        self.by_external_id.pop(target.external_id, None)


def find_known(contacts: Iterable[Contact], external_ids: Iterable[str] = ()) -> Known:
    """Who of the active workspace has one of these numbers or ids; deleted people are not found.

    One query for each of the three keys that is asked about, each on its own index.
    """
    wanted = list(contacts)
    known = Known()
    for key, values in (
        ("mobile", {contact.mobile for contact in wanted}),
        ("landline", {contact.landline for contact in wanted}),
        ("external_id", set(external_ids)),
    ):
        values.discard("")
        for target in _holders(key, values) if values else ():
            known.remember(known.by_id.get(target.pk, target))
    return known


def _holders(key: str, values: set[str]) -> QuerySet[Target]:
    """The condition on "" repeats that of the unique index, or the database would not use it."""
    return Target.objects.filter(~Q(**{key: ""}), deleted_at__isnull=True, **{f"{key}__in": values})


def duplicates_of(
    contact: Contact, *, external_id: str = "", except_id: int | None = None
) -> dict[str, Target]:
    """The people who already have this contact's number, by the field the message belongs to."""
    known = find_known([contact], [external_id])
    found = {
        "mobile": known.by_mobile.get(contact.mobile),
        "landline": known.by_landline.get(contact.landline),
        "external_id": known.by_external_id.get(external_id),
    }
    return {name: target for name, target in found.items() if target is not None and target.pk != except_id}
