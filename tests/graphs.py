"""A scenario over any graph, not only over steps in a row: `GraphScenario(nodes, edges, kind="journey")`.

The nodes and edges are written as in `tests/engine/building.py`; `message()` is the step that sends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from django.db.models import Q

from automation import definition_cache, publishing
from automation.checking import compile_registered
from automation.models import Workflow, WorkflowExecution, WorkflowNode, WorkflowVersion
from automation.subject_events import Asked, EventSource, Known, register_event_source
from core import clock
from core.tenancy import current_workspace_id
from engine.types import Arrival, Definition, NodeSpec
from tests.engine.building import edge, start
from tests.scenario import Scenario, assert_conserved


def message(key: str, body: str = "", *, on: bool = True, **config: Any) -> NodeSpec:
    """A step that sends `body` (its own key when left out)."""
    values = {"body": body or key, **config}
    return NodeSpec(key=key, type="action", subtype="send_sms", config=values, is_enabled=on)


class GraphScenario(Scenario):
    """A published graph and a running campaign of its kind. A start is put in front unless one is given."""

    def __init__(
        self,
        *nodes: NodeSpec,
        edges: Iterable[str],
        kind: str = "journey",
        settings: Mapping[str, Any] | None = None,
        **campaign: Any,
    ) -> None:
        steps = nodes if nodes[0].type == "start" else (start(), *nodes)
        self.kind = kind
        self.definition = Definition(
            nodes=steps, edges=tuple(edge(text) for text in edges), settings=dict(settings or {})
        )
        super().__init__({"type": "end", "subtype": "complete"}, settings=settings, **campaign)
        if kind == "journey":
            self.campaign.kind = kind
            self.campaign.save()

    def _publish(self, steps: Sequence[dict[str, Any]], settings: Mapping[str, Any]) -> WorkflowVersion:
        compiled = compile_registered(self.definition, self.kind)
        assert compiled.graph is not None, compiled.problems
        workspace_id = current_workspace_id()
        workflow = Workflow.objects.create(
            workspace_id=workspace_id, name="گراف", status="active", kind=self.kind
        )
        version = WorkflowVersion.objects.create(
            workspace_id=workspace_id, workflow=workflow, version_number=1, settings=dict(settings)
        )
        publishing.store(version, self.definition)
        spending = [key for key in compiled.graph.nodes if compiled.graph.consumes_budget(key)]
        WorkflowNode.objects.filter(Q(node_key__in=spending), version=version).update(consumes_budget=True)
        version.status, version.published_at = "published", clock.now()
        version.save()
        workflow.published_version = version
        workflow.save()
        return version

    def row(self, index: int = 0) -> WorkflowExecution:
        """The execution of the person, with the step it stands at."""
        rows = WorkflowExecution.objects.select_related("current_node").order_by("pk")
        return rows.get(subject_id=self.targets[index].pk)

    def at(self, index: int = 0) -> str:
        """The key of the step the person stands at."""
        return self.row(index).current_node.node_key

    def ended(self, index: int = 0) -> tuple[str, str]:
        row = self.row(index)
        return row.status, row.end_reason

    def texts(self) -> list[str]:
        return [sent.text for sent in self.provider.accepted]

    def settle(self) -> None:
        super().settle()
        assert_conserved()


class ScriptedEvents:
    """An event source of the test's own: what `happen` was told of. `asked` counts questions."""

    def __init__(self) -> None:
        self.rows: list[tuple[tuple[str, int], Arrival]] = []
        self.asked = 0

    def happen(self, subject_id: int, name: str, at: datetime, **data: Any) -> None:
        self.rows.append((("target", subject_id), Arrival(name=name, at=at, data=data)))

    def happened(self, workspace_id: int, asked: Asked) -> Known:
        self.asked += 1
        found: dict[tuple[str, int], list[Arrival]] = {}
        for subject, arrival in self.rows:
            since = asked.get(subject, {}).get(arrival.name)
            if since is not None and arrival.at >= since:
                found.setdefault(subject, []).append(arrival)
        return found


@contextmanager
def events_from(source: EventSource | None) -> Iterator[None]:
    """Inside, events come from `source` instead of the product's own store."""
    before = register_event_source(source)
    definition_cache.clear()
    try:
        yield
    finally:
        register_event_source(before)
        definition_cache.clear()
