"""Compiled versions, kept in the memory of the process.

A published or replaced version never changes, so what was compiled once stays right for ever and no
other process has to be told anything. Drafts are compiled each time. Entries belong to a workspace:
a version of another workspace is not found, cached or not.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from automation.checking import compile_registered
from automation.models.definition import VersionStatus, WorkflowVersion
from automation.publishing import load_with_ids
from core.errors import NotFound, Refused
from core.tenancy import current_workspace_id
from engine.graph import Graph

UNREADABLE: Final = _lazy(
    "The version of the workflow cannot be read by this release (%(codes)s). Nothing is lost: tell whoever "
    "looks after the server."
)
CAPACITY: Final = 256  # versions; one is a few kilobytes to a few hundred


class UnreadableVersion(Refused):
    """A stored version that this release cannot compile: `codes` say why. Its people wait, nobody is failed:
    a release that can read it again lets them go on.
    """

    code = "version_unreadable"

    def __init__(self, version_id: int, codes: tuple[str, ...]) -> None:
        self.version_id = version_id
        self.codes = codes
        super().__init__(UNREADABLE % {"codes": ", ".join(codes)}, version=version_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionEntry:
    """A version ready to walk. Rows name steps by id, the engine by key: both ways round."""

    version_id: int
    graph: Graph
    node_ids: Mapping[str, int]
    node_keys: Mapping[int, str]


class _Entries:
    """The most recently used entries, at most `capacity` of them; safe to use from several threads."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._lock = threading.Lock()
        self._entries: OrderedDict[tuple[int, int], VersionEntry] = OrderedDict()

    def get(self, key: tuple[int, int]) -> VersionEntry | None:
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None:
                self._entries.move_to_end(key)
            return entry

    def put(self, key: tuple[int, int], entry: VersionEntry) -> None:
        with self._lock:
            self._entries[key] = entry
            self._entries.move_to_end(key)
            while len(self._entries) > self._capacity:
                self._entries.popitem(last=False)

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()

    def __len__(self) -> int:
        return len(self._entries)


_entries: Final = _Entries(CAPACITY)


def compiled(version_id: int) -> VersionEntry:
    """The compiled version of the active workspace. No query when it is known, three when it is not.

    Raises NotFound for a version of another workspace, UnreadableVersion when it does not compile.
    """
    key = (current_workspace_id(), version_id)
    entry = _entries.get(key)
    if entry is not None:
        return entry
    version = WorkflowVersion.objects.select_related("workflow").filter(pk=version_id).first()
    if version is None:
        raise NotFound(_("This version does not exist."))
    entry = _compile(version)
    if version.status != VersionStatus.DRAFT:
        _entries.put(key, entry)
    return entry


def clear() -> None:
    """Forget everything: after the registered actions changed, and between tests that reuse ids."""
    _entries.clear()


def _compile(version: WorkflowVersion) -> VersionEntry:
    definition, ids = load_with_ids(version)
    result = compile_registered(definition, version.workflow.kind)
    if result.graph is None:
        codes = tuple(sorted({problem.code for problem in result.problems}))
        raise UnreadableVersion(version.pk, codes)
    return VersionEntry(
        version_id=version.pk,
        graph=result.graph,
        node_ids=MappingProxyType(ids),
        node_keys=MappingProxyType({pk: key for key, pk in ids.items()}),
    )
