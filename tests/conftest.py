"""What every test may ask for. Behind the fixtures: tests/people.py, tests/clocks.py, tests/factories.py.

The network is shut except for loopback and Unix sockets: a test that would leave this machine fails.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Iterator
from datetime import UTC
from typing import Any

import pytest
import pytest_socket
from django.core.cache import cache
from django.test import Client
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from automation import definition_cache
from core import clock as core_clock
from core.tenancy import workspace_scope
from tests import people
from tests.clocks import MONDAY_MORNING, MovableClock
from workspaces.models import Role, User, Workspace

hypothesis_settings.register_profile(
    "peyk",
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
hypothesis_settings.load_profile("peyk")

LOOPBACK = ["127.0.0.1", "::1", "localhost", "127.0.0.0/8"]
_resolved: dict[str, set[str]] = {}
_real_getaddrinfo = socket.getaddrinfo


def _loopback_getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
    """Names are not looked up: asking a resolver is traffic too."""
    name = host.decode() if isinstance(host, bytes) else host
    if name not in (None, "", "localhost"):
        try:
            loopback = ipaddress.ip_address(name.split("%")[0])
        except ValueError:
            raise socket.gaierror(socket.EAI_NONAME, f"the network is shut in tests: {name}") from None
        if not (loopback.is_loopback or loopback.is_unspecified):
            raise socket.gaierror(socket.EAI_NONAME, f"the network is shut in tests: {name}")
    return _real_getaddrinfo(host, *args, **kwargs)


@pytest.hookimpl(trylast=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    pytest_socket.socket_allow_hosts(LOOPBACK, allow_unix_socket=True, resolution_cache=_resolved)
    socket.getaddrinfo = _loopback_getaddrinfo


def pytest_runtest_teardown(item: pytest.Item) -> None:
    socket.getaddrinfo = _real_getaddrinfo


@pytest.fixture(autouse=True)
def _empty_cache() -> Iterator[None]:
    """What is kept in memory outlives a test's rolled-back rows, and their ids come again."""
    cache.clear()
    definition_cache.clear()
    yield
    cache.clear()
    definition_cache.clear()


@pytest.fixture
def clock() -> Iterator[MovableClock]:
    """Time stands still at Monday 2026-11-30 09:00 in Tehran, in all threads, until the test moves it."""
    movable = MovableClock(MONDAY_MORNING.astimezone(UTC))
    core_clock.use_process_clock(movable)
    yield movable
    core_clock.use_process_clock(None)


@pytest.fixture
def workspace(db: None) -> Iterator[Workspace]:
    """A workspace, and the test runs inside its scope."""
    made = people.make_workspace("kaveh")
    with workspace_scope(made.pk):
        yield made


@pytest.fixture
def other_workspace(db: None) -> Workspace:
    """Somebody else's workspace; nothing of it may ever be seen from `workspace`."""
    return people.make_workspace("shirin")


@pytest.fixture
def owner(workspace: Workspace) -> User:
    return people.make_member(workspace, Role.OWNER)


@pytest.fixture
def admin(workspace: Workspace) -> User:
    return people.make_member(workspace, Role.ADMIN)


@pytest.fixture
def marketer(workspace: Workspace) -> User:
    return people.make_member(workspace, Role.MARKETER)


@pytest.fixture
def operator(workspace: Workspace) -> User:
    return people.make_member(workspace, Role.OPERATOR)


@pytest.fixture
def seller(workspace: Workspace) -> User:
    return people.make_member(workspace, Role.SELLER)


@pytest.fixture
def stranger(other_workspace: Workspace) -> User:
    """The owner of the other workspace."""
    return people.make_member(other_workspace, Role.OWNER)


@pytest.fixture
def client_of() -> Callable[..., Client]:
    """`client_of(user, language="en")`: a browser in which that person is signed in."""
    return people.client_of


@pytest.fixture
def member_client(owner: User) -> Client:
    """The owner's browser, in Persian."""
    return people.client_of(owner)
