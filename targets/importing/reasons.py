"""Why a row was refused: stable codes in the database, sentences made when they are read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from core.dates import in_digits_of_the_reader
from targets import contacts
from targets.models import ImportRow

MESSAGES: dict[str, Promise] = {
    **contacts.MESSAGES,
    "contact_empty": _("The row has no phone number."),
    "cell_formula": _("The cell is a formula whose value was never stored. Paste its value."),
    "cell_error": _("The cell holds a spreadsheet error."),
    "cell_long": _("The text is far too long."),
    "cell_unreadable": _("The cell holds characters that cannot be read."),
    "text_too_long": _("The text is longer than %(limit)s characters."),
    "email_invalid": _("This is not an e-mail address."),
    "date_invalid": _("This is not a date. Write it as year/month/day, for example 2026/11/30."),
    "status_unknown": _("There is no status of this name."),
    "priority_unknown": _("There is no priority of this name."),
    "external_id_differs": _("This number belongs to the customer with the code “%(code)s”."),
    "two_people": _("The numbers and the code of this row belong to two different people."),
    "landline_taken": _("This landline belongs to somebody with another mobile number."),
    "other_header": _(
        "The header in row %(row)s orders the columns differently. Import this part separately."
    ),
}

JOB_ERRORS: dict[str, Promise] = {
    "file_gone": _("The uploaded file is no longer there. Upload it again; rows imported so far are kept."),
    "unexpected": _("The import stopped unexpectedly. Rows imported so far are kept; continue from there."),
}


def sentence(code: str, values: Mapping[str, Any]) -> str:
    """The reason in the active language; an unknown code is shown as it is."""
    return str(MESSAGES[code]) % in_digits_of_the_reader(values) if code in MESSAGES else code


def of_row(row: ImportRow) -> str:
    """The reason with the column it is about."""
    return with_column(row.column, sentence(row.reason, row.fields))


def with_column(column: str, text: str) -> str:
    """The sentence after the column's own text, which may run in the other direction."""
    return f"\u2068{column}\u2069: {text}" if column else text
