"""Fixtures of the tests that walk the whole site."""

from tests.architecture.house import house

__all__ = ["house"]
