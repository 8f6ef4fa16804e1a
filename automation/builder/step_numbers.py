"""How many people came to each step, wait there, went on, failed, are held or were passed by.

The people belong to campaigns, which automation does not know: they register who counts (`Source`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from automation.builder import queries
from automation.models.definition import Workflow
from core.errors import NotFound
from core.text import to_latin_digits
from workspaces.decorators import permission_required
from workspaces.http import MemberRequest
from workspaces.models import Membership
from workspaces.permissions import Perm, has_perm


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Something that can be counted: a campaign, or all campaigns of a version. `value` is unique."""

    value: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StepNumbers:
    """One step. `entered`, `left` and `suppressed` are None until the history was counted.

    entered = waiting + left + failed + held
    """

    key: str
    name: str
    entered: int | None
    waiting: int
    left: int | None
    failed: int
    held: int
    suppressed: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """`counted_at` is None for numbers of this very moment."""

    steps: Sequence[StepNumbers]
    counted_at: datetime | None = None
    counting: bool = False


class Source(Protocol):
    """Whoever knows the people. Every answer takes a constant number of queries."""

    def choices(self, workflow: Workflow, version: int | None = None) -> Sequence[Choice]:
        """What can be counted for this workflow or for one version of it, the most telling first."""
        ...

    def numbers(self, workflow: Workflow, value: str, membership: Membership) -> Numbers | None:
        """The numbers of one choice for the people this member may see; None for no such choice."""
        ...


_source: list[Source] = []


def register_source(source: Source) -> None:
    _source[:] = [source]


def choices(request: MemberRequest, workflow: Workflow, *, version: int | None = None) -> Sequence[Choice]:
    """What the person may choose to be counted, beside the steps of the workflow or of one version."""
    if not _source or not has_perm(request.permissions, Perm.CAMPAIGNS_VIEW):
        return []
    return _source[0].choices(workflow, version)


@require_safe
@permission_required(Perm.CAMPAIGNS_VIEW)
def numbers(request: MemberRequest, pk: int) -> HttpResponse:
    """The fragment with the numbers of `?of=`: a table that the chart reads, and people too."""
    workflow = queries.workflow_for(pk)
    of = to_latin_digits(request.GET.get("of", ""))
    found: Numbers | None = Numbers(steps=())
    if of and _source:
        found = _source[0].numbers(workflow, of, request.membership)
    if found is None:
        raise NotFound(_("This campaign does not exist."))
    return render(request, "automation/workflows/_numbers.html", {"numbers": found})
