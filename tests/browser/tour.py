"""Every page a signed-in person can open, from the list of addresses: where the whole-site checks go."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.test import Client
from django.urls import reverse

from core.tenancy import workspace_scope
from tests.architecture.url_matrix import MATRIX, PUBLIC
from tests.sample_site import Site


@dataclass(frozen=True, slots=True)
class Stop:
    """One page: the name of its address, and the address on the sample site."""

    name: str
    address: str


def address_of(name: str, site: Site) -> str:
    """The address called `name` about something of the sample site, or about a row made for it."""
    row = MATRIX[name]
    kwargs = site.kwargs.get(name)
    if kwargs is None and row.kwargs:
        with workspace_scope(site.workspace.pk):
            kwargs = row.kwargs(site.workspace, site.owner)
    return reverse(name, kwargs=dict(kwargs or {})) + (f"?{row.query}" if row.query else "")


def stops(site: Site, client: Client) -> Iterator[Stop]:
    """The full pages among all addresses that may be read; fragments, files and JSON are none."""
    for name, row in MATRIX.items():
        if row.methods.get("GET", PUBLIC) == PUBLIC or row.json or row.audited:
            continue  # what is audited when it is read is a file
        address = address_of(name, site)
        response = client.get(address)
        if response.status_code == 200 and is_page(response):
            yield Stop(name, address)


def picture_name(name: str) -> str:
    """What the guide calls the picture of the address called `name`."""
    return name.replace(":", "-")


def address_name(picture: str) -> str:
    """The other way round; no app has a hyphen in its name."""
    return picture.replace("-", ":", 1)


def is_page(response: object) -> bool:
    """Whether the answer is a whole HTML document."""
    kind = getattr(response, "headers", {}).get("Content-Type", "")
    return kind.startswith("text/html") and b"<!DOCTYPE html>" in getattr(response, "content", b"")[:200]
