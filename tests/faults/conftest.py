"""One house for all cells of a module: the processes and the database stay, each cell has a workspace."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection

from core import clock as core_clock
from tests.faults.house import House, open_house


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What is in this folder may run beside itself: each process has its own database, ports and folders."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.faults)


@pytest.fixture(scope="module")
def db(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """The database for a whole module, really committed and emptied at the end. Takes the place of
    pytest-django's fixture of this name, whose transaction no other process could see into."""
    with django_db_blocker.unblock():
        yield
        call_command("flush", verbosity=0, interactive=False)
        connection.close()


@pytest.fixture(scope="module")
def house(db: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with open_house(tmp_path_factory.mktemp("house"), connection.settings_dict) as opened:
        core_clock.use_process_clock(opened.clock)
        yield opened
        core_clock.use_process_clock(None)
