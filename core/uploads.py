"""What an upload may write to this machine's disk before any view has looked at it."""

from __future__ import annotations

from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler

from core.spreadsheets.limits import MAX_BYTES


class CutOff(FileUploadHandler):
    """First of FILE_UPLOAD_HANDLERS: drops what goes beyond the largest file any page takes.

    The view gets a file just over the limit and refuses it with its own sentence.
    """

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes | None:
        return raw_data if start <= MAX_BYTES else None

    def file_complete(self, file_size: int) -> UploadedFile | None:  # noqa: ARG002  # the handlers after this one make it
        return None
