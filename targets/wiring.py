"""What the app tells the rest of the house when it starts: audit labels, navigation, start page, tasks."""

from __future__ import annotations

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from core import navigation
from core.navigation import NavItem
from targets import queries
from targets.models import Priority, Target, TargetStatus
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
}


def register() -> None:
    """Called once, from the app's `ready`."""
    from targets.importing import jobs  # noqa: F401  # the import registers the background task

    audit.register_events(EVENTS)
    audit.register_fields(FIELDS)
    audit.register_values(Target, {"status": dict(TargetStatus.choices), "priority": dict(Priority.choices)})
    audit.register_values(None, {"stop_statuses": dict(TargetStatus.choices)})
    navigation.register(
        NavItem(
            key="targets", label=_("People"), url_name="targets:list", order=10, icon="targets", enabled=_sees
        )
    )
    home.register_card("targets.people", _people_card, permission=SEES_PEOPLE, order=10)
    home.register_step("targets.import", _import_step, permission=Perm.TARGETS_IMPORT, order=20)


def _sees(request: HttpRequest) -> bool:
    held: frozenset[str] = getattr(request, "permissions", frozenset())
    return not held.isdisjoint(SEES_PEOPLE)


def _people_card(request: MemberRequest) -> home.Card:
    count = queries.visible_to(request.membership).count()
    return home.Card(label=_("People"), value=count, url=reverse("targets:list"), icon="targets")


def _import_step(request: MemberRequest) -> home.Step:
    return home.Step(
        title=_("Bring your people in"),
        text=_("Upload the spreadsheet as it is: Peyk sorts numbers, names and duplicates."),
        action=_("Import people"),
        url=reverse("targets:import-new"),
        icon="upload",
        done=queries.visible_to(request.membership).exists(),
    )
