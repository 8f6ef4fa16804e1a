"""Problems of a definition in words: one sentence per code, filled from the problem's fields."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from automation import registry
from core.dates import in_digits_of_the_reader
from engine.types import NodeType, Port, Problem

SENTENCES: dict[str, str | Promise] = {
    # The whole
    "definition_malformed": _("This is not a workflow file."),
    "definition_too_big": _("The workflow is too large: %(nodes)s steps and %(edges)s connections."),
    "json_too_big": _("The settings of this step are too large or too deeply nested."),
    "json_value_invalid": _("There is a number or a character here that cannot be stored."),
    "start_missing": _("The workflow has no start."),
    "start_twice": _("A workflow can have only one start."),
    "end_missing": _("The workflow has no end step."),
    "node_malformed": _("A step cannot be read."),
    "node_key_invalid": _("“%(key)s” is not a valid key for a step."),
    "node_duplicate": _("Two steps have the same key."),
    "node_type_unknown": _("There is no kind of step called “%(type)s”."),
    "node_unknown_type": _("The step list cannot show this kind of step."),
    "node_subtype_unknown": _("There is no step called “%(subtype)s”."),
    "node_must_be_enabled": _("The start and the end cannot be switched off."),
    "node_unreachable": _("No path from the start leads to this step."),
    "edge_malformed": _("A connection cannot be read."),
    "edge_from_nowhere": _("A connection begins at a step that does not exist."),
    "edge_to_nowhere": _("The exit “%(port)s” leads to a step that does not exist."),
    "edge_to_itself": _("The step is connected to itself."),
    "edge_to_start": _("Nothing can lead back to the start."),
    "port_unknown": _("The step has no exit “%(port)s”."),
    "port_twice": _("The exit “%(port)s” is connected twice."),
    "port_unconnected": _("The exit “%(port)s” leads nowhere."),
    "cycle_without_wait": _("People would go round here without end: the loop needs a wait by duration."),
    "kind_only_in_journeys": _("A campaign cannot have a step “%(kind)s”; use it in a journey."),
    "end_repeats_in_journey": _("A journey cannot begin again at its end; use an end that completes."),
    # Configs
    "config_malformed": _("The settings of this step cannot be read."),
    "config_key_unknown": _("There is no setting called “%(key)s” here."),
    "config_value_invalid": _("The value of “%(key)s” is not valid."),
    "settings_malformed": _("The settings of the workflow cannot be read."),
    "settings_key_unknown": _("A workflow has no setting called “%(key)s”."),
    "settings_value_invalid": _("The value of the workflow setting “%(key)s” is not valid."),
    "settings_only_in_journeys": _("Only a journey can have the setting “%(key)s”."),
    "exit_criteria_invalid": _("The criteria for leaving: %(reason)s"),
    "reentry_twice": _(
        "Coming back is limited by hours and by day at once: keep either the pause in hours or the day."
    ),
    "duration_missing": _("Say how long: a number and a unit."),
    "duration_amount_invalid": _("The duration must be a whole number of 1 or more."),
    "duration_unit_unknown": _("“%(unit)s” is not a unit of time that can be used here."),
    "duration_too_long": _("The duration is longer than ten years."),
    "wait_until_invalid": _("Choose the date and time that the wait ends at."),
    "wait_hour_invalid": _("Choose the time of day: an hour from 0 to 23 and a minute from 0 to 59."),
    "wait_fallback_hour_invalid": _("Choose the hour, 0 to 23, for people whose best time is not known yet."),
    "event_missing": _("Choose the event."),
    "event_reserved": _("“%(event)s” is reserved for the product itself; choose another event."),
    "event_unknown": _("Nothing in this installation records the event “%(event)s”, so it may never come."),
    "goal_window_invalid": _("Say within how many days the event counts: 1 to %(max)s."),
    "switch_cases_count": _("A switch needs 1 to %(max)s cases."),
    "switch_case_malformed": _("The case “%(port)s” cannot be read."),
    "split_branches_count": _("A split needs 1 to %(max)s branches."),
    "split_branch_invalid": _("The branch “%(port)s” needs a share of 0 or more."),
    "split_weights_zero": _("At least one branch needs a share above zero."),
    "split_holdout_invalid": _("The share that is held out must be between 0 and 100 percent."),
    "timezone_invalid": _("“%(timezone)s” is not a time zone."),
    "end_goto_refused": _("A step that jumps to another workflow is not available."),
    "end_delay_too_short": _("The pause before a new round must be at least one hour."),
    "end_max_cycles_invalid": _("Say how many rounds there are at most: 1 to %(max)s."),
    "end_target_invalid": _("The loop goes back to a step that does not exist or cannot be gone back to."),
    "retry_malformed": _("The retry rule cannot be read."),
    "retry_key_unknown": _("The retry rule has no setting called “%(key)s”."),
    "retry_value_invalid": _("The value of “%(key)s” in the retry rule is not valid."),
    # Texts
    "variable_unknown": _("There is no variable {%(name)s}."),
    "stray_brace": _("The text has a brace that belongs to no variable; it will be sent as it is."),
    "text_empty": _("The text of the message is empty."),
    "opt_out_text_missing": _("The opt-out text is to be added, but the workspace has none yet."),
    "provider_unknown": _("The SMS provider of this step does not exist in this workspace."),
    # Conditions
    "condition_empty": _("The condition asks nothing, so it would be true for everybody."),
    "condition_malformed": _("The condition cannot be read."),
    "condition_too_big": _("The condition has too many parts or is too deeply nested."),
    "condition_group_size": _("A group in the condition has the wrong number of parts."),
    "condition_event_unsupported": _(
        "A condition here cannot ask how often an event happened; ask about the person instead."
    ),
    "condition_count_invalid": _("Say how often: a whole number of 0 or more."),
    "condition_days_invalid": _("Say within how many days: 1 to %(max)s."),
    "condition_field_unknown": _("There is no field “%(field)s” to ask about."),
    "condition_operator_unknown": _("There is no comparison “%(operator)s”."),
    "condition_operator_unfit": _("“%(field)s” cannot be compared with “%(operator)s”."),
    "condition_value_invalid": _("The value that “%(field)s” is compared with does not suit the field."),
    "type_mismatch": _("The person's value cannot be compared with the expected one."),
    # Windows
    "window_malformed": _("The sending window cannot be read."),
    "window_key_unknown": _("The sending window has no setting called “%(key)s”."),
    "window_timezone_invalid": _("“%(timezone)s” is not a time zone."),
    "window_never_open": _("The sending window has no open day."),
    "window_day_unknown": _("“%(day)s” is not a day of the week."),
    "window_date_invalid": _("“%(day)s” is not a date."),
    "window_range_invalid": _(
        "A range of %(day)s is not valid: write hours and minutes, such as 09:00 to 18:00."
    ),
    "window_range_order": _("A range of %(day)s ends before it begins; a night is split at 24:00."),
    "window_ranges_overlap": _("Two ranges of %(day)s overlap."),
    # Warnings
    "never_ends": _("From here no path leads to an end: people stay for ever."),
    "node_disabled": _("The step is switched off and will be passed over."),
    "branches_alike": _("Both branches of the condition lead to the same step."),
    "no_pause_between": _("The next message follows at once, without a wait in between."),
    # Why the step list cannot show a graph
    "failure_path": _("The step list cannot show a path for failures."),
    "success_path": _("The step list cannot show a path of its own for success."),
    "branches_meet": _("The step list cannot show paths that meet again."),
    "too_deep": _("The branches are nested too deeply for the step list."),
}

PORTS: Mapping[str, str | Promise] = {
    "default": pgettext_lazy("exit of a step", "next"),
    "yes": pgettext_lazy("exit of a step", "yes"),
    "no": pgettext_lazy("exit of a step", "no"),
    "success": pgettext_lazy("exit of a step", "success"),
    "failure": pgettext_lazy("exit of a step", "failure"),
    "timeout": pgettext_lazy("exit of a step", "when the time is over"),
    "holdout": pgettext_lazy("exit of a step", "held out"),
}

_NUMBERED_PORTS: Mapping[str, str | Promise] = {
    "case": pgettext_lazy("exit of a step", "case %(number)s"),
    "branch": pgettext_lazy("exit of a step", "branch %(number)s"),
}

KINDS: Mapping[str, str | Promise] = {
    "switch": pgettext_lazy("kind of step", "switch"),
    "split": pgettext_lazy("kind of step", "split"),
    "goal": pgettext_lazy("kind of step", "goal"),
    "until_time": pgettext_lazy("kind of step", "wait until a time of day"),
    "until_best_time": pgettext_lazy("kind of step", "wait until the best time"),
    "for_event": pgettext_lazy("kind of step", "wait for an event"),
}

DAYS: Mapping[str, str | Promise] = {
    "sat": _("Saturday"),
    "sun": _("Sunday"),
    "mon": _("Monday"),
    "tue": _("Tuesday"),
    "wed": _("Wednesday"),
    "thu": _("Thursday"),
    "fri": _("Friday"),
}


def register_sentences(sentences: Mapping[str, str | Promise]) -> None:
    """Add the sentences of an action's own problem codes."""
    SENTENCES.update(sentences)


def port_label(port: str, node_type: str = "") -> str:
    """An exit in the active language, digits too: `case_2` is “case 2”; an unknown one stays as it is.

    `node_type`: the kind of the step, where it is known.
    """
    if node_type == NodeType.SWITCH and port == Port.DEFAULT:
        return _now("none of these")
    word, _underscore, number = port.partition("_")
    if word in _NUMBERED_PORTS and number.isdecimal():
        return str(_NUMBERED_PORTS[word]) % in_digits_of_the_reader({"number": int(number)})
    return str(PORTS.get(port, port))


def sentence(problem: Problem, node_type: str = "") -> str:
    """`problem` of such a step in the active language. Plain text: whoever shows it in a page escapes it."""
    values = defaultdict(str, problem.fields)
    values["code"] = problem.code
    values["port"] = port_label(problem.port, node_type)
    values["kind"] = str(KINDS.get(values["kind"], values["kind"]))
    values["day"] = str(DAYS.get(values["day"], values["day"]))
    values["field"] = _field_label(values["field"])
    if problem.code == "exit_criteria_invalid":
        values["reason"] = sentence(Problem(code=values["reason"], fields=problem.fields))
    template = SENTENCES.get(problem.code)
    if template is None:
        return _now("This cannot be published as it is (%(code)s).") % values
    text = str(template) % values
    is_of_one_branch = problem.port.partition("_")[0] in _NUMBERED_PORTS and "%(port)" not in str(template)
    return f"{values['port']}: {text}" if is_of_one_branch else text


def _field_label(name: str) -> str:
    """What people know a field of conditions by; a name that is none stays as it is."""
    full = name if "." in name else f"target.{name}"
    return next((str(field.label) for field in registry.fields() if field.name == full), name)


def reason(code: str) -> str:
    """The sentence of a code that comes without fields, such as why a graph is no step list."""
    return sentence(Problem(code=code))
