"""What the app tells the rest of the house when it starts: audit labels, navigation, start page, tasks."""

from __future__ import annotations

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from core import clock, navigation
from core.navigation import NavItem
from targets import activity_queries, panels, queries, searching
from targets.models import Activity, ActivityKind, Priority, Target, TargetStatus
from workspaces import audit, home
from workspaces.http import MemberRequest
from workspaces.permissions import Perm

SEES_PEOPLE = (Perm.TARGETS_VIEW, Perm.TARGETS_VIEW_OWN)
EVENTS = {
    "target.created": _("Person added"),
    "target.changed": _("Person changed"),
    "target.deleted": _("Person deleted"),
    "target_list.created": _("List created"),
    "target_list.changed": _("List renamed"),
    "target_list.deleted": _("List deleted"),
    "target_list.members_added": _("People added to a list"),
    "target_list.members_removed": _("People removed from a list"),
    "target_import.started": _("Import of people started"),
    "target_import.finished": _("Import of people finished"),
    "activity.created": _("Activity noted down"),
    "activity.changed": _("Activity changed"),
    "activity.done": _("Activity done"),
    "activity.reopened": _("Activity opened again"),
}
FIELDS = {
    "first_name": _("First name"),
    "last_name": _("Last name"),
    "mobile": _("Mobile"),
    "landline": _("Landline"),
    "external_id": _("Customer code"),
    "province": _("Province"),
    "city": _("City"),
    "priority": _("Priority"),
    "owner_id": _("Owner"),
    "traits": _("More about this person"),
    "file": _("File"),
    "list": _("List"),
    "count": _("Count"),
    "created": _("Created"),
    "updated": _("Updated"),
    "same": _("Unchanged"),
    "refused": _("Refused"),
    "stopped": _("Executions ended"),
    "description": _("Description"),
    "kind": _("Kind"),
    "title": _("Title"),
    "due_at": _("Due"),
}


def register() -> None:
    """Called once, from the app's `ready`."""
    from targets.importing import jobs  # noqa: F401  # the import registers the background task
    from targets.views import activities

    audit.register_events(EVENTS)
    audit.register_fields(FIELDS)
    audit.register_values(Activity, {"kind": dict(ActivityKind.choices)})
    audit.register_values(Target, {"status": dict(TargetStatus.choices), "priority": dict(Priority.choices)})
    audit.register_values(None, {"stop_statuses": dict(TargetStatus.choices)})
    navigation.register(
        NavItem(
            key="targets", label=_("People"), url_name="targets:list", order=10, icon="targets", enabled=_sees
        )
    )
    navigation.register(
        NavItem(
            key="activities", label=_("Activities"), url_name="targets:activities", order=38,
            icon="calendar", enabled=_sees,
        )
    )  # fmt: skip
    panels.register_panel(
        panels.Panel(key=activities.TAB, label=_("Activities"), build=activities.panel, order=20)
    )
    searching.register(SEES_PEOPLE)
    home.register_card("targets.activities", _due_card, permission=SEES_PEOPLE, order=15)
    home.register_card("targets.people", _people_card, permission=SEES_PEOPLE, order=10)
    home.register_step("targets.import", _import_step, permission=Perm.TARGETS_IMPORT, order=20)


def _sees(request: HttpRequest) -> bool:
    held: frozenset[str] = getattr(request, "permissions", frozenset())
    return not held.isdisjoint(SEES_PEOPLE)


def _people_card(request: MemberRequest) -> home.Card:
    count = queries.visible_to(request.membership).count()
    return home.Card(label=_("People"), value=count, url=reverse("targets:list"), icon="targets")


def _due_card(request: MemberRequest) -> home.Card | None:
    """Nothing due is no card: the start page is for what needs somebody."""
    count = activity_queries.due_count(request.membership, clock.now())
    if not count:
        return None
    url = f"{reverse('targets:activities')}?when={activity_queries.OVERDUE}"
    return home.Card(label=_("Activities that are due"), value=count, url=url, icon="calendar", tone="warn")


def _import_step(request: MemberRequest) -> home.Step:
    return home.Step(
        title=_("Bring your people in"),
        text=_("Upload the spreadsheet as it is: Peyk sorts numbers, names and duplicates."),
        action=_("Import people"),
        url=reverse("targets:import-new"),
        icon="upload",
        done=queries.visible_to(request.membership).exists(),
    )
