"""What campaigns are called: they lie above this app, which knows their numbers only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple


class CampaignLabel(NamedTuple):
    """`url` is empty where there is no page to go to."""

    name: str
    url: str


Labels = Callable[[Iterable[int]], Mapping[int, CampaignLabel]]
_labels: list[Labels] = []


def register_campaign_labels(labels: Labels) -> None:
    """`labels(ids)`: the names of those it knows in the active workspace, in one query."""
    if labels not in _labels:
        _labels.append(labels)


def campaign_labels(ids: Iterable[int]) -> dict[int, CampaignLabel]:
    wanted = set(ids)
    found: dict[int, CampaignLabel] = {}
    for labels in _labels if wanted else ():
        found.update(labels(wanted))
    return found


Choices = Callable[[int], Sequence[tuple[int, str]]]
_choices: list[Choices] = []


def register_campaign_choices(choices: Choices) -> None:
    """`choices(limit)`: number and name of the newest campaigns of the active workspace, in one query."""
    if choices not in _choices:
        _choices.append(choices)


def campaign_choices(limit: int) -> list[tuple[int, str]]:
    """The newest campaigns, for whoever chooses one by its name."""
    return [pair for choices in _choices for pair in choices(limit)][:limit]
