"""A workspace's own templates: a version saved to begin other workflows with."""

from __future__ import annotations

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from automation import audit_events
from automation.models.definition import WorkflowTemplate
from core import clock
from core.errors import Invalid, NotFound
from core.tenancy import current_workspace_id
from core.text import normalize_text
from engine.portable import definition_from_json, definition_to_json
from engine.types import Definition
from workspaces import audit
from workspaces.models import User

PREFIX = "own-"
MAX_TEMPLATES = 100


def all_templates() -> QuerySet[WorkflowTemplate]:
    """Newest first."""
    return WorkflowTemplate.objects.filter(deleted_at__isnull=True).order_by("-pk")


def template_for(pk: int) -> WorkflowTemplate:
    """Raises NotFound, also for another workspace's."""
    row = all_templates().filter(pk=pk).first()
    if row is None:
        raise NotFound(_("There is no such template."))
    return row


def key_of(template: WorkflowTemplate) -> str:
    """What forms call it, beside the keys of the built-in ones."""
    return f"{PREFIX}{template.pk}"


def definition_for(key: str) -> Definition | None:
    """The definition behind such a key; None for a key of another kind or a template that is gone."""
    number = key.removeprefix(PREFIX)
    if number == key or not number.isdecimal() or len(number) > 18:
        return None
    row = all_templates().filter(pk=int(number)).first()
    return definition_from_json(row.definition) if row else None


@transaction.atomic
def save_as_template(
    definition: Definition, *, version: int, name: str, description: str, user: User | None
) -> WorkflowTemplate:
    """Keep `definition`, that of the version with this number, as a template.

    Raises Invalid for a missing or long name, and when there are too many.
    """
    name = normalize_text(name).replace("\n", " ")
    if not name:
        raise Invalid(_("Give the template a name."), code="name_missing")
    if len(name) > 120:
        raise Invalid(_("The name may have 120 characters at most."), code="name_too_long")
    if all_templates().count() >= MAX_TEMPLATES:
        raise Invalid(_("There are a hundred templates already; remove one first."), code="too_many")
    row = WorkflowTemplate.objects.create(
        workspace_id=current_workspace_id(),
        name=name,
        description=normalize_text(description)[:2000],
        definition=definition_to_json(definition),
        created_by=user,
    )
    audit.record(
        audit_events.TEMPLATE_SAVED,
        entity=row,
        new={"name": name, "version": version},
        user=user,
    )
    return row


@transaction.atomic
def remove(template: WorkflowTemplate, *, user: User | None) -> None:
    """Offer it no longer; workflows made from it stay as they are."""
    gone = all_templates().filter(pk=template.pk).update(deleted_at=clock.now(), updated_at=clock.now())
    if gone:
        audit.record(audit_events.TEMPLATE_REMOVED, entity=template, old={"name": template.name}, user=user)
