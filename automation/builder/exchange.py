"""A workflow as a file, and a file as a draft: what it asks for and this workspace lacks is named."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any, Final

from django.utils.translation import gettext as _

from automation import checking
from automation.action_specs import send_sms
from automation.checking import Finding, node_names
from automation.models.definition import Workflow, WorkflowVersion
from automation.problems import sentence
from automation.publishing import load_definition, with_new_keys
from core.errors import Invalid
from engine.portable import DefinitionError, definition_from_json, definition_to_json
from engine.types import Definition, NodeSpec
from sms.models import ProviderAccount

FORMAT: Final = "peyk-workflow"
VERSION: Final = 1
MAX_BYTES: Final = 2_000_000
MAX_STEPS: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrived:
    """A file that was read. `unmapped`: what this workspace does not have, each with its step's name."""

    definition: Definition
    name: str
    unmapped: tuple[str, ...]
    findings: tuple[Finding, ...]


def write_file(workflow: Workflow, version: WorkflowVersion) -> str:
    """The file of one version: JSON with the name, the kind and the definition, keys in stable order."""
    content = {
        "format": FORMAT,
        "version": VERSION,
        "name": workflow.name,
        "kind": workflow.kind,
        "definition": definition_to_json(load_definition(version)),
    }
    return json.dumps(content, ensure_ascii=False, indent=2, sort_keys=False) + "\n"


def read_file(content: bytes, *, kind: str) -> Arrived:
    """Read what `write_file` wrote, or a bare definition. Raises Invalid with every reason.

    Steps get keys of their own. What cannot be used here is taken out of the steps (an account and a line
    of another workspace) or stays and is named (an unknown action, variable or field), so that nothing is
    lost unseen.
    """
    raw = _parsed(content)
    name = raw.get("name") if isinstance(raw.get("name"), str) else ""
    definition = definition_of(raw.get("definition", raw) if "format" in raw else raw)
    definition, unmapped = _mapped(with_new_keys(definition))
    report = checking.check(definition, kind)
    lacking = [finding for finding in report.problems if finding.code in _NOT_HERE]
    return Arrived(
        definition=definition,
        name=str(name)[:120],
        unmapped=(*unmapped, *(str(finding) for finding in lacking)),
        findings=report.problems,
    )


def definition_of(raw: object) -> Definition:
    """A definition that can be stored, out of JSON values; its steps keep their keys.

    Raises Invalid with every reason. Whether it can run is another matter (`checking.check`).
    """
    try:
        definition = definition_from_json(raw)
    except DefinitionError as exc:
        raise Invalid(
            _("This is not a workflow file."), problems=[sentence(problem) for problem in exc.problems]
        ) from exc
    if len(definition.nodes) > MAX_STEPS:
        raise Invalid(_("A workflow made here may have %(n)s steps at most.") % {"n": MAX_STEPS})
    _refuse_unstorable(definition)
    return definition


# Problems that say: the file is sound, but this workspace has no such thing.
_NOT_HERE: Final = frozenset(
    {
        "node_subtype_unknown",
        "node_type_unknown",
        "kind_only_in_journeys",
        "end_repeats_in_journey",
        "variable_unknown",
        "condition_field_unknown",
        "settings_key_unknown",
        "config_key_unknown",
    }
)
_TYPES: Final = frozenset({"start", "action", "wait", "condition", "switch", "split", "goal", "end"})


def _parsed(content: bytes) -> dict[str, Any]:
    if len(content) > MAX_BYTES:
        raise Invalid(_("The file is too large."))
    try:
        raw = json.loads(content.decode("utf-8-sig"), parse_constant=_no_number)
    except (ValueError, RecursionError) as exc:
        raise Invalid(_("This is not a workflow file.")) from exc
    if not isinstance(raw, dict):
        raise Invalid(_("This is not a workflow file."))
    if raw.get("format", FORMAT) != FORMAT or raw.get("version", VERSION) != VERSION:
        raise Invalid(_("This file was written by another program or a later version of Peyk."))
    return raw


def _no_number(word: str) -> float:
    raise ValueError(word)


def _refuse_unstorable(definition: Definition) -> None:
    """What the database itself would refuse: unknown types, keys used twice, loose connections."""
    keys = [node.key for node in definition.nodes]
    exits = [(edge.source, edge.port) for edge in definition.edges]
    known = set(keys)
    loose = any(edge.source not in known or edge.target not in known for edge in definition.edges)
    if len(known) < len(keys) or len(set(exits)) < len(exits) or loose:
        raise Invalid(_("The steps and connections of this file contradict each other."))
    unknown = sorted({node.type for node in definition.nodes if node.type not in _TYPES})
    if unknown:
        words = {"kinds": ", ".join(unknown)}
        raise Invalid(_("The file has kinds of step that are not known here: %(kinds)s.") % words)


def _mapped(definition: Definition) -> tuple[Definition, list[str]]:
    """Messages without the account and the line of somebody else's workspace. One query."""
    accounts = {str(pk): lines for pk, lines in ProviderAccount.objects.values_list("pk", "lines")}
    lines = {line for found in accounts.values() for line in found}
    names, unmapped = node_names(definition), []
    nodes: list[NodeSpec] = []
    for node in definition.nodes:
        config = dict(node.config)
        if node.type == "action" and node.subtype == send_sms.SUBTYPE:
            for key, known, words in (
                ("provider", set(accounts), _("%(step)s: its SMS provider is not in this workspace.")),
                ("sender", lines, _("%(step)s: its sender line is not in this workspace.")),
            ):
                if config.get(key) and str(config[key]) not in known:
                    config[key] = None
                    unmapped.append(words % {"step": names[node.key]})
        nodes.append(replace(node, config=config))
    return replace(definition, nodes=tuple(nodes)), unmapped


def file_name(workflow: Workflow) -> str:
    """A name that every system takes; the workflow's own name stands inside the file."""
    return f"workflow-{workflow.pk}.json"
