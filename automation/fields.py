"""Fields that conditions may ask about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from engine.types import ActionStatus, FieldType
from targets.models import Priority, TargetStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionField:
    """One value of the subject, of the walk or of its campaign. `values` names those of a closed set."""

    name: str  # with its namespace: target.city
    label: str | Promise
    type: FieldType
    values: Mapping[str, str | Promise] = field(default_factory=dict)


LAST_ACTION: dict[str, str | Promise] = {
    ActionStatus.SUCCESS: _("sent"),
    ActionStatus.FAILED: _("failed"),
    ActionStatus.REJECTED: _("refused"),
    ActionStatus.SKIPPED: _("skipped"),
    ActionStatus.UNKNOWN: _("outcome unknown"),
}

BUILT_IN = (
    ConditionField(name="target.first_name", label=_("First name"), type=FieldType.TEXT),
    ConditionField(name="target.last_name", label=_("Last name"), type=FieldType.TEXT),
    ConditionField(name="target.name", label=_("Full name"), type=FieldType.TEXT),
    ConditionField(name="target.mobile", label=_("Mobile number"), type=FieldType.TEXT),
    ConditionField(name="target.landline", label=_("Landline"), type=FieldType.TEXT),
    ConditionField(name="target.email", label=_("E-mail"), type=FieldType.TEXT),
    ConditionField(name="target.province", label=_("Province"), type=FieldType.TEXT),
    ConditionField(name="target.city", label=_("City"), type=FieldType.TEXT),
    ConditionField(
        name="target.status", label=_("Status"), type=FieldType.TEXT, values=dict(TargetStatus.choices)
    ),
    ConditionField(
        name="target.priority", label=_("Priority"), type=FieldType.TEXT, values=dict(Priority.choices)
    ),
    ConditionField(name="target.lists", label=_("Lists"), type=FieldType.LIST),
    ConditionField(name="target.created_at", label=_("Added on"), type=FieldType.DATETIME),
    ConditionField(name="campaign.name", label=_("Name of the campaign"), type=FieldType.TEXT),
    ConditionField(
        name="execution.last_action_status",
        label=_("Outcome of the last message"),
        type=FieldType.TEXT,
        values=LAST_ACTION,
    ),
    ConditionField(name="execution.cycle", label=_("Number of the round"), type=FieldType.NUMBER),
    ConditionField(name="execution.started_at", label=_("Entered on"), type=FieldType.DATETIME),
)
