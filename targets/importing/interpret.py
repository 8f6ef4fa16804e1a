"""One row of the file becomes a draft of a person, or the first reason why it cannot. No database."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import lru_cache
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.utils import translation

from core.dates import DateError, parse_date
from core.spreadsheets.export import restored
from core.spreadsheets.reading import Cell, SheetRow, Unusable
from core.text import normalize_text, search_key, to_latin_digits
from targets import traits
from targets.contacts import Contact, NumberCell, read_contact
from targets.importing import fields, mapping
from targets.models import Priority, TargetStatus

LANGUAGES = ("fa", "en")
NO_NUMBER = frozenset({"ندارد", "نداره", "نامشخص", "ثبت نشده", "none", "null", "n/a", "no"})


@dataclass(slots=True)
class Draft:
    """A readable row: its contact and what the file says about the person. Empty cells say nothing."""

    number: int
    contact: Contact
    cells: tuple[Cell, ...] = ()
    values: dict[str, str] = field(default_factory=dict)
    traits: dict[str, str] = field(default_factory=dict)

    @property
    def external_id(self) -> str:
        return self.values.get("external_id", "")


@dataclass(frozen=True, slots=True)
class Refusal:
    """A row that cannot be used, with its cells as they were read so that it can be mended."""

    number: int
    code: str
    column: str = ""
    fields: dict[str, Any] = field(default_factory=dict)
    cells: tuple[Cell, ...] = ()


@dataclass(frozen=True, slots=True)
class Skipped:
    """A row that says nothing about a person. `why`: empty, header, before_header."""

    number: int
    why: str


Reading = Draft | Refusal | Skipped


class _Refuse(Exception):
    def __init__(self, code: str, **values: Any) -> None:
        self.code = code
        self.values = values
        super().__init__(code)


class Interpreter:
    """Reads the rows of one file in order, by one mapping.

    It remembers one thing: a second header (of a list pasted below the first) that orders the columns
    differently. The rows under it are refused, or names would land in the place of cities.
    """

    def __init__(self, layout: mapping.Layout, column_map: Mapping[str, str]) -> None:
        self.layout = layout
        self._map = {int(index): target for index, target in column_map.items() if target}
        self._numbers = [(i, f) for i, f in sorted(self._map.items()) if f in fields.NUMBER_FIELDS]
        self._texts = [(i, f) for i, f in sorted(self._map.items()) if f not in fields.NUMBER_FIELDS]
        self._other_header = 0

    def read(self, row: SheetRow) -> Reading:
        """What one row means."""
        if row.number <= self.layout.header_row:
            return Skipped(row.number, "header" if row.number == self.layout.header_row else "before_header")
        contact, problem = self._contact(row)
        if problem and self._is_header(row):
            return Skipped(row.number, "header")
        if self._other_header:
            return self._refusal(row, "other_header", None, {"row": self._other_header})
        if problem and all(_is_blank(self._cell(row, index)) for index in self._map):
            return Skipped(row.number, "empty")
        return problem or self._draft(row, contact)

    def _cell(self, row: SheetRow, index: int) -> Cell:
        return row.cells[index] if index < len(row.cells) else None

    def _is_header(self, row: SheetRow) -> bool:
        texts = ["" if cell is None else str(cell) for cell in row.cells]
        if not self.layout.header_row or not mapping.looks_like_header(row):
            return False
        theirs = mapping.suggest(texts)
        known = {i: f for i, f in theirs.items() if f in fields.BY_KEY}
        if len(known) < 2:
            return False
        fits = all(mapping.same_place(self._map.get(int(i), ""), f) for i, f in known.items())
        self._other_header = 0 if fits else row.number
        return True

    def _draft(self, row: SheetRow, contact: Contact) -> Draft | Refusal:
        draft = Draft(row.number, contact, row.cells)
        for index, target in self._texts:
            cell = self._cell(row, index)
            if _is_blank(cell):
                continue
            try:
                self._put(draft, target, cell)
            except _Refuse as why:
                return self._refusal(row, why.code, index, why.values)
        return draft

    def _contact(self, row: SheetRow) -> tuple[Contact, Refusal | None]:
        cells: list[NumberCell] = []
        for index, target in self._numbers:
            cell = self._cell(row, index)
            if isinstance(cell, Unusable):
                return Contact(), self._refusal(row, f"cell_{cell.kind}", index, {})
            says_none = isinstance(cell, str) and search_key(cell) in NO_NUMBER
            cells.append(("landline" if target == "landline" else "mobile", "" if says_none else cell))
        contact = read_contact(cells, sort=True)
        if not contact.problems:
            return contact, None
        problem = contact.problems[0]
        column = None if problem.code == "contact_empty" else self._numbers[problem.at][0]
        return contact, self._refusal(row, problem.code, column, problem.fields)

    def _put(self, draft: Draft, target: str, cell: Cell) -> None:
        if isinstance(cell, Unusable):
            raise _Refuse(f"cell_{cell.kind}")
        if target.startswith(fields.DATE):
            draft.traits[target.removeprefix(fields.DATE)] = _date(cell)
        elif target.startswith(fields.TRAIT):
            draft.traits[target.removeprefix(fields.TRAIT)] = _text(cell, traits.MAX_VALUE)
        else:
            text = _text(cell, fields.BY_KEY[target].limit)
            draft.values[target] = _CHECKS[target](text) if target in _CHECKS else text

    def _refusal(self, row: SheetRow, code: str, index: int | None, values: dict[str, Any]) -> Refusal:
        column = "" if index is None else self.layout.columns[index]
        return Refusal(row.number, code, column, values, row.cells)


def _is_blank(cell: Cell) -> bool:
    if not isinstance(cell, str):
        return cell is None
    return not cell[:1].isalnum() and not normalize_text(cell).strip("-–—")


def _text(cell: Cell, limit: int) -> str:
    if isinstance(cell, str):
        text = normalize_text(restored(cell)).replace("\n", " ")
    else:
        text = cell.isoformat() if isinstance(cell, date) else str(cell)
    if "\ufffd" in text:
        raise _Refuse("cell_unreadable")
    if len(text) > limit:
        raise _Refuse("text_too_long", limit=limit)
    return text


def _date(cell: Cell) -> str:
    if isinstance(cell, date) and not isinstance(cell, datetime):
        return cell.isoformat()
    text = _text(cell, 40)
    try:
        return parse_date(text.split(" 00:00")[0].removesuffix("T00:00:00")).isoformat()
    except DateError:
        raise _Refuse("date_invalid") from None


def _email(text: str) -> str:
    try:
        validate_email(text)
    except ValidationError:
        raise _Refuse("email_invalid") from None
    return text.lower()


def _choice(choices: type[TargetStatus] | type[Priority], code: str) -> Callable[[str], str]:
    """A reader of a choice by its key or by its label in any language of the site."""

    @lru_cache(maxsize=256)
    def read(text: str) -> str:
        wanted = search_key(text)
        for language in LANGUAGES:
            with translation.override(language):
                for value, label in choices.choices:
                    if wanted in (search_key(value), search_key(str(label))):
                        return str(value)
        raise _Refuse(code)

    return read


_CHECKS: Mapping[str, Callable[[str], str]] = {
    "external_id": to_latin_digits,
    "email": _email,
    "status": _choice(TargetStatus, "status_unknown"),
    "priority": _choice(Priority, "priority_unknown"),
}


def shown_cells(cells: Sequence[Cell]) -> list[str]:
    """Cells as text, for the page and for the file of refused rows."""
    return ["" if cell is None else str(cell)[: traits.MAX_VALUE] for cell in cells]
