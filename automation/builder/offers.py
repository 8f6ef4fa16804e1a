"""What a question may be answered with: lists of the workspace to choose, cities and provinces to suggest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Final

from automation.fields import ConditionField
from targets import queries

LISTS: Final = "target.lists"
PLACES: Final = {"target.city": "city", "target.province": "province"}


def _names_of_lists() -> Iterable[str]:
    return queries.lists().values_list("name", flat=True)


class Offers:
    """Reads for one page: each is made when a question needs it, and once.

    `lists` gives the names of all lists, `places` the cities or the provinces in use.
    """

    def __init__(
        self,
        lists: Callable[[], Iterable[str]] = _names_of_lists,
        places: Callable[[str], Sequence[str]] = queries.places,
    ) -> None:
        self._read_lists = lists
        self._read_places = places
        self._places: dict[str, Sequence[str]] = {}

    def values(self, field: ConditionField) -> Mapping[str, str]:
        """The values that may be chosen, with what they are called; empty where anything may be typed."""
        return (
            self._lists if field.name == LISTS else {word: str(name) for word, name in field.values.items()}
        )

    def reminders(self, name: str) -> Sequence[str]:
        """Values in use that the box of a typed one suggests. `name` is a field's full name."""
        if name not in PLACES:
            return ()
        if name not in self._places:
            self._places[name] = self._read_places(PLACES[name])
        return self._places[name]

    @cached_property
    def _lists(self) -> Mapping[str, str]:
        return {name: name for name in self._read_lists()}
