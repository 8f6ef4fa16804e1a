"""Writing a changed draft: only the steps and connections that differ, in a constant number of statements."""

from __future__ import annotations

from automation.models.definition import WorkflowEdge, WorkflowNode, WorkflowVersion
from engine.types import Definition, EdgeSpec, NodeSpec


def store_difference(draft: WorkflowVersion, before: Definition, after: Definition) -> None:
    """Bring the rows of `draft`, which say `before`, to say `after`. Settings are the caller's."""
    old_nodes = {node.key: node for node in before.nodes}
    new_nodes = {node.key: node for node in after.nodes}
    _drop_edges(draft, set(before.edges) - set(after.edges))
    gone = old_nodes.keys() - new_nodes.keys()
    if gone:
        WorkflowNode.objects.filter(version=draft, node_key__in=gone).delete()
    fresh = [node for key, node in new_nodes.items() if key not in old_nodes]
    if fresh:
        WorkflowNode.objects.bulk_create(_row(draft, node) for node in fresh)
    _change_nodes(draft, [n for k, n in new_nodes.items() if k in old_nodes and old_nodes[k] != n])
    _add_edges(draft, set(after.edges) - set(before.edges))


def _row(draft: WorkflowVersion, node: NodeSpec) -> WorkflowNode:
    return WorkflowNode(
        workspace_id=draft.workspace_id,
        version=draft,
        node_key=node.key,
        type=node.type,
        subtype=node.subtype,
        name=node.name[:120],
        config=dict(node.config),
        is_enabled=node.is_enabled,
    )


def _change_nodes(draft: WorkflowVersion, changed: list[NodeSpec]) -> None:
    if not changed:
        return
    specs = {node.key: node for node in changed}
    rows = list(WorkflowNode.objects.filter(version=draft, node_key__in=specs))
    for row in rows:
        spec = specs[row.node_key]
        row.type, row.subtype, row.name = spec.type, spec.subtype, spec.name[:120]
        row.config, row.is_enabled = dict(spec.config), spec.is_enabled
    WorkflowNode.objects.bulk_update(rows, ["type", "subtype", "name", "config", "is_enabled"])


def _drop_edges(draft: WorkflowVersion, edges: set[EdgeSpec]) -> None:
    if not edges:
        return
    exits = {(edge.source, edge.port) for edge in edges}
    rows = WorkflowEdge.objects.filter(version=draft).values_list("pk", "from_node__node_key", "port")
    gone = [pk for pk, source, port in rows if (source, port) in exits]
    WorkflowEdge.objects.filter(pk__in=gone).delete()


def _add_edges(draft: WorkflowVersion, edges: set[EdgeSpec]) -> None:
    if not edges:
        return
    ids = dict(WorkflowNode.objects.filter(version=draft).values_list("node_key", "pk"))
    WorkflowEdge.objects.bulk_create(
        WorkflowEdge(
            workspace_id=draft.workspace_id,
            version=draft,
            from_node_id=ids[edge.source],
            to_node_id=ids[edge.target],
            port=edge.port,
        )
        for edge in sorted(edges, key=lambda edge: (edge.source, edge.port))
    )
