"""A database from which nothing may be sent says so over the campaign pages and on the health page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from core import installation, one_host
from core.heartbeat import beat
from core.models import Installation
from tests.campaigns.reading import text_of, url
from workspaces.models import User, Workspace

pytestmark = pytest.mark.usefixtures("clock")
on_sqlite = pytest.mark.skipif(connection.vendor != "sqlite", reason="other databases serve many hosts")


@pytest.fixture(autouse=True)
def _guarded(workspace: Workspace, settings: Any, tmp_path: Path) -> Iterator[None]:
    settings.ENVIRONMENT_GUARD, settings.VAR_DIR = True, tmp_path
    installation.forget()
    installation.refusal()  # the database is ours from here on
    installation.forget()
    yield
    installation.forget()


def copied() -> None:
    Installation.objects.update(stamp="production|postgresql:1:2")


def shared() -> None:
    beat(one_host.NAME, {"boot": "another kernel", "machine": "another machine", "name": "elsewhere"})


ADOPT, STOP = "manage.py adopt_database", "PostgreSQL"
STATES = [
    pytest.param(copied, "en", "Nothing is sent from this database", ADOPT, id="copy-en"),
    pytest.param(copied, "fa", "از این پایگاه داده چیزی فرستاده نمی‌شود", ADOPT, id="copy-fa"),
    pytest.param(shared, "en", "Nothing is sent from this host", STOP, id="host-en", marks=on_sqlite),
    pytest.param(shared, "fa", "از این میزبان چیزی ارسال نمی‌شود", STOP, id="host-fa", marks=on_sqlite),
]


@pytest.mark.parametrize(("happens", "language", "title", "remedy"), STATES)
def test_the_pages_say_that_nothing_is_sent_and_what_to_do(
    client_of: Callable[..., Client],
    owner: User,
    happens: Callable[[], None],
    language: str,
    title: str,
    remedy: str,
) -> None:
    happens()
    web = client_of(owner, language=language)
    assert title in text_of(web.get(url("health")))
    assert remedy in text_of(web.get(url("checkup")))


@pytest.mark.parametrize("happens", [copied, pytest.param(shared, marks=on_sqlite)])
def test_a_probe_is_told(web: Client, happens: Callable[[], None]) -> None:
    happens()
    answer = web.get(url("checkup-json"))
    assert answer.status_code == 503
    [database] = [part for part in answer.json()["findings"] if part["key"] == "database"]
    assert database["level"] == "bad"
