"""What an import page shows: a preview before, counts and refused rows after."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from core.spreadsheets.reading import SheetRow
from targets import contacts, queries, traits
from targets.importing import jobs
from targets.importing.fields import NUMBER_FIELDS
from targets.importing.interpret import Draft, Reading, Refusal, Skipped, shown_cells
from targets.importing.mapping import ColumnMap, label_of
from targets.importing.reasons import of_row, sentence, with_column
from targets.models import ImportJob, RowOutcome, Target

SAMPLES = 3  # values shown beside a column's choice
SKIPPED: dict[str, str | Promise] = {
    "empty": gettext_lazy("Empty"),
    "header": gettext_lazy("Header"),
}


@dataclass(frozen=True, slots=True)
class PreviewRow:
    """One row as it would be read. `tone` is a badge's tone, `word` its text."""

    number: int
    tone: str
    word: str
    values: tuple[str, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Preview:
    """`headings` name the values of each row; `samples` hold a few cells of every column of the file."""

    headings: tuple[str, ...]
    rows: tuple[PreviewRow, ...]
    samples: tuple[tuple[str, ...], ...]


def preview(job: ImportJob, column_map: ColumnMap, limit: int) -> Preview:
    """What the first rows would become. Raises FileNotFoundError when the rows were deleted."""
    read = jobs.preview(job, column_map, limit)
    drafts = [reading for _row, reading in read if isinstance(reading, Draft)]
    known = contacts.find_known([d.contact for d in drafts], [d.external_id for d in drafts])
    fields = [f for f in dict.fromkeys(column_map.values()) if f not in NUMBER_FIELDS]
    return Preview(
        headings=(_("Mobile"), _("Landline"), *(label_of(field) for field in fields)),
        rows=tuple(_preview_row(row, reading, fields, known) for row, reading in read),
        samples=tuple(_samples([row for row, _reading in read], i) for i in range(len(job.columns))),
    )


def _samples(rows: list[SheetRow], index: int) -> tuple[str, ...]:
    cells = (shown_cells(row.cells[index : index + 1]) for row in rows)
    filled = dict.fromkeys(cell[0][:40] for cell in cells if cell and cell[0].strip())
    return tuple(filled)[:SAMPLES]


def _preview_row(row: SheetRow, reading: Reading, fields: list[str], known: contacts.Known) -> PreviewRow:
    match reading:
        case Draft():
            found = _find(known, reading)
            values = (reading.contact.mobile, reading.contact.landline, *(_value(reading, f) for f in fields))
            word = _("Known") if found else _("New")
            return PreviewRow(row.number, "info" if found else "success", word, values, str(found or ""))
        case Refusal():
            note = with_column(reading.column, sentence(reading.code, reading.fields))
            return PreviewRow(row.number, "danger", _("Refused"), tuple(shown_cells(row.cells)), note)
        case Skipped():
            return PreviewRow(row.number, "muted", str(SKIPPED.get(reading.why, reading.why)), ())


def _find(known: contacts.Known, draft: Draft) -> Target | None:
    return (
        known.by_mobile.get(draft.contact.mobile)
        or known.by_landline.get(draft.contact.landline)
        or known.by_external_id.get(draft.external_id)
    )


def _value(draft: Draft, field: str) -> str:
    kind, colon, key = field.partition(":")
    return traits.shown(draft.traits.get(key, "")) if colon else draft.values.get(kind, "")


@dataclass(frozen=True, slots=True)
class Summary:
    """Every row of the file in exactly one of these (`header` and empty rows are no people)."""

    created: int
    updated: int
    same: int
    refused: int
    empty: int
    header: int
    status_kept: int


def summary(job: ImportJob) -> Summary:
    """The counts of a job; rows without a single cell are counted as empty."""
    counts = {key: int(value) for key, value in job.counts.items()}
    headers = counts.get("header", 0) + counts.get("before_header", 0)
    told = headers + sum(counts.get(outcome, 0) for outcome in RowOutcome.values)
    return Summary(
        created=counts.get("created", 0),
        updated=counts.get("updated", 0),
        same=counts.get("same", 0),
        refused=counts.get("refused", 0),
        empty=max(counts.get("last_row", 0) - told, 0),
        header=headers,
        status_kept=counts.get("status_kept", 0),
    )


def refused_table(job: ImportJob) -> tuple[list[str], Iterator[list[str]]]:
    """The file of refused rows: its columns as they were, with row number and reason before them."""
    width = len(job.columns)

    def rows() -> Iterator[list[str]]:
        for row in queries.refused_rows(job).iterator(chunk_size=2_000):
            cells = [str(cell) for cell in row.cells[:width]]
            yield [str(row.row_number), of_row(row), *cells]

    return [_("Row"), _("Reason"), *job.columns], rows()
