"""A selection as its page shows it: how many in which group, and what still needs an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from campaigns.enrollment import batches, committer, preview
from campaigns.enrollment.planner import Group
from campaigns.models import BatchStatus, EnrollmentBatch

GROUP_LABELS: Final[dict[str, str | Promise]] = {
    Group.READY: _("Ready"),
    Group.CONFLICT: _("In another campaign"),
    Group.ALREADY: _("In this campaign already"),
    Group.BLACKLISTED: _("On the blacklist"),
    Group.INVALID: _("No valid mobile number"),
    committer.SKIPPED: _("Left out by you"),
    committer.UNDECIDED: _("Came into another campaign meanwhile"),
    committer.SAME_TIME: _("Added by somebody else at the same time"),
}
GROUP_TONES: Final = {
    Group.READY: "success",
    Group.CONFLICT: "warn",
    Group.BLACKLISTED: "danger",
    Group.INVALID: "danger",
    committer.UNDECIDED: "warn",
}
FAILURES: Final[dict[str, str | Promise]] = {
    "campaign_over": _("The campaign ended while people were being added."),
    "intake_closed": _("The campaign was closed to new people meanwhile."),
    "stale": _("The background work stopped without an answer."),
    "cancelled": _("A colleague stopped the adding."),
    "right_gone": _("Whoever asked for it may not do this any more."),
    "stopped": _("An error stopped the background work."),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupCount:
    key: str
    label: str | Promise
    count: int
    tone: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """`group` is the one whose people are listed, `ids` all of them."""

    groups: list[GroupCount]
    group: str
    group_label: str | Promise
    ids: list[int]
    undecided: int
    to_add: int
    failure: str | Promise
    changed: list[GroupCount]  # left out although the review had said otherwise

    @property
    def may_commit(self) -> bool:
        return self.undecided == 0 and self.to_add > 0


def review_of(batch: EnrollmentBatch, *, group: str = "") -> Review:
    """The listed group is `group`, else the conflicts (also when all are answered: the list must not jump
    away under the last answer), else the first with people."""
    in_review = batch.status in (BatchStatus.DRAFT, BatchStatus.DISCARDED)
    counts = _review_counts(batch) if in_review else _outcome_counts(batch)
    groups = [
        GroupCount(
            key=key, label=GROUP_LABELS[key], count=count, tone=GROUP_TONES.get(key, "") if count else ""
        )
        for key, count in counts.items()
    ]
    undecided = len(batches.undecided_of(batch)) if in_review else 0
    shown = _shown(group, counts)
    return Review(
        groups=groups,
        group=shown,
        group_label=GROUP_LABELS.get(shown, ""),
        ids=preview.ids_of(batch, shown) if shown else [],
        undecided=undecided,
        to_add=_to_add(batch) if in_review else int(batch.counts.get("added", 0)),
        failure=FAILURES.get(str(batch.counts.get("error", "")), ""),
        changed=_changed(batch),
    )


def _changed(batch: EnrollmentBatch) -> list[GroupCount]:
    found = {key: int(batch.counts.get(f"{committer.CHANGED}{key}", 0)) for key in GROUP_LABELS}
    return [
        GroupCount(key=key, label=GROUP_LABELS[key], count=count, tone="warn")
        for key, count in found.items()
        if count
    ]


def _review_counts(batch: EnrollmentBatch) -> dict[str, int]:
    order = (Group.READY, Group.CONFLICT, Group.ALREADY, Group.BLACKLISTED, Group.INVALID)
    return {str(group): int(batch.counts.get(group, 0)) for group in order}


def _outcome_counts(batch: EnrollmentBatch) -> dict[str, int]:
    """Who was left out, by reason."""
    return {key: len(batch.plan[key]) for key in GROUP_LABELS if batch.plan.get(key)}


def _shown(group: str, counts: dict[str, int]) -> str:
    if group in counts:
        return group
    if counts.get(Group.CONFLICT):
        return Group.CONFLICT
    return next((key for key, count in counts.items() if count), "")


def _to_add(batch: EnrollmentBatch) -> int:
    decisions = batches.decisions_of(batch)
    conflicts = batch.plan.get(Group.CONFLICT, [])
    return int(batch.counts.get(Group.READY, 0)) + sum(decisions.answer(pk) == "add" for pk in conflicts)
