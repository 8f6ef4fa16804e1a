"""The OpenAPI document against the interface: generated requests, good and bad, answered as it says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import Case, GenerationMode
from schemathesis.specs.openapi.checks import ignored_auth, positive_data_acceptance

from config import api
from config.wsgi import application
from core.tenancy import workspace_scope
from tests.architecture.house import House, undone
from tests.architecture.url_matrix import MATRIX
from workspaces.models import Membership, Role
from workspaces.permissions import ROLE_PERMISSIONS
from workspaces.tokens import GRANTABLE, issue

pytestmark = pytest.mark.django_db
EXAMPLES: dict[str, int] = {Role.OWNER: 8, Role.OPERATOR: 2, Role.SELLER: 2}
# Where a body of the right form may still be wrong: it speaks of people, lists or files.
MORE_THAN_THE_SCHEMA = {"graph", "publish", "review", "decisions", "blacklist-import"}
NAMES = {
    f"{api.PREFIX}{pattern.pattern}".replace("<int:", "{").replace(">", "}"): pattern.name
    for pattern in api.addresses()
}


def served(environ: dict[str, Any], start_response: Any) -> list[bytes]:
    """The application, with its answers read to the end and closed, as a server does."""
    answer: Any = application(environ, start_response)
    try:
        return [b"".join(answer)]
    finally:
        answer.close()


schema = schemathesis.openapi.from_dict(api.document())
schema.app = served
operations = {
    f"{found.ok().method.upper()} {found.ok().path}": found.ok() for found in schema.get_all_operations()
}


@pytest.fixture(autouse=True)
def _signals_of_requests_leave_the_connection_alone() -> Iterator[None]:
    """A server closes the connections of a request; here they hold the test's transaction."""
    from django.core.signals import request_finished, request_started
    from django.db import close_old_connections

    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


def token_of(house: House, role: str) -> dict[str, str]:
    """The header of a token that may do all its role may."""
    membership = Membership.unscoped.get(workspace=house.ours, user=house.people[role])
    with workspace_scope(house.ours.pk):
        rights = set(GRANTABLE) & ROLE_PERMISSIONS[role]
        secret = issue(membership, name="Schema", permissions=rights, expires_at=None).secret
    return {"Authorization": f"Bearer {secret}"}


def existing(house: House, role: str, path: str) -> dict[str, Any]:
    """The path parameters of a thing that is there."""
    row = MATRIX[f"json:{NAMES[path]}"]
    with workspace_scope(house.ours.pk):
        return dict(row.kwargs(house.ours, house.people[role])) if row.kwargs else {}


def run(house: House, role: str, operation: Any, mode: GenerationMode) -> None:
    headers = token_of(house, role)
    excluded = [ignored_auth]  # it keeps our header; the access tests ask every address
    if NAMES[operation.path] in MORE_THAN_THE_SCHEMA:
        excluded.append(positive_data_acceptance)
    there = existing(house, role, operation.path)
    seen = 0

    @settings(
        max_examples=EXAMPLES[role],
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def check(case: Case[Any]) -> None:
        nonlocal seen
        seen += 1
        if there and mode is GenerationMode.POSITIVE and seen % 2:
            case.path_parameters = dict(there)
        with undone():
            case.call_and_validate(
                headers={**headers, "Accept": "application/json"},
                excluded_checks=excluded,
            )

    check()


@pytest.mark.parametrize("mode", GenerationMode, ids=str)
@pytest.mark.parametrize("name", operations)
def test_the_owner_is_answered_as_the_document_says(name: str, mode: GenerationMode, house: House) -> None:
    operation = operations[name]
    if mode is GenerationMode.NEGATIVE and not (
        operation.body or operation.query or operation.path_parameters
    ):
        pytest.skip("there is nothing to get wrong")
    run(house, Role.OWNER, operation, mode)


@pytest.mark.parametrize("role", [Role.OPERATOR, Role.SELLER])
@pytest.mark.parametrize("name", operations)
def test_a_smaller_role_is_answered_as_the_document_says(name: str, role: str, house: House) -> None:
    run(house, role, operations[name], GenerationMode.POSITIVE)
