"""Why a file is refused, as the child says it: a code and the values of the sentence."""

from __future__ import annotations


class FileRefused(Exception):
    """`code` is a key of `core.spreadsheets.reading.MESSAGES`; `fields` name sheet, row, column, limit."""

    def __init__(self, code: str, **fields: str | int) -> None:
        self.code = code
        self.fields = fields
        super().__init__(code)


def column_letters(index: int) -> str:
    """The name a spreadsheet gives to column `index` (from 0): A, B, …, Z, AA, …"""
    letters = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters
