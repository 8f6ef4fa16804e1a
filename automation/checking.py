"""Whether a definition may be published, and why not: the engine's problems and the workspace's, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from automation import registry, subject_events
from automation.known_events import in_one_spelling, unknown_event_warnings
from automation.models.definition import WorkflowKind
from automation.naming import step_label
from automation.problems import sentence
from automation.remedies import remedy
from engine.compile import Compiled, compile_definition
from engine.types import Definition, NodeSpec, Problem, Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One problem or warning, ready to be shown. `node` is "" when it concerns the whole workflow.

    `remedy` says what to do about it; "" when the message does.
    """

    code: str
    node: str
    node_name: str
    port: str
    message: str
    remedy: str = ""

    def __str__(self) -> str:
        return f"{self.node_name}: {self.message}" if self.node else self.message


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What compiling said. `compiled.graph` is None exactly while the engine found a problem."""

    compiled: Compiled
    problems: tuple[Finding, ...]
    warnings: tuple[Finding, ...]

    @property
    def is_publishable(self) -> bool:
        return not self.problems


PROFILES: Mapping[str, Profile] = {
    WorkflowKind.LIST: Profile.CAMPAIGN,
    WorkflowKind.JOURNEY: Profile.JOURNEY,
}


def compile_registered(definition: Definition, kind: str = WorkflowKind.LIST) -> Compiled:
    """Compile with every registered action, variable, field and trigger. Asks no database.

    `kind` is the workflow's: it says which kinds of step there may be and how complete the graph must be.
    """
    return compile_definition(
        in_one_spelling(definition),
        actions=registry.action_specs(),
        variables=registry.variable_names(),
        fields=registry.field_types(),
        profile=PROFILES[kind],
        triggers=registry.trigger_checks(),
        events=subject_events.is_available(),
    )


def check(definition: Definition, kind: str = WorkflowKind.LIST) -> Report:
    """Every reason why `definition` cannot be published in the active workspace, in the active language.

    At most a constant number of queries, whatever the number of steps. `kind`: see `compile_registered`.
    """
    compiled = compile_registered(definition, kind)
    problems = [*compiled.problems, *_workspace_problems(definition)]
    unheard = unknown_event_warnings(compiled.graph) if compiled.graph else ()
    warnings = [*compiled.warnings, *_action_warnings(definition), *unheard]
    return Report(
        compiled=compiled,
        problems=_in_words(problems, definition),
        warnings=_in_words(warnings, definition),
    )


def node_names(definition: Definition) -> dict[str, str]:
    """Key -> what a person calls the step (`naming`)."""
    return {node.key: step_label(node) for node in definition.nodes}


def _workspace_problems(definition: Definition) -> list[Problem]:
    problems: list[Problem] = []
    for plugin in registry.actions():
        nodes: list[NodeSpec] = [
            node for node in definition.nodes if node.type == "action" and node.subtype == plugin.spec.subtype
        ]
        if nodes:
            problems += plugin.check_workspace(nodes)
    return problems


def _action_warnings(definition: Definition) -> list[Problem]:
    warnings: list[Problem] = []
    for node in definition.nodes:
        plugin = registry.action(node.subtype) if node.type == "action" else None
        if plugin is not None:
            warnings += [replace(problem, node=node.key) for problem in plugin.warn(node.config)]
    return warnings


def _in_words(problems: Iterable[Problem], definition: Definition) -> tuple[Finding, ...]:
    names = node_names(definition)
    types = {node.key: node.type for node in definition.nodes}
    return tuple(
        Finding(
            code=problem.code,
            node=problem.node,
            node_name=names.get(problem.node, problem.node),
            port=problem.port,
            message=sentence(problem, types.get(problem.node, "")),
            remedy=remedy(problem.code),
        )
        for problem in problems
    )
