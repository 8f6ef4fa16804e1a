"""Putting a single superseded version away."""

from __future__ import annotations

from django.db import transaction
from django.utils.translation import gettext as _

from automation import audit_events, publishing
from automation.in_use import in_use
from automation.models import VersionStatus, Workflow, WorkflowExecution, WorkflowVersion
from automation.states import LIVE
from core import clock
from core.errors import NotFound, Refused
from workspaces import audit
from workspaces.models import User

OPEN_CAMPAIGNS = ("draft", *publishing.RUNNING_CAMPAIGNS)


@transaction.atomic
def archive_version(workflow: Workflow, number: int, *, user: User | None) -> WorkflowVersion:
    """Put a version that was followed by another one away; it stays readable and comparable.

    Raises NotFound, Refused `version_not_superseded`, `version_archived`, or `version_in_use` while
    somebody is on their way through it or a campaign that is not over holds it.
    """
    version = _version(publishing.locked(workflow, even_archived=True), number)
    if version.status != VersionStatus.SUPERSEDED:
        raise Refused(_("Only a version that was replaced can be put away."), code="version_not_superseded")
    if version.archived_at is not None:
        raise Refused(_("This version is in the archive already."), code="version_archived")
    inside = WorkflowExecution.objects.filter(workflow_version=version, status__in=sorted(LIVE)).count()
    held = list(version.campaigns.filter(status__in=OPEN_CAMPAIGNS).values_list("name", flat=True)[:3])
    if inside or held:
        raise Refused(in_use(inside, held), code="version_in_use", people=inside)
    version.archived_at = clock.now()
    _store(version, audit_events.VERSION_ARCHIVED, user)
    return version


@transaction.atomic
def restore_version(workflow: Workflow, number: int, *, user: User | None) -> WorkflowVersion:
    """Take a version out of the archive. Raises NotFound, Refused `version_not_archived`."""
    version = _version(publishing.locked(workflow, even_archived=True), number)
    if version.archived_at is None:
        raise Refused(_("This version is not in the archive."), code="version_not_archived")
    version.archived_at = None
    _store(version, audit_events.VERSION_RESTORED, user)
    return version


def _version(workflow: Workflow, number: int) -> WorkflowVersion:
    row = WorkflowVersion.objects.select_for_update().filter(workflow=workflow, version_number=number).first()
    if row is None:
        raise NotFound(_("This version does not exist."))
    return row


def _store(version: WorkflowVersion, event: str, user: User | None) -> None:
    version.save(update_fields=["archived_at", "updated_at"])
    audit.record(event, entity=version, new={"version": version.version_number}, user=user)
