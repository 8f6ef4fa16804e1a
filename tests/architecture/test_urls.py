"""Every address: who gets in, who does not, and that reading changes nothing. Rows: url_matrix.py."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator

import pytest
from django.apps import apps
from django.db import connection
from django.http.response import HttpResponseBase
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from tests.architecture.house import House, undone
from tests.architecture.url_matrix import MATRIX, MEMBER, PUBLIC, SIGNED_IN, Access, Row
from workspaces.models import AuditRecord, Role
from workspaces.permissions import ROLE_PERMISSIONS, Perm
from workspaces.tokens import GRANTABLE

pytestmark = pytest.mark.django_db
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
UNSAFE = ("POST", "PUT", "PATCH", "DELETE")
# What a member who is let in may be told about an empty form.
LET_IN = {200, 201, 202, 204, 302, 303, 400, 409, 410, 415, 422}
SESSIONS = {"django_session"}  # a visit may move the session's end on
EXEMPT_FROM_CSRF = {name for name, row in MATRIX.items() if row.csrf_exempt}
TO_SIGN_IN, TO_WORKSPACES = "/sign-in", "/workspaces"

cases = [(name, method) for name, row in MATRIX.items() for method in row.methods]
guarded = [(n, m) for n, m in cases if MATRIX[n].methods[m] != PUBLIC]
in_workspace = [(n, m) for n, m in guarded if MATRIX[n].methods[m] != SIGNED_IN]
unsafe = [(n, m) for n, m in cases if m in UNSAFE and not MATRIX[n].csrf_exempt]
reading = [(n, m) for n, m in cases if m == "GET"]
owned = [(n, m) for n, m in cases if MATRIX[n].kwargs and MATRIX[n].foreign]
for_programs = [(n, m) for n, m in cases if n.startswith("json:")]


def all_patterns(resolver: URLResolver | None = None, prefix: str = "") -> Iterator[tuple[str, URLPattern]]:
    """Every pattern with its full name; "" for one without a name."""
    for pattern in (resolver or get_resolver()).url_patterns:
        if isinstance(pattern, URLResolver):
            space = f"{prefix}{pattern.namespace}:" if pattern.namespace else prefix
            yield from all_patterns(pattern, space)
        else:
            yield (f"{prefix}{pattern.name}" if pattern.name else ""), pattern


def call(
    client: Client, method: str, url: str, row: Row, headers: dict[str, str] | None = None
) -> HttpResponseBase:
    """The answer, read to its end: a streamed one does its work while it is read."""
    if method == "POST" and not row.json:
        response = client.post(url, dict(row.data), headers=headers)
    elif method in UNSAFE and row.body_json:
        kind, body = "application/json", json.dumps(dict(row.data))
        response = client.generic(method, url, data=body, content_type=kind, headers=headers)
    else:
        response = client.generic(method, url, headers=headers)
    if response.streaming:
        for _chunk in response:
            pass
    return response


def may(role: str, access: Access) -> bool:
    if access in (PUBLIC, SIGNED_IN, MEMBER):
        return True
    needed = {access} if isinstance(access, str) else set(access)
    return not needed.isdisjoint(ROLE_PERMISSIONS[role])


def told(response: HttpResponseBase) -> tuple[int, str]:
    """The code, and the page a visitor is sent to."""
    return response.status_code, response.headers.get("Location", "").partition("?")[0]


def verdict(status: int, row: Row) -> str:
    if status in (401, 403, 404, 405):
        return str(status) if status != row.empty else "in"
    allowed = {row.empty} if row.empty else LET_IN
    return "in" if status in allowed else f"unexpected {status}"


def test_every_address_has_a_row() -> None:
    missing = sorted({name or str(pattern.pattern) for name, pattern in all_patterns() if name not in MATRIX})

    assert not missing, f"add a row to tests/architecture/url_matrix.py for: {', '.join(missing)}"


def test_no_row_is_left_over() -> None:
    assert sorted(set(MATRIX) - {name for name, _pattern in all_patterns()}) == []


def test_only_listed_addresses_do_without_a_csrf_token() -> None:
    exempt = {name for name, pattern in all_patterns() if getattr(pattern.callback, "csrf_exempt", False)}

    assert exempt == EXEMPT_FROM_CSRF


@pytest.mark.parametrize(("name", "method"), guarded)
def test_a_visitor_is_not_let_in(name: str, method: str, house: House) -> None:
    row = MATRIX[name]
    response = call(Client(), method, house.address(name, house.boss), row)

    assert told(response) == ((401, "") if row.json else (302, TO_SIGN_IN))


@pytest.mark.parametrize(("name", "method"), guarded)
def test_a_role_gets_in_where_the_matrix_says(name: str, method: str, house: House) -> None:
    row = MATRIX[name]
    answers = {}
    for role, user in house.people.items():
        with undone():
            response = call(house.browser(user), method, house.address(name, user), row)
            answers[role] = verdict(response.status_code, row)

    assert answers == {role: "in" if may(role, row.methods[method]) else "403" for role in Role.values}


@pytest.mark.parametrize(("name", "method"), in_workspace)
def test_somebody_without_a_workspace_gets_no_further(name: str, method: str, house: House) -> None:
    row = MATRIX[name]
    response = call(house.browser(house.homeless), method, house.address(name, house.boss), row)

    assert told(response) == ((403, "") if row.json else (302, TO_WORKSPACES))


@pytest.mark.parametrize(("name", "method"), owned)
def test_another_workspaces_object_does_not_exist(name: str, method: str, house: House) -> None:
    url = house.address(name, house.boss)
    response = call(house.browser(house.stranger), method, url, MATRIX[name])

    assert response.status_code == 404
    assert house.ours.name not in response.content.decode()  # type: ignore[attr-defined]  # a 404 is never streamed


@pytest.mark.parametrize("name", MATRIX)
def test_a_method_without_a_row_is_refused(name: str, house: House) -> None:
    row = MATRIX[name]
    url = house.address(name, house.boss)
    client = house.browser(house.boss)
    answers = {m: call(client, m, url, row) for m in METHODS if m not in row.methods}

    assert {m: answer.status_code for m, answer in answers.items()} == dict.fromkeys(answers, 405)
    assert all("Allow" in answer.headers for answer in answers.values())


@pytest.mark.parametrize(("name", "method"), unsafe)
def test_a_change_without_a_csrf_token_is_refused(name: str, method: str, house: House) -> None:
    row = MATRIX[name]
    response = call(
        house.browser(house.boss, enforce_csrf_checks=True), method, house.address(name, house.boss), row
    )

    assert response.status_code == 403
    if row.json:
        assert response.json()["code"] == "csrf_failed"  # type: ignore[attr-defined]  # the test client's
    else:
        assert response.templates[0].name == "errors/csrf.html"  # type: ignore[attr-defined]  # the same


@pytest.mark.parametrize(("name", "method"), for_programs)
def test_a_token_does_what_it_was_given_and_no_more(name: str, method: str, house: House) -> None:
    row = MATRIX[name]
    access = row.methods[method]
    needed: set[str] = {access} if isinstance(access, str) else set(access)
    without = house.bearer(*({str(perm) for perm in GRANTABLE} - needed))
    url = house.address(name, house.boss)
    strict = Client(enforce_csrf_checks=True)
    answers = []
    given = GRANTABLE if access == MEMBER else needed | {Perm.TARGETS_VIEW}  # who sees nobody finds nobody
    for headers in (without, house.bearer(*given)):
        with undone():
            answers.append(verdict(call(strict, method, url, row, headers).status_code, row))

    assert answers == ["in" if access == MEMBER else "403", "in"]


@pytest.mark.parametrize(("name", "method"), [case for case in guarded if case not in for_programs])
def test_a_token_opens_no_page(name: str, method: str, house: House) -> None:
    row = MATRIX[name]
    response = call(Client(), method, house.address(name, house.boss), row, house.bearer(*GRANTABLE))

    assert told(response) == ((401, "") if row.json else (302, TO_SIGN_IN))


@pytest.mark.parametrize(("name", "method"), reading)
def test_reading_changes_nothing(name: str, method: str, house: House) -> None:
    client = house.browser(house.boss)
    url = house.address(name, house.boss)
    before = database_digest()
    call(client, method, url, MATRIX[name])
    call(client, "HEAD", url, MATRIX[name])

    after = database_digest()
    changed = {table for table in before if before[table] != after[table]}

    assert changed <= ({AuditRecord._meta.db_table} if MATRIX[name].audited else set())


@pytest.mark.parametrize(("name", "method"), reading)
def test_an_answer_carries_the_protective_headers(name: str, method: str, house: House) -> None:
    client = house.browser(house.boss)
    headers = call(client, method, house.address(name, house.boss), MATRIX[name]).headers
    policy = headers["Content-Security-Policy"]

    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert "Access-Control-Allow-Origin" not in headers
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    if MATRIX[name].methods[method] != PUBLIC:
        assert "no-store" in headers["Cache-Control"]


def database_digest() -> dict[str, str]:
    """A digest of every table's rows."""
    digests = {}
    tables = sorted({model._meta.db_table for model in apps.get_models(include_auto_created=True)} - SESSIONS)
    with connection.cursor() as cursor:
        for table in tables:
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)} ORDER BY 1")
            digests[table] = hashlib.sha256(repr(cursor.fetchall()).encode()).hexdigest()
    return digests
