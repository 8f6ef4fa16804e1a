"""From a problem to the place where it is set right: the page of the step, at the field."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.urls import reverse

from automation.checking import Finding
from automation.models.definition import Workflow

# The first part of a problem's code -> the field's id on the page of the step. The longest fit wins.
FIELDS = {
    "text_empty": "id_body",
    "text_not_approved": "id_body",
    "variable_unknown": "id_body",
    "stray_brace": "id_body",
    "opt_out_text_missing": "id_append_opt_out",
    "promotional_on_service_line": "id_sender",
    "long_text": "id_body",
    "retry": "id_retry_enabled",
    "duration": "id_amount",
    "wait_until": "id_at",
    "timezone": "id_at",
    "wait_hour": "id_time",
    "wait_fallback_hour": "id_fallback_hour",
    "event": "id_event",
    "goal_window": "id_window_days",
    "condition": "condition",
    "switch": "cases",
    "split_holdout": "id_holdout_percent",
    "split": "arms",
    "followup_title": "id_title",
    "followup_due": "id_amount",
    "end_delay": "id_amount",
    "end_max_cycles": "id_max_cycles",
    "end_target": "id_to_node",
}
IN_SETTINGS = ("window", "settings")
IN_LIST = ("port_unconnected", "node_unreachable", "end_missing", "never_ends", "cycle_without_wait")


@dataclass(frozen=True, slots=True, kw_only=True)
class Jump:
    """A finding and the address that shows where to set it right ("" when there is none)."""

    finding: Finding
    url: str


def jumps(workflow: Workflow, findings: Iterable[Finding]) -> list[Jump]:
    return [Jump(finding=finding, url=address(workflow, finding)) for finding in findings]


def address(workflow: Workflow, finding: Finding) -> str:
    if not finding.node:
        in_settings = finding.code.startswith(IN_SETTINGS)
        return reverse("automation:settings", args=[workflow.pk]) if in_settings else ""
    if finding.code in IN_LIST:
        return f"#{anchor_of_exit(finding.node, finding.port)}"
    page = reverse("automation:step", args=[workflow.pk, finding.node])
    field = field_of(finding.code, finding.port)
    return f"{page}#{field}" if field else page


def anchor_of_exit(key: str, port: str) -> str:
    """The id of the button that adds a step behind an exit; of the step's title without one."""
    return f"add-{key}-{port}" if port else f"title-{key}"


def field_of(code: str, port: str = "") -> str:
    """The id of the field that a problem code is about; "" when no field stands for it."""
    if port.startswith("case_"):
        return port
    fits = [start for start in FIELDS if code.startswith(start)]
    return FIELDS[max(fits, key=len)] if fits else ""
