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
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from core.tenancy import workspace_scope
from tests.architecture.url_matrix import MATRIX, MEMBER, PUBLIC, SIGNED_IN, Access, Row
from tests.people import client_of, make_member, make_workspace
from workspaces.models import AuditRecord, Role, User, Workspace
from workspaces.permissions import ROLE_PERMISSIONS

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
UNSAFE = ("POST", "PUT", "PATCH", "DELETE")
# What a member who is let in may be told about an empty form.
LET_IN = {200, 201, 202, 204, 302, 303, 400, 409, 410, 415, 422}
SESSIONS = {"django_session"}  # a visit may move the session's end on
EXEMPT_FROM_CSRF = {name for name, row in MATRIX.items() if row.csrf_exempt}

cases = [(name, method) for name, row in MATRIX.items() for method in row.methods]
guarded = [(n, m) for n, m in cases if MATRIX[n].methods[m] != PUBLIC]
unsafe = [(n, m) for n, m in cases if m in UNSAFE and not MATRIX[n].csrf_exempt]
reading = [(n, m) for n, m in cases if m == "GET"]
owned = [(n, m) for n, m in cases if MATRIX[n].kwargs and MATRIX[n].foreign]


def all_patterns(resolver: URLResolver | None = None, prefix: str = "") -> Iterator[tuple[str, URLPattern]]:
    """Every pattern with its full name; "" for one without a name."""
    for pattern in (resolver or get_resolver()).url_patterns:
        if isinstance(pattern, URLResolver):
            space = f"{prefix}{pattern.namespace}:" if pattern.namespace else prefix
            yield from all_patterns(pattern, space)
        else:
            yield (f"{prefix}{pattern.name}" if pattern.name else ""), pattern


def address(name: str, workspace: Workspace, user: User) -> str:
    """The address of an object of `user` in `workspace`."""
    row = MATRIX[name]
    with workspace_scope(workspace.pk):
        kwargs = dict(row.kwargs(workspace, user)) if row.kwargs else {}
    return reverse(name, kwargs=kwargs) + (f"?{row.query}" if row.query else "")


def call(client: Client, method: str, url: str, row: Row) -> HttpResponseBase:
    if method == "GET":
        return client.get(url)
    if row.body_json:
        return client.generic(method, url, data=json.dumps(dict(row.data)), content_type="application/json")
    return client.generic(method, url) if method != "POST" else client.post(url, dict(row.data))


def may(role: str, access: Access) -> bool:
    if access in (PUBLIC, SIGNED_IN, MEMBER):
        return True
    needed = {access} if isinstance(access, str) else set(access)
    return not needed.isdisjoint(ROLE_PERMISSIONS[role])


@pytest.fixture
def ours(db: None) -> Workspace:
    return make_workspace("ours")


@pytest.fixture
def boss(ours: Workspace) -> User:
    return make_member(ours, Role.OWNER, email="boss@ours.example")


def test_every_address_has_a_row() -> None:
    missing = sorted({name or str(pattern.pattern) for name, pattern in all_patterns() if name not in MATRIX})

    assert not missing, f"add a row to tests/architecture/url_matrix.py for: {', '.join(missing)}"


def test_no_row_is_left_over() -> None:
    assert sorted(set(MATRIX) - {name for name, _pattern in all_patterns()}) == []


def test_only_listed_addresses_do_without_a_csrf_token() -> None:
    exempt = {name for name, pattern in all_patterns() if getattr(pattern.callback, "csrf_exempt", False)}

    assert exempt == EXEMPT_FROM_CSRF


@pytest.mark.parametrize(("name", "method"), guarded)
def test_a_visitor_is_not_let_in(name: str, method: str, ours: Workspace, boss: User, client: Client) -> None:
    row = MATRIX[name]
    response = call(client, method, address(name, ours, boss), row)

    if row.json:
        assert response.status_code == 401
    else:
        assert (response.status_code, response.headers.get("Location", "")[:8]) == (302, "/sign-in")


@pytest.mark.parametrize("role", Role.values)
@pytest.mark.parametrize(("name", "method"), guarded)
def test_a_role_gets_in_where_the_matrix_says(name: str, method: str, role: str, ours: Workspace) -> None:
    row = MATRIX[name]
    user = make_member(ours, role)
    status = call(client_of(user), method, address(name, ours, user), row).status_code

    if may(role, row.methods[method]):
        assert status in ({row.empty} if row.empty else LET_IN)
    else:
        assert status == 403


@pytest.mark.parametrize(("name", "method"), owned)
def test_another_workspaces_object_does_not_exist(
    name: str, method: str, ours: Workspace, boss: User
) -> None:
    theirs = make_workspace("theirs")
    stranger = client_of(make_member(theirs, Role.OWNER))

    assert call(stranger, method, address(name, ours, boss), MATRIX[name]).status_code == 404


@pytest.mark.parametrize("name", MATRIX)
def test_a_method_without_a_row_is_refused(name: str, ours: Workspace, boss: User) -> None:
    row = MATRIX[name]
    client = client_of(boss)
    url = address(name, ours, boss)
    answers = {m: call(client, m, url, row).status_code for m in METHODS if m not in row.methods}

    assert answers == dict.fromkeys(answers, 405)


@pytest.mark.parametrize(("name", "method"), unsafe)
def test_a_change_without_a_csrf_token_is_refused(
    name: str, method: str, ours: Workspace, boss: User
) -> None:
    client = client_of(boss, enforce_csrf_checks=True)
    response = call(client, method, address(name, ours, boss), MATRIX[name])

    assert response.status_code == 403
    assert [template.name for template in response.templates][:1] == ["errors/csrf.html"]  # type: ignore[attr-defined]  # the test client's


@pytest.mark.parametrize(("name", "method"), reading)
def test_reading_changes_nothing(name: str, method: str, ours: Workspace, boss: User) -> None:
    client = client_of(boss)
    url = address(name, ours, boss)
    before = database_digest()
    _drain(call(client, method, url, MATRIX[name]))
    _drain(client.head(url))

    after = database_digest()
    changed = {table for table in before if before[table] != after[table]}

    assert changed <= ({AuditRecord._meta.db_table} if MATRIX[name].audited else set())


@pytest.mark.parametrize(("name", "method"), reading)
def test_an_answer_carries_the_protective_headers(
    name: str, method: str, ours: Workspace, boss: User
) -> None:
    client = client_of(boss)
    headers = call(client, method, address(name, ours, boss), MATRIX[name]).headers
    policy = headers["Content-Security-Policy"]

    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
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


def _drain(response: HttpResponseBase) -> None:
    """A streamed answer does its work while it is read."""
    if response.streaming:
        for _chunk in response:
            pass
