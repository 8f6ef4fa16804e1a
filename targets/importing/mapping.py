"""Which column holds what: where the header is, what is suggested, what is allowed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from core.errors import Invalid
from core.phones import PhoneError, parse_phone
from core.spreadsheets.reading import Cell, SheetRow
from core.spreadsheets.refusal import column_letters
from core.text import normalize_text
from targets import traits
from targets.importing import fields

MAX_HEADER = 100
LOOK_AHEAD = 10  # rows in which the header is looked for: titles may stand above it

ColumnMap = dict[str, str]  # column index (as text: it is kept as JSON) -> field


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the header is (0: the file has none) and its texts; a column without one has its letter."""

    header_row: int
    columns: tuple[str, ...]
    first_row: tuple[Cell, ...] = ()  # of a file without a header


def find_layout(rows: Iterable[SheetRow]) -> Layout | None:
    """The layout of a file from its first rows; None when there are none."""
    first: list[SheetRow] = []
    for row in rows:
        first.append(row)
        if len(first) == LOOK_AHEAD:
            break
    if not first:
        return None
    header = next((row for row in first if looks_like_header(row)), None)
    width = max(len(row.cells) for row in first)
    if header is None and has_number(first[0]):
        names = tuple(_("Column %(letter)s") % {"letter": column_letters(i)} for i in range(width))
        return Layout(0, names, first[0].cells)
    row = header or first[0]
    return Layout(row.number, _header_texts(row, width))


def _header_texts(row: SheetRow, width: int) -> tuple[str, ...]:
    texts = []
    for index in range(width):
        cell = row.cells[index] if index < len(row.cells) else None
        text = normalize_text("" if cell is None else str(cell)).replace("\n", " ")[:MAX_HEADER]
        texts.append(text or _("Column %(letter)s") % {"letter": column_letters(index)})
    return tuple(texts)


def looks_like_header(row: SheetRow) -> bool:
    """Whether a row is made of headers: a number's header, or two known ones, and no number itself."""
    texts = [cell for cell in row.cells if isinstance(cell, str)]
    known = [field for field in suggest(texts).values() if not field.startswith(fields.TRAIT) and field]
    if not known or has_number(row):
        return False
    return any(field in fields.NUMBER_FIELDS for field in known) or len(known) > 1


def has_number(row: SheetRow) -> bool:
    return any(is_number(cell) for cell in row.cells)


def is_number(cell: Cell) -> bool:
    """Whether a cell holds a readable phone number."""
    if not isinstance(cell, str | int):
        return False
    try:
        parse_phone(cell)
    except PhoneError:
        return False
    return True


def suggest(columns: Sequence[str], first_row: Sequence[Cell] = ()) -> ColumnMap:
    """The likely field of each column: by its header, else (no header at all) by its first cell.

    A column nobody recognises becomes a trait of its own name, one that only counts rows is ignored;
    when two columns claim one field, the second becomes a trait.
    """
    if first_row:
        return {str(i): "phone" if is_number(cell) else fields.IGNORE for i, cell in enumerate(first_row)}
    keys = {fields.header_key(column) for column in columns}
    with_last_name = any(fields.recognised(key, with_last_name=True) == "last_name" for key in keys)
    chosen: ColumnMap = {}
    for index, column in enumerate(columns):
        field = fields.recognised(column, with_last_name=with_last_name)
        if not field or field in chosen.values():
            field = _other(column)
        chosen[str(index)] = field if field not in chosen.values() else fields.IGNORE
    return chosen


def _other(column: str) -> str:
    key = traits.trait_key(column)
    if not key or fields.is_counter(column):
        return fields.IGNORE
    return (fields.DATE if fields.is_date_header(column) else fields.TRAIT) + key


def recognises_nothing(mapping: Mapping[str, str]) -> bool:
    """Whether no column is more than a trait: the headers match nothing we know."""
    return not any(field in fields.BY_KEY for field in mapping.values())


def checked(mapping: Mapping[str, str], columns: Sequence[str]) -> ColumnMap:
    """The mapping as it may be used. Raises Invalid naming the column.

    Only the fields of `targets.importing.fields` and traits exist here: a file can reach neither ids nor
    workspaces nor the block list.
    """
    used: dict[str, str] = {}
    for index, field in mapping.items():
        if not field:
            continue
        column = columns[int(index)] if index.isdecimal() and int(index) < len(columns) else ""
        if not column or not _exists(field):
            raise Invalid(
                _("Column “%(column)s” cannot be put there.") % {"column": column or index},
                code="mapping_unknown_field",
            )
        if field in used.values() and field not in fields.NUMBER_FIELDS:
            raise Invalid(
                _("Two columns are meant for “%(field)s”: choose one.") % {"field": label_of(field)},
                code="mapping_twice",
            )
        used[index] = field
    if not any(field in fields.NUMBER_FIELDS for field in used.values()):
        raise Invalid(_("Choose the column that holds the phone number."), code="mapping_no_number")
    return used


def _exists(field: str) -> bool:
    for prefix in (fields.TRAIT, fields.DATE):
        if field.startswith(prefix):
            return traits.KEY.fullmatch(field.removeprefix(prefix)) is not None
    return field in fields.BY_KEY


def label_of(field: str) -> str:
    """The name of a field or trait on pages."""
    if field in fields.BY_KEY:
        return str(fields.BY_KEY[field].label)
    return traits.trait_label(field.partition(":")[2])


def same_place(ours: str, theirs: str) -> bool:
    """Whether a repeated header means by its column what the mapping means."""
    if not theirs or theirs.startswith((fields.TRAIT, fields.DATE)) or not ours:
        return True
    families = (set(fields.NUMBER_FIELDS), {"name", "first_name"})
    return ours == theirs or any({ours, theirs} <= family for family in families)
