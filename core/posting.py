"""The data of a form's request."""

from __future__ import annotations

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, QueryDict
from django.utils.datastructures import MultiValueDict


def posted(request: HttpRequest) -> QueryDict | None:
    """What a form is bound to: the fields of a POST, however few, and None for every other request.

    `request.POST or None` would leave the form unbound when nothing at all was filled in.
    """
    return request.POST if request.method == "POST" else None


def posted_files(request: HttpRequest) -> MultiValueDict[str, UploadedFile] | None:
    """The same for uploads."""
    return request.FILES if request.method == "POST" else None
