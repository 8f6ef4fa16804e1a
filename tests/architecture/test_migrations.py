"""An upgrade that went wrong can be taken back: each step of our migrations has a way back, and goes it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

OWN = [app.label for app in apps.get_app_configs() if Path(app.path).parent == settings.BASE_DIR]


def test_every_step_has_a_way_back() -> None:
    loader = MigrationLoader(None)
    ours = {key: migration for key, migration in loader.disk_migrations.items() if key[0] in OWN}
    assert len(ours) > 40
    stuck = [(key, op) for key, migration in ours.items() for op in migration.operations if not op.reversible]
    assert stuck == []


def _before(app: str, parents: Iterable[Any]) -> str | None:
    """The migration of this app that came before; none before its first."""
    return next((parent.key[1] for parent in parents if parent.key[0] == app), None)


@pytest.mark.concurrency
@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_the_newest_migrations_go_back_and_forth() -> None:
    """Those that nothing else rests on: what an upgrade of the day before yesterday would take back."""
    before = MigrationLoader(connection)
    nodes = before.graph.node_map
    newest = sorted(key for key in before.graph.leaf_nodes() if key[0] in OWN and not nodes[key].children)
    earlier = [(app, _before(app, nodes[app, name].parents)) for app, name in newest]
    assert len(earlier) > 1
    try:
        MigrationExecutor(connection).migrate(earlier)
        assert set(before.applied_migrations) - set(MigrationLoader(connection).applied_migrations) == set(
            newest
        )
    finally:
        forward = MigrationExecutor(connection)
        forward.migrate(forward.loader.graph.leaf_nodes())
    assert set(MigrationLoader(connection).applied_migrations) == set(before.applied_migrations)
