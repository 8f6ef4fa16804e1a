"""Every form of the site with hostile input: an answer people understand, never a fault, no live markup."""

from __future__ import annotations

from urllib.parse import quote_from_bytes, urlencode

import pytest

from tests.architecture.hostile import HOSTILE, MARKUP, MEGABYTE, RAW, noting_names, values_in
from tests.architecture.house import House, undone
from tests.architecture.url_matrix import MATRIX

pytestmark = pytest.mark.django_db
FORM = "application/x-www-form-urlencoded"
UNDERSTOOD = {200, 201, 202, 204, 302, 303, 400, 403, 404, 409, 410, 413, 415, 422, 429}

forms = [n for n, row in MATRIX.items() if "POST" in row.methods and not row.json and not row.csrf_exempt]
pages = [n for n, row in MATRIX.items() if "GET" in row.methods and not row.json]
TEN_THOUSAND = urlencode({f"f{n}": n for n in range(10_000)})
SINGLE_FIELDS = 3  # tried one by one, with the others as they might be
IGNORED = {"csrfmiddlewaretoken"}


def encoded(data: dict[str, str]) -> str:
    """A form body; characters that no UTF-8 has are sent as the bytes they would be."""
    return "&".join(
        f"{quote_from_bytes(name.encode())}={quote_from_bytes(value.encode('utf-8', 'surrogatepass'))}"
        for name, value in data.items()
    )


def fields_of(house: House, url: str, name: str) -> dict[str, str]:
    """The fields that the view asks for, with values it might take."""
    shown: dict[str, str] = {}
    if "GET" in MATRIX[name].methods:
        with undone():
            shown = values_in(house.browser(house.boss).get(url).content.decode())
    names: set[str] = set()
    known: dict[str, str] = {**shown, **{key: str(value) for key, value in MATRIX[name].data.items()}}
    for _round in range(2):
        before = set(names)
        with undone(), noting_names(names):
            house.browser(house.boss).post(url, encoded(known), content_type=FORM)
        known = {key: known.get(key, "1") for key in sorted(names - IGNORED)}  # the same ones each run
        if names == before:
            break
    return known


@pytest.mark.parametrize("name", forms)
def test_a_form_survives_hostile_input(name: str, house: House) -> None:
    url = house.address(name, house.boss)
    fields = fields_of(house, url, name)
    sent = {kind: encoded(dict.fromkeys(fields, value)) for kind, value in HOSTILE.items()}
    for one in list(fields)[:SINGLE_FIELDS]:
        sent[f"markup in {one}"] = encoded({**fields, one: MARKUP})
        sent[f"a megabyte in {one}"] = encoded({**fields, one: MEGABYTE})
    sent["ten thousand fields"] = TEN_THOUSAND
    answers = {}
    for kind, body in sent.items():
        with undone():
            response = house.browser(house.boss).post(url, body, content_type=FORM)
            answers[kind] = response.status_code
            assert not any(raw in response.content.decode() for raw in RAW), kind

    assert {kind: code for kind, code in answers.items() if code not in UNDERSTOOD} == {}


def test_what_was_stored_is_shown_as_text(house: House) -> None:
    client = house.browser(house.boss)
    stored = []
    for name in forms:
        if name in ENDS_THE_STORY or not (name in STORES or "GET" in MATRIX[name].methods):
            continue
        url = house.address(name, house.boss)
        fields = fields_of(house, url, name)
        answers = [
            client.post(url, encoded({**fields, one: MARKUP}), content_type=FORM)
            for one in list(fields)[:SINGLE_FIELDS]
        ]
        stored += [name for answer in answers if answer.status_code in (200, 302)]
    shown = {}
    for name in pages:
        answer = client.get(house.address(name, house.boss))
        content = answer.getvalue()  # a streamed one closes its files when it is read
        if "text/html" in answer.headers["Content-Type"]:
            shown[name] = [raw for raw in RAW if raw in content.decode()]

    assert len(set(stored)) >= 12
    assert {name: raw for name, raw in shown.items() if raw} == {}


# What would shut the door behind itself: somebody signed in anew, a password changed, all sending stopped.
ENDS_THE_STORY = {
    "workspaces:sign-in",
    "workspaces:invitation",
    "workspaces:change-password",
    "campaigns:stop-now",
}
STORES = {"workspaces:member-add", "blacklist:add"}  # their forms stand on other pages
