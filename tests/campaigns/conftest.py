"""What the tests of campaigns share."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from workspaces.models import User


@pytest.fixture
def web(owner: User, client_of: Callable[..., Client]) -> Client:
    """The owner's browser, in English."""
    return client_of(owner, language="en")
