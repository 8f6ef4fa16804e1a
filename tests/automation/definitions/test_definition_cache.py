"""Compiled versions in memory."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from automation import definition_cache, publishing
from automation.definition_cache import _Entries
from automation.models import Workflow, WorkflowNode, WorkflowVersion
from core.errors import NotFound
from core.tenancy import workspace_scope


@pytest.fixture(autouse=True)
def _forget():
    definition_cache.clear()
    yield
    definition_cache.clear()


@pytest.fixture
def workflow(workspace, owner) -> Workflow:
    return publishing.create_workflow(name="w", template_key="three_step_introduction", user=owner)


def test_steps_are_named_both_ways(workflow, owner):
    version = publishing.publish(workflow, user=owner)
    entry = definition_cache.compiled(version.pk)

    ids = dict(WorkflowNode.objects.filter(version=version).values_list("node_key", "id"))
    assert entry.version_id == version.pk
    assert dict(entry.node_ids) == ids
    assert all(entry.node_keys[pk] == key for key, pk in ids.items())
    assert entry.graph.first in ids


def test_a_published_version_is_read_once(workflow, owner, django_assert_num_queries):
    version = publishing.publish(workflow, user=owner)
    with django_assert_num_queries(3):
        first = definition_cache.compiled(version.pk)
    with django_assert_num_queries(0):
        again = definition_cache.compiled(version.pk)

    assert first is again


def test_a_draft_is_compiled_each_time(workflow):
    draft = WorkflowVersion.objects.get(workflow=workflow)
    first = definition_cache.compiled(draft.pk)
    WorkflowNode.objects.filter(version=draft, type="wait").update(
        config={"mode": "duration", "amount": 7, "unit": "day"}
    )
    second = definition_cache.compiled(draft.pk)

    waits = [entry.graph.node(entry.graph.step_order()[1]) for entry in (first, second)]
    assert [wait.spec.config["amount"] for wait in waits] == [30, 7]


def test_a_version_of_another_workspace_is_not_found_even_when_cached(workflow, owner, other_workspace):
    version = publishing.publish(workflow, user=owner)
    definition_cache.compiled(version.pk)

    with workspace_scope(other_workspace.pk), pytest.raises(NotFound):
        definition_cache.compiled(version.pk)


def test_a_version_that_does_not_compile_says_why(workflow):
    version = workflow.versions.get()
    WorkflowNode.objects.filter(version=version, type="wait").update(config={"amount": -1, "unit": "day"})

    with pytest.raises(definition_cache.UnreadableVersion) as caught:
        definition_cache.compiled(version.pk)
    assert caught.value.codes == ("duration_amount_invalid",)


def test_only_the_most_recent_entries_are_kept():
    entries: Any = _Entries(capacity=2)
    for number in (1, 2):
        entries.put((1, number), object())
    entries.get((1, 1))
    entries.put((1, 3), object())

    assert entries.get((1, 2)) is None
    assert entries.get((1, 1)) is not None
    assert len(entries) == 2


def test_threads_may_share_it():
    entries: Any = _Entries(capacity=8)
    wrong = []

    def work(worker):
        for number in range(2000):
            key = (worker, number % 16)
            entries.put(key, key)
            got = entries.get(key)
            if got not in (None, key):
                wrong.append(got)

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(entries) <= 8
