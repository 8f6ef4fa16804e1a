"""Programs in tests: callers with a token, and what they say."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from tests.architecture.house import house
from tests.people import Answer
from workspaces import tokens
from workspaces.models import Membership, User

__all__ = ["Call", "call", "caller", "house", "secret_of"]
Call = Callable[..., Answer]


def secret_of(user: User, *permissions: str, **options: Any) -> str:
    """The secret of a new token of `user`, with all they may give unless named."""
    membership = Membership.objects.get(user=user)
    given = permissions or tokens.grantable_to(membership)
    values = {"name": "Reports", "expires_at": None, **options}
    return tokens.issue(membership, permissions=given, **values).secret


def caller(secret: str) -> Call:
    """`call("POST", "/sms/preview", {"text": "Hi"})` at the JSON interface, CSRF checks on."""
    client = Client(enforce_csrf_checks=True)

    def call(method: str, path: str, body: object = None, **headers: str) -> Answer:
        text = body if isinstance(body, (str, bytes)) else "" if body is None else json.dumps(body)
        return client.generic(
            method,
            f"/automation{path}",
            text,
            content_type="application/json",
            headers={"Authorization": f"Bearer {secret}", **headers},
        )

    return call


@pytest.fixture
def call(marketer: User) -> Call:
    """A program of the marketer that may do all they may."""
    return caller(secret_of(marketer))
