"""What a browser loads before it shows the first page of Peyk, compressed as it is sent: under 200 kB."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from automation import publishing
from tests.people import client_of
from workspaces.models import User

STATIC = Path(settings.BASE_DIR) / "static"
LIMIT = 200_000
_ASSET = re.compile(r"/static/([^\"'#?)\s]+)")
_IMPORT = re.compile(r"""(?:from|import)\s*\(?["'](\.{1,2}/[^"']+)["']""")
_URL = re.compile(r"""url\(["']?([^"')]+)["']?\)""")


def loaded(page: bytes) -> set[Path]:
    """Every file that the page names, and what those name in turn."""
    waiting = [STATIC / name for name in _ASSET.findall(page.decode())]
    found: set[Path] = set()
    while waiting:
        file = waiting.pop().resolve()
        if file in found or not file.is_file():
            continue
        found.add(file)
        pattern = {".js": _IMPORT, ".css": _URL}.get(file.suffix)
        if pattern:
            waiting += [file.parent / name for name in pattern.findall(file.read_text(encoding="utf-8"))]
    return found


def sent(file: Path) -> int:
    content = file.read_bytes()
    return len(content) if file.suffix == ".woff2" else len(gzip.compress(content, 6))


def weight(html: bytes, files: set[Path]) -> int:
    return len(gzip.compress(html, 6)) + sum(map(sent, files))


@pytest.mark.parametrize("address", ["workspaces:sign-in", "workspaces:home", "campaigns:create"])
def test_the_first_visit_is_light(address: str, owner: User, client: Client) -> None:
    page = client if address == "workspaces:sign-in" else client_of(owner)
    html = page.get(reverse(address)).content
    files = loaded(html)

    assert any(file.suffix == ".woff2" for file in files)
    assert any(file.name == "htmx.min.js" for file in files)
    assert weight(html, files) < LIMIT


def test_the_builder_is_light_as_a_first_page_too(owner: User) -> None:
    workflow = publishing.create_workflow(name="x", template_key="three_step_introduction", user=owner)
    html = client_of(owner).get(reverse("automation:builder", args=[workflow.pk])).content
    files = loaded(html)

    assert any(file.name == "Sortable.min.js" for file in files)
    assert weight(html, files) < LIMIT
