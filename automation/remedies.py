"""What to do about each problem of a definition: one short sentence per code, in the active language.

A code that is missing here needs none: its own sentence (`automation.problems`) says what to do already.
"""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

_REMOVE_SETTING = _("Remove the setting.")
_ANOTHER_VALUE = _("Choose another value.")
_FROM_LIST = _("Choose a comparison from the list.")
_ZONE = _("Choose a time zone from the list.")

REMEDIES: dict[str, str | Promise] = {
    # The whole
    "definition_malformed": _("Choose a file that was exported from a workflow."),
    "definition_too_big": _("Split it into several workflows."),
    "json_too_big": _("Shorten them."),
    "json_value_invalid": _("Type the value again."),
    "start_missing": _("Add a start and connect it to the first step."),
    "start_twice": _("Keep one and remove the others."),
    "end_missing": _("Add an end behind the last step."),
    "node_malformed": _("Remove it, or bring the workflow in again."),
    "node_key_invalid": _("Use letters, digits, - and _ only, 40 at most."),
    "node_duplicate": _("Give one of them another key."),
    "node_type_unknown": _("Remove the step or choose another kind."),
    "node_subtype_unknown": _("Remove the step or choose another one."),
    "node_must_be_enabled": _("Switch it on."),
    "node_unreachable": _("Connect it to an exit of another step, or remove it."),
    "edge_malformed": _("Remove the connection and make it again."),
    "edge_from_nowhere": _("Remove the connection."),
    "edge_to_nowhere": _("Connect the exit to a step that exists."),
    "edge_to_itself": _("Lead the connection to another step."),
    "edge_to_start": _("Lead the connection to the first step instead."),
    "port_unknown": _("Remove the connection, or use an exit that the step has."),
    "port_twice": _("Keep one of the two connections."),
    "port_unconnected": _("Connect it to a step or to an end."),
    "cycle_without_wait": _("Put a wait by duration into the loop."),
    "kind_only_in_journeys": _("Take it out here."),
    # Configs and settings
    "config_malformed": _("Open the step and save it again."),
    "config_key_unknown": _REMOVE_SETTING,
    "config_value_invalid": _ANOTHER_VALUE,
    "settings_malformed": _("Open the settings of the workflow and save them again."),
    "settings_key_unknown": _REMOVE_SETTING,
    "settings_only_in_journeys": _REMOVE_SETTING,
    "settings_value_invalid": _ANOTHER_VALUE,
    "event_unknown": _("Choose an event from the list, or set a time after which people go on."),
    "exit_criteria_invalid": _("Set the criteria right, or remove them."),
    "duration_unit_unknown": _("Use minutes, hours, days or weeks."),
    "duration_too_long": _("Choose a shorter time."),
    "switch_cases_count": _("Add or remove cases."),
    "switch_case_malformed": _("Write the case again."),
    "split_branches_count": _("Add or remove branches."),
    "timezone_invalid": _ZONE,
    "end_goto_refused": _("Use an end, and start the other workflow with a campaign of its own."),
    "end_target_invalid": _("Choose a step to go back to."),
    "retry_malformed": _("Set the rule for retries again."),
    "retry_key_unknown": _REMOVE_SETTING,
    "retry_value_invalid": _ANOTHER_VALUE,
    # Texts
    "variable_unknown": _("Choose a variable from the list, or write it as plain text."),
    "text_empty": _("Write the text."),
    "opt_out_text_missing": _("Write it in the SMS settings, or switch this off in the step."),
    "provider_unknown": _("Choose another provider in the step."),
    # Conditions
    "condition_empty": _("Add a rule, or take the condition out."),
    "condition_malformed": _("Write the condition again."),
    "condition_too_big": _("Make it simpler, or use several conditions one after the other."),
    "condition_group_size": _("Add a rule to the group, or remove the group."),
    "condition_field_unknown": _("Choose a field from the list."),
    "condition_operator_unknown": _FROM_LIST,
    "condition_operator_unfit": _FROM_LIST,
    "condition_value_invalid": _("Choose a value that suits the field."),
    # Windows
    "window_malformed": _("Set the hours again."),
    "window_key_unknown": _REMOVE_SETTING,
    "window_timezone_invalid": _ZONE,
    "window_never_open": _("Open at least one day."),
    "window_day_unknown": _("Remove the day."),
    "window_date_invalid": _("Write the date as year, month and day."),
    "window_ranges_overlap": _("Move or remove one of them."),
    # Warnings
    "never_ends": _("Lead one of the paths to an end."),
    "node_disabled": _("Switch it on if it is needed."),
    "branches_alike": _("Lead one of them elsewhere, or take the condition out."),
    "no_pause_between": _("Put a wait between the two."),
    "stray_brace": _("Remove the brace, or choose a variable."),
    "text_long": _("Shorten the text, or keep it as it is."),
}


def remedy(code: str) -> str:
    """What to do about a problem, in the active language; "" when its sentence says so itself."""
    return str(REMEDIES.get(code, ""))
