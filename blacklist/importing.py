"""A file of numbers becomes entries of the block list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from django.conf import settings
from django.core.files.base import File
from django.utils import translation
from django.utils.translation import gettext as _

from blacklist import actions
from blacklist.models import Channel, Reason, Source
from core.errors import Invalid
from core.phones import PhoneError, parse_phone
from core.spreadsheets.reading import Cell, FileProblem, SheetRow, clean_name, reading
from core.spreadsheets.refusal import column_letters
from core.tenancy import current_workspace_id
from workspaces.models import User

MAX_ROWS = 50_000  # the person waits for the answer
LOOK_AHEAD = 50
SHOWN = 200  # unreadable cells kept for the page; all are counted


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A cell of the numbers' column that is no number."""

    row: int
    column: str
    raw: str
    message: str


@dataclass(slots=True)
class ImportResult:
    """Counts of distinct numbers: `added` were not blocked before, `reactivated` were unblocked once.

    `released` are rows of an export that say the number was unblocked there: they block nobody here.
    """

    added: int = 0
    reactivated: int = 0
    already: int = 0
    invalid: int = 0
    released: int = 0
    examples: list[Unreadable] = field(default_factory=list)


def import_numbers(
    file: File[bytes], *, user: User | None, reason: str = Reason.IMPORTED, description: str = ""
) -> ImportResult:
    """Block every number of the file's number column, in small transactions so that no sender waits.

    The column is the one with the most readable numbers in its first rows; a first row without one is the
    header. Interrupted, it can simply be repeated. Raises FileProblem, or Invalid when there is no number.
    """
    with reading(file) as table:
        if table.rows > MAX_ROWS:
            raise FileProblem("too_many_rows", file=clean_name(file.name), limit=MAX_ROWS)
        column = _number_column(islice(iter(table), LOOK_AHEAD))
        if column is None:
            text = _("“%(file)s” has no column of phone numbers.") % {"file": clean_name(file.name)}
            raise Invalid(text, code="file_no_numbers")
        result = ImportResult()
        values = _values(iter(table), column, result)
        while piece := list(islice(values, actions.CHUNK)):
            added = actions.add(
                workspace_id=current_workspace_id(),
                channel=Channel.SMS,
                values=piece,
                source=Source.IMPORT,
                reason=reason,
                user=user,
                description=description,
            )
            result.added += len(added.added)
            result.reactivated += len(added.reactivated)
            result.already += len(added.already)
    return result


def _read(cell: Cell) -> str:
    return parse_phone(cell if isinstance(cell, str | int) else "" if cell is None else str(cell)).value


def _is_number(cell: Cell) -> bool:
    try:
        _read(cell)
    except PhoneError:
        return False
    return True


def _number_column(rows: Iterable[SheetRow]) -> int | None:
    readable: dict[int, int] = {}
    for row in rows:
        for index, cell in enumerate(row.cells):
            if _is_number(cell):
                readable[index] = readable.get(index, 0) + 1
    return max(readable, key=lambda index: (readable[index], -index), default=None)


def _values(rows: Iterator[SheetRow], column: int, result: ImportResult) -> Iterator[str]:
    """Each number once; what is no number goes into the result."""
    seen: set[str] = set()
    is_first, unblocked = True, _words_for_unblocked()
    for row in rows:
        if any(isinstance(cell, str) and cell.strip() in unblocked for cell in row.cells):
            result.released += 1
            continue
        cell = row.cells[column] if column < len(row.cells) else None
        try:
            value = _read(cell)
        except PhoneError as problem:
            if problem.code != "phone_empty" and not is_first:
                _note(result, row.number, column, cell, str(problem))
        else:
            if value not in seen:
                seen.add(value)
                yield value
        is_first = False


def _words_for_unblocked() -> set[str]:
    """How an export calls the state of a number that is blocked no more, in every language of the site."""
    words = set()
    for code, _name in settings.LANGUAGES:
        with translation.override(code):
            words.add(_("Unblocked"))
    return words


def _note(result: ImportResult, row: int, column: int, cell: Cell, message: str) -> None:
    result.invalid += 1
    if len(result.examples) < SHOWN:
        result.examples.append(Unreadable(row, column_letters(column), str(cell)[:60], message))
