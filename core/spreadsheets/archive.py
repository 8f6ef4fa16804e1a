"""The outside of an xlsx: what the zip claims is judged before anything is unpacked."""

from __future__ import annotations

import re
import zipfile
import zlib
from pathlib import Path
from xml.parsers import expat

from core.spreadsheets import limits
from core.spreadsheets.refusal import FileRefused

_ARCHIVES = (".zip", ".xlsx", ".xlsm", ".xlsb", ".jar", ".rar", ".7z", ".gz", ".tar", ".docx")
_OTHER_KINDS = (
    ("xl/workbook.bin", "file_xlsb"),
    ("word/document.xml", "file_not_spreadsheet"),
    ("ppt/presentation.xml", "file_not_spreadsheet"),
    ("content.xml", "file_ods"),
)
WORKBOOK = "xl/workbook.xml"
DAMAGE = (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, OSError, ValueError)


def open_archive(path: Path) -> zipfile.ZipFile:
    """The zip, after its table of contents was found harmless. Raises FileRefused."""
    try:
        archive = zipfile.ZipFile(path)
        entries = archive.infolist()
    except DAMAGE as exc:
        raise FileRefused("file_broken") from exc
    if len(entries) > limits.MAX_ENTRIES:
        raise FileRefused("zip_entries", count=len(entries), limit=limits.MAX_ENTRIES)
    for entry in entries:
        _check_entry(entry)
    if sum(entry.file_size for entry in entries) > limits.MAX_UNPACKED:
        raise FileRefused("zip_unpacked", limit=limits.MAX_UNPACKED // 1024 // 1024)
    _check_kind([entry.filename for entry in entries])
    return archive


def _check_entry(entry: zipfile.ZipInfo) -> None:
    name = entry.filename
    if entry.flag_bits & 0x1:
        raise FileRefused("file_encrypted")
    if name.startswith("/") or re.search(r"(^|[/\\])\.\.([/\\]|$)|[\\:\x00]", name):
        raise FileRefused("zip_path")
    if name.lower().endswith("vbaproject.bin"):
        raise FileRefused("file_macros")
    if name.lower().endswith(_ARCHIVES):
        raise FileRefused("zip_nested")
    ratio = entry.file_size / max(entry.compress_size, 1)
    if entry.file_size > limits.RATIO_FREE and ratio > limits.MAX_RATIO:
        raise FileRefused("zip_unpacked", limit=limits.MAX_UNPACKED // 1024 // 1024)


def _check_kind(names: list[str]) -> None:
    if len(set(names)) != len(names):
        raise FileRefused("file_broken")
    if WORKBOOK in names:
        return
    for telling, code in _OTHER_KINDS:
        if telling in names:
            raise FileRefused(code)
    raise FileRefused("zip_no_workbook")


def check_contents(archive: zipfile.ZipFile) -> None:
    """Read every entry to its end and look at the head of every XML part.

    A size that lies shows itself by the checksum. A document type declaration, the door to entity
    bombs and external entities, can only stand before the first element. Raises FileRefused.
    """
    for entry in archive.infolist():
        is_xml = entry.filename.lower().endswith((".xml", ".rels", ".vml"))
        try:
            with archive.open(entry) as part:
                head = part.read(65_536)
                if is_xml:
                    refuse_declarations(head)
                while part.read(1 << 20):
                    pass
        except DAMAGE as exc:
            raise FileRefused("file_broken") from exc
        if entry.filename == "[Content_Types].xml" and b"macroEnabled" in head:
            raise FileRefused("file_macros")


class _SeenRoot(Exception):
    """The first element began: no declaration can follow."""


def forbid_declarations(parser: expat.XMLParserType) -> None:
    """Make a parser refuse every document type and entity declaration, as defusedxml does."""

    def refuse(*_: object) -> None:
        raise FileRefused("xml_declarations")

    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    parser.UnparsedEntityDeclHandler = refuse
    parser.ExternalEntityRefHandler = refuse  # type: ignore[assignment]


def refuse_declarations(head: bytes) -> None:
    """Raise FileRefused when the start of an XML part declares a document type, or is no XML."""
    parser = expat.ParserCreate()
    forbid_declarations(parser)

    def stop(*_: object) -> None:
        raise _SeenRoot

    parser.StartElementHandler = stop
    try:
        parser.Parse(head, True)
    except _SeenRoot:
        return
    except expat.ExpatError as exc:
        raise FileRefused("file_broken") from exc
