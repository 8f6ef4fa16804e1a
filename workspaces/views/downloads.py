"""The members, the API tokens and the audit log as files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from core.exporting import Digits, Table, moment
from workspaces import audit_page, queries, tokens
from workspaces.downloads import view
from workspaces.models import ApiToken, AuditRecord, Membership
from workspaces.permissions import Perm
from workspaces.token_forms import permission_label


def _members(chunk: Sequence[Membership]) -> Iterator[list[object]]:
    for row in chunk:
        user = row.user
        invited = user.last_login is None and not user.has_usable_password()
        yield [
            user.full_name, user.email, row.get_role_display(), _("Invited") if invited else _("Member"),
            moment(user.last_login), moment(row.created_at),
        ]  # fmt: skip


def _tokens(chunk: Sequence[ApiToken]) -> Iterator[list[object]]:
    """Never a secret: what is kept of one could not give it back, and stays in the database all the same."""
    states = {"valid": _("Valid"), "expired": _("Expired"), "revoked": _("Revoked")}
    for row in chunk:
        yield [
            row.name, f"{row.prefix}…", str(row.user), "\n".join(map(permission_label, row.permissions)),
            states[tokens.state_of(row)], moment(row.created_at), moment(row.expires_at),
            moment(row.last_used_at), moment(row.revoked_at), str(row.revoked_by or ""),
        ]  # fmt: skip


def _records(chunk: Sequence[AuditRecord]) -> Iterator[list[object]]:
    for row in chunk:
        line = audit_page.line(row)
        changes = "\n".join(f"{change.label}: {change.old} → {change.new}" for change in line.changes)
        number = Digits(line.entity_id) if line.entity_id != "0" else ""
        yield [moment(line.at), line.who or _("The system"), line.label, number, changes]


MEMBERS = Table(
    name="members",
    title=gettext_lazy("Members"),
    columns=(
        gettext_lazy("Person"), gettext_lazy("E-mail"), gettext_lazy("Role"), gettext_lazy("State"),
        gettext_lazy("Last sign-in"), gettext_lazy("Added"),
    ),
    cells=_members,
)  # fmt: skip
TOKENS = Table(
    name="api-tokens",
    title=gettext_lazy("API tokens"),
    columns=(
        gettext_lazy("Name"), gettext_lazy("Token"), gettext_lazy("Made by"), gettext_lazy("Permissions"),
        gettext_lazy("State"), gettext_lazy("Created"), gettext_lazy("Valid until"),
        gettext_lazy("Last used"), gettext_lazy("Revoked"), gettext_lazy("Revoked by"),
    ),
    cells=_tokens,
)  # fmt: skip
RECORDS = Table(
    name="audit-log",
    title=gettext_lazy("Audit log"),
    columns=(
        gettext_lazy("When"), gettext_lazy("Who"), gettext_lazy("What"), gettext_lazy("Number"),
        gettext_lazy("Changes"),
    ),
    cells=_records,
)  # fmt: skip

members = view(MEMBERS, lambda request: (queries.members_of(request.workspace), {}), Perm.WORKSPACE_MEMBERS)
api_tokens = view(TOKENS, lambda request: (tokens.tokens_of(request.workspace), {}), Perm.WORKSPACE_MANAGE)
audit_log = view(RECORDS, lambda request: audit_page.chosen(request)[1:], Perm.WORKSPACE_AUDIT)
