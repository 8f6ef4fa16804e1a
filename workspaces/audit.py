"""The audit log: one row for each change, written in the transaction of the change itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import Model
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from core.logging import HIDDEN_ENDINGS, SECRET_KEYS
from core.tenancy import current_workspace_id
from workspaces.models import AuditRecord, Role, User

Label = str | Promise
Entity = Model | tuple[type[Model] | str, Any]

SET, NOT_SET = "set", "not set"
_SECRET_ENDINGS = tuple(end for end in HIDDEN_ENDINGS if end not in ("phone", "mobile", "body"))

AUDIT_LABELS: dict[str, Label] = {}
FIELD_LABELS: dict[str, Label] = {}
VALUE_TEXTS: dict[str, Callable[[Any], str]] = {}
VALUE_LABELS: dict[tuple[str, str], dict[str, Label]] = {}


class UnknownEvent(LookupError):
    """The event was never registered, so nobody could read it in the log."""


def register_events(labels: Mapping[str, Label]) -> None:
    """Make events known by the sentence that the log shows for them (translated when shown).

    Called from an app's `ready`. Raises ValueError when two apps claim one event.
    """
    for event, label in labels.items():
        if event in AUDIT_LABELS and str(AUDIT_LABELS[event]) != str(label):
            raise ValueError(f"two meanings for the audit event {event!r}")
        AUDIT_LABELS[event] = label


def register_fields(labels: Mapping[str, Label]) -> None:
    """Name the keys that stand in old and new values; a key without a name is shown as it is."""
    FIELD_LABELS.update(labels)


def register_values(entity: type[Model] | None, labels: Mapping[str, Mapping[str, Label]]) -> None:
    """Name the stored words of a key: `register_values(Campaign, {"status": dict(CampaignStatus.choices)})`.

    With None the names hold for that key on every kind of entity that has none of its own.
    """
    kind = entity._meta.label_lower if entity is not None else ""
    for key, named in labels.items():
        VALUE_LABELS[(kind, key)] = {str(value): label for value, label in named.items()}


def register_texts(texts: Mapping[str, Callable[[Any], str]]) -> None:
    """Say structured values (mappings, lists) of a key in words: `register_texts({"root": condition})`."""
    VALUE_TEXTS.update(texts)


def record(
    event: str,
    *,
    entity: Entity,
    old: Mapping[str, Any] | None = None,
    new: Mapping[str, Any] | None = None,
    user: User | None,
    workspace_id: int | None = None,
) -> AuditRecord:
    """Write one row of the audit log. Call it inside the transaction that makes the change.

    `entity` is the row that changed, or `(model, id)` where the row is not at hand. `old` and `new`
    hold what differs, values as JSON can say them (dates, decimals and UUIDs are converted). What
    stands under a key that names a secret is replaced by "set" or "not set". `workspace_id`
    defaults to the active workspace. Raises UnknownEvent for an event nobody registered.
    """
    if event not in AUDIT_LABELS:
        raise UnknownEvent(event)
    entity_type, entity_id = _identity(entity)
    row = AuditRecord(
        workspace_id=workspace_id or current_workspace_id(),
        user=user,
        event=event,
        entity_type=entity_type,
        entity_id=entity_id,
        old=_storable(old),
        new=_storable(new),
    )
    row.save()
    return row


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The old and the new values of the keys of `after` that differ from `before`."""
    changed = [key for key, value in after.items() if before.get(key) != value]
    return {key: before.get(key) for key in changed}, {key: after[key] for key in changed}


def _identity(entity: Entity) -> tuple[str, str]:
    if isinstance(entity, Model):
        return entity._meta.label_lower, str(entity.pk)
    kind, pk = entity
    return (kind if isinstance(kind, str) else kind._meta.label_lower), str(pk)


def _storable(values: Mapping[str, Any] | None) -> dict[str, Any]:
    cleaned = _without_secrets(values or {})
    stored: dict[str, Any] = json.loads(json.dumps(cleaned, cls=DjangoJSONEncoder))
    return stored


def _without_secrets(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {
            str(key): (SET if item else NOT_SET) if _names_a_secret(str(key)) else _without_secrets(item)
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_without_secrets(item) for item in value]
    return value


def _names_a_secret(key: str) -> bool:
    plain = "".join(c for c in key.lower() if c.isalnum())
    return plain in SECRET_KEYS or plain.endswith(_SECRET_ENDINGS) or "credential" in plain


register_events(
    {
        "workspace.created": _("Workspace created"),
        "workspace.changed": _("Workspace settings changed"),
        "member.added": _("Member added"),
        "member.role_changed": _("Role of a member changed"),
        "member.removed": _("Member removed"),
        "access.denied": _("An action was refused: no permission"),
        "table.downloaded": _("Table downloaded"),
        "api_token.created": _("API token created"),
        "api_token.revoked": _("API token revoked"),
    }
)
register_fields(
    {
        "name": _("Name"),
        "timezone": _("Time zone"),
        "language": _("Language"),
        "slug": _("Name in commands"),
        "needed": _("Missing permission"),
        "email": _("E-mail"),
        "role": _("Role"),
        "page": _("Page"),
        "table": _("Table"),
        "format": _("File type"),
        "status": _("Status"),
        "prefix": _("Beginning of the token"),
        "permissions": _("Permissions"),
        "expires_at": _("Valid until"),
    }
)
register_values(None, {"role": dict(Role.choices)})
