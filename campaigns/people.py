"""Which people of a campaign its page and its downloads show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from automation.models import NodeKind, WorkflowExecution, WorkflowNode
from automation.panels import step_name
from automation.states import EndReason, ExecutionStatus
from campaigns.dashboard import seen_executions
from campaigns.figures import FAILED_MESSAGES, HELD
from campaigns.models import Campaign
from campaigns.outcomes import NO_CODE
from core.text import to_latin_digits
from sms.models import SmsLog, SmsStatus
from targets.queries import Visibility

ALL = ("", _("All"))
ONLY_HELD = "held"


class PeopleFilter(forms.Form):
    """Conditions as the address holds them; one that cannot be read narrows nothing. One query to build."""

    status = forms.ChoiceField(
        label=_("Status"),
        required=False,
        choices=[ALL, *ExecutionStatus.choices, (ONLY_HELD, _("Held: paused or on the blacklist"))],
    )
    step = forms.TypedChoiceField(label=_("Step"), required=False, coerce=int, empty_value=None)
    reason = forms.ChoiceField(
        label=_("Reason of the end"), required=False, choices=[ALL, *EndReason.choices]
    )
    code = forms.CharField(
        label=_("Error code of a message"),
        required=False,
        max_length=40,
        widget=forms.TextInput(attrs={"dir": "ltr", "autocomplete": "off"}),
    )

    def __init__(self, data: Mapping[str, Any], *, campaign: Campaign) -> None:
        super().__init__(data)
        self.campaign = campaign
        nodes = WorkflowNode.objects.filter(version_id=campaign.workflow_version_id).order_by("pk")
        steps = [(node.pk, step_name(node)) for node in nodes if node.type != NodeKind.START]
        cast(forms.TypedChoiceField, self.fields["step"]).choices = [ALL, *steps]

    def chosen(self) -> dict[str, Any]:
        """The conditions that are set and can be read."""
        self.is_valid()
        return {name: value for name, value in self.cleaned_data.items() if value not in ("", None)}

    def rows(self, visibility: Visibility) -> QuerySet[WorkflowExecution]:
        """The walks of those who meet every condition and may be seen; without an order."""
        rows, wanted = seen_executions(self.campaign, visibility), self.chosen()
        if "status" in wanted:
            statuses = HELD if wanted["status"] == ONLY_HELD else {wanted["status"]}
            rows = rows.filter(status__in=sorted(statuses))
        if "step" in wanted:
            alike = WorkflowNode.objects.filter(pk=wanted["step"]).values("node_key")
            workflow = WorkflowNode.objects.filter(
                version__workflow_id=self.campaign.workflow_id, node_key__in=alike
            )
            rows = rows.filter(current_node_id__in=list(workflow.values_list("pk", flat=True)))
        if "reason" in wanted:
            rows = rows.filter(end_reason=wanted["reason"])
        if "code" in wanted:
            rows = rows.filter(pk__in=self._with_code(to_latin_digits(wanted["code"])))
        return rows

    def _with_code(self, code: str) -> QuerySet[SmsLog, int | None]:
        lost = SmsLog.objects.filter(
            campaign_id=self.campaign.pk,
            status__in=sorted({*FAILED_MESSAGES, SmsStatus.UNDELIVERED}),
            error_code="" if code == NO_CODE else code,
            execution_id__isnull=False,
        )
        return lost.values_list("execution_id", flat=True)
