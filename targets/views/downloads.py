"""People, lists, activities and imports as files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.utils.translation import gettext_lazy as _

from core import clock
from core.exporting import Digits, Table, moment
from core.tenancy import current_workspace_id
from targets import activity_queries, queries
from targets.activity_forms import USUAL, ActivityFilter
from targets.filters import TargetFilter
from targets.models import Activity, ImportJob, Priority, Target, TargetList, TargetStatus
from targets.queries import Visibility
from targets.views.people import SEES
from workspaces.downloads import Wanted, view
from workspaces.http import MemberRequest
from workspaces.permissions import Perm


def _people(chunk: Sequence[Target]) -> Iterator[list[object]]:
    on = queries.list_ids_for(current_workspace_id(), [target.pk for target in chunk])
    names = dict(queries.lists().values_list("pk", "name"))
    statuses = {value: str(label) for value, label in TargetStatus.choices}  # once, not for each row
    priorities = {value: str(label) for value, label in Priority.choices}
    for target in chunk:
        lists = ", ".join(sorted(names[pk] for pk in on.get(target.pk, ()) if pk in names))
        yield [
            Digits(target.pk), target.display_name, target.first_name, target.last_name,
            Digits(target.mobile), Digits(target.landline), statuses.get(target.status, target.status),
            priorities.get(target.priority, ""), target.province, target.city, str(target.owner or ""),
            lists, moment(target.created_at),
        ]  # fmt: skip


def _lists(chunk: Sequence[TargetList]) -> Iterator[list[object]]:
    for row in chunk:
        yield [Digits(row.pk), row.name, getattr(row, "member_count", 0), moment(row.created_at)]


PEOPLE = Table(
    name="people",
    title=_("People"),
    columns=(
        _("Person's number"), _("Full name"), _("First name"), _("Last name"), _("Mobile"), _("Landline"),
        _("Status"), _("Priority"), _("Province"), _("City"), _("Owner"), _("Lists"), _("Added"),
    ),
    cells=_people,
)  # fmt: skip
LISTS = Table(
    name="lists", title=_("Lists"), columns=(_("Number"), _("Name"), _("People"), _("Added")), cells=_lists
)


def _activities(chunk: Sequence[Activity]) -> Iterator[list[object]]:
    for row in chunk:
        yield [
            str(row), row.get_kind_display(), Digits(row.target_id), str(row.target), moment(row.due_at),
            moment(row.done_at), str(row.owner or ""), str(row.created_by or ""),
        ]  # fmt: skip


ACTIVITIES = Table(
    name="activities",
    title=_("Activities"),
    columns=(
        _("Title"), _("Kind"), _("Person's number"), _("Person"), _("Due"), _("Done"), _("Owner"),
        _("Recorded by"),
    ),
    cells=_activities,
)  # fmt: skip


def _imports(chunk: Sequence[ImportJob]) -> Iterator[list[object]]:
    for row in chunk:
        counts = [row.counts.get(word, 0) for word in ("created", "updated", "same", "refused")]
        yield [
            Digits(row.pk), row.file_name, row.get_status_display(), row.row_count, *counts,
            str(row.list or ""), str(row.created_by or ""), moment(row.created_at), moment(row.finished_at),
            row.error,
        ]  # fmt: skip


IMPORTS = Table(
    name="imports",
    title=_("Imports"),
    columns=(
        _("Number"), _("File"), _("Status"), _("Rows"), _("Created"), _("Updated"), _("Unchanged"),
        _("Refused"), _("List"), _("By"), _("When"), _("Ended"), _("Last error"),
    ),
    cells=_imports,
)  # fmt: skip


def _people_wanted(request: MemberRequest) -> Wanted[Target]:
    filters = TargetFilter(request.GET)
    rows = filters.apply(queries.visible_to(request.membership)).select_related("owner")
    return rows, filters.stored() if filters.is_valid() else {}


def _activities_wanted(request: MemberRequest) -> Wanted[Activity]:
    wanted = ActivityFilter({**USUAL, **request.GET.dict()}, initial=USUAL).wanted()
    rows = activity_queries.activities(request.membership)
    return activity_queries.narrowed(rows, **wanted, user=request.user, now=clock.now()), wanted


people = view(PEOPLE, _people_wanted, *SEES)
lists = view(LISTS, lambda request: (queries.lists_with_counts(Visibility(request.membership)), {}), *SEES)
activities = view(ACTIVITIES, _activities_wanted, *SEES)
imports = view(IMPORTS, lambda _request: (queries.import_jobs(), {}), Perm.TARGETS_IMPORT)
