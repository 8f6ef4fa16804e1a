"""A pytest plug-in: keep the tests that use the database, for the second run on the other one."""

from __future__ import annotations

import pytest

DATABASE_FIXTURES = frozenset({"db", "transactional_db", "django_db_reset_sequences", "live_server"})


def uses_database(item: pytest.Item) -> bool:
    """Whether a test asks for the database, by mark or by fixture."""
    fixtures = getattr(item, "fixturenames", ())
    return item.get_closest_marker("django_db") is not None or not DATABASE_FIXTURES.isdisjoint(fixtures)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the others, and say so the way pytest does for its own selections."""
    kept = [item for item in items if uses_database(item)]
    config.hook.pytest_deselected(items=[item for item in items if not uses_database(item)])
    items[:] = kept
