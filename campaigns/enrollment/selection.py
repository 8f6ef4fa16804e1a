"""Who was meant: from a list, a filter, everybody or named ids to the ids of a selection."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from django.db.models import QuerySet
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from core.dates import format_number
from core.errors import Invalid
from targets.filters import TargetFilter
from targets.models import Target, TargetListMember
from targets.queries import Visibility

MAX_SELECTION: Final = 20_000
TOO_LARGE: Final = "selection_too_large"  # the code of the refusal
CHUNK: Final = 500


def chunks(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    """`ids` in order, CHUNK at a time."""
    for start in range(0, len(ids), CHUNK):
        yield ids[start : start + CHUNK]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Who is meant, as it was said: everybody, those on a list, or those who meet conditions."""

    kind: Literal["everybody", "list", "filter"]
    list_id: int | None = None
    conditions: Mapping[str, Any] = field(default_factory=dict)

    def people(self, visibility: Visibility) -> QuerySet[Target]:
        """Those of them who may be seen, as they are now. Raises Invalid for conditions that cannot be read.

        The list page forgives such a filter and shows more people; adding more people is another matter.
        """
        people = visibility.people()
        if self.kind == "list":
            members = TargetListMember.objects.filter(list_id=self.list_id)
            return people.filter(pk__in=members.values("target_id"))
        if self.kind == "everybody":
            return people
        filters = TargetFilter(self.conditions)
        if not filters.is_valid():
            raise Invalid(
                _("One of the conditions cannot be used any more; check them."),
                code="filter_invalid",
                problems=[f"{name}: {error}" for name, errors in filters.errors.items() for error in errors],
            )
        return filters.apply(people)

    def ids(self, visibility: Visibility) -> list[int]:
        """The ids, oldest first. Raises Invalid, also for nobody and for more than MAX_SELECTION."""
        return _ids(self.people(visibility))

    def stored(self) -> dict[str, Any]:
        return {"kind": self.kind, "list": self.list_id, "conditions": dict(self.conditions)}


def read(raw: Mapping[str, Any]) -> Source:
    """What `Source.stored` kept."""
    return Source(kind=raw["kind"], list_id=raw["list"], conditions=raw["conditions"])


def everybody(visibility: Visibility) -> list[int]:
    """All people this member may see, oldest first. Raises Invalid for more than MAX_SELECTION."""
    return Source(kind="everybody").ids(visibility)


def on_list(list_id: int, visibility: Visibility) -> list[int]:
    """The visible people on one list, oldest first. Raises Invalid for more than MAX_SELECTION."""
    return Source(kind="list", list_id=list_id).ids(visibility)


def matching(filters: TargetFilter, visibility: Visibility) -> list[int]:
    """The visible people who meet the filter. Raises Invalid for a filter that cannot be read."""
    return Source(kind="filter", conditions=filters.data).ids(visibility)


def named(ids: Iterable[int], visibility: Visibility) -> list[int]:
    """The given ids once each, in their order; a member limited to own people selects only those.

    Ids of nobody stay, so that the review can tell about them. Raises Invalid for more than MAX_SELECTION.
    """
    wanted = list(dict.fromkeys(ids))
    _check_size(len(wanted))
    if not visibility.limited:
        return wanted
    seen: set[int] = set()
    for part in chunks(wanted):
        seen.update(visibility.people().filter(pk__in=part).values_list("pk", flat=True))
    return [pk for pk in wanted if pk in seen]


def hidden(ids: Sequence[int], visibility: Visibility) -> bool:
    """Whether one of these people may not be seen; ids of nobody hide nothing."""
    seen = visibility.condition()
    return any(Target.objects.filter(pk__in=part).exclude(seen).exists() for part in chunks(ids))


def _ids(people: QuerySet[Target]) -> list[int]:
    found = list(people.order_by("pk").values_list("pk", flat=True)[: MAX_SELECTION + 1])
    _check_size(len(found))
    return found


def _check_size(count: int) -> None:
    if count > MAX_SELECTION:
        most = format_number(MAX_SELECTION, get_language() or "fa")
        raise Invalid(
            _("More than %(most)s people are selected; narrow the selection and add them in parts.")
            % {"most": most},
            code=TOO_LARGE,
        )
    if count == 0:
        raise Invalid(_("Nobody is selected."), code="selection_empty")
