"""A workflow goes out as a file and comes back; what this workspace lacks is named."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from automation import publishing
from automation.models import WorkflowVersion
from sms.models import ProviderAccount
from tests.automation.builder.conftest import base_of, chain, in_english, url
from workspaces.models import AuditRecord


def definition(workflow):
    return publishing.load_definition(WorkflowVersion.objects.get(workflow=workflow, status="draft"))


def contents(workflow) -> list[str]:
    return sorted(f"{node.name} {node.subtype} {node.config}" for node in definition(workflow).nodes)


@pytest.fixture
def other(workspace, owner):
    return in_english(owner, None)


@pytest.fixture
def upload(english):
    def post(workflow, content: Any, **typed: str):
        raw = content if isinstance(content, bytes) else json.dumps(content).encode()
        fields = {"base": base_of(workflow), "file": SimpleUploadedFile("flow.json", raw)} | typed
        return english.post(url("read-in", workflow.pk), fields)

    return post


def exported(english, workflow) -> dict[str, Any]:
    answer = english.get(url("export", workflow.pk))
    assert answer.headers["Content-Disposition"] == f'attachment; filename="workflow-{workflow.pk}.json"'
    content: dict[str, Any] = json.loads(answer.content)
    return content


def test_a_workflow_goes_out_and_comes_back(workflow, other, english, upload, owner):
    content = exported(english, workflow)
    answer = upload(other, content)

    assert answer.status_code == 302
    assert chain(other) == chain(workflow)
    assert contents(other) == contents(workflow)
    assert not {n.key for n in definition(other).nodes} & {n.key for n in definition(workflow).nodes}
    assert definition(other).settings == definition(workflow).settings
    assert publishing.publish(other, user=owner).status == "published"


def test_reading_in_can_be_taken_back_and_is_in_the_audit_log(workflow, other, english, upload, change):
    before = definition(other)
    upload(other, exported(english, workflow))
    row = AuditRecord.objects.get(event="workflow.draft_imported")
    change(other, "undo")

    assert (row.new["file"], "Introduction" in row.new) == ("flow.json", True)
    assert {node.key: node for node in definition(other).nodes} == {node.key: node for node in before.nodes}
    assert definition(other).settings == before.settings


def test_accounts_and_lines_of_another_workspace_are_named_and_left_out(workflow, other, english, upload):
    content = exported(english, workflow)
    send = next(node for node in content["definition"]["nodes"] if node["subtype"] == "send_sms")
    send["config"] |= {"provider": "00000000-0000-0000-0000-000000000001", "sender": "5000999"}
    page = upload(other, content).content.decode()

    assert f"{send['name']}: its SMS provider is not in this workspace." in page
    assert f"{send['name']}: its sender line is not in this workspace." in page
    stored = next(node for node in definition(other).nodes if node.name == send["name"])
    assert (stored.config["provider"], stored.config["sender"]) == (None, None)


def test_a_line_that_this_workspace_has_is_kept(workspace, workflow, other, english, upload):
    ProviderAccount.objects.create(
        workspace_id=workspace.pk, kind="melipayamak", title="m", lines=["5000111"], is_primary=True
    )
    content = exported(english, workflow)
    next(n for n in content["definition"]["nodes"] if n["subtype"] == "send_sms")["config"]["sender"] = (
        "5000111"
    )
    upload(other, content)

    assert "5000111" in {node.config.get("sender") for node in definition(other).nodes}


def test_unknown_actions_variables_and_fields_stay_and_are_named(workflow, other, english, upload):
    content = exported(english, workflow)
    nodes = content["definition"]["nodes"]
    sends = [node for node in nodes if node["subtype"] == "send_sms"]
    sends[0]["subtype"], sends[0]["config"] = "send_telegram", {"chat": 1}
    sends[1]["config"]["body"] = "سلام {shoe_size}"
    page = upload(other, content).content.decode()

    assert "There is no step called “send_telegram”." in page
    assert "There is no variable {target.shoe_size}." in page
    assert "send_telegram" in {node.subtype for node in definition(other).nodes}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b"{",
        b'"x"',
        b"[" * 5000,
        b'{"nodes": NaN}',
        {"format": "other", "definition": {}},
        {"format": "peyk-workflow", "version": 2, "definition": {}},
        {"nodes": [{"key": "a"}]},
        {"nodes": [{"key": "a", "type": "teleport", "subtype": "x"}]},
        {"nodes": [{"key": "a", "type": "start", "subtype": "x"}] * 2},
        {"nodes": [], "edges": [{"source": "a", "port": "default", "target": "b"}]},
        {"nodes": [{"key": f"n{i}", "type": "wait", "subtype": "x"} for i in range(201)]},
        {"nodes": [{"key": "a\u0000", "type": "start", "subtype": "x"}]},
    ],
)
def test_what_is_no_workflow_file_changes_nothing(other, upload, content):
    before = definition(other)
    answer = upload(other, content)

    assert answer.status_code == 422
    assert definition(other) == before


def test_a_file_that_is_too_large_is_refused(other, upload, monkeypatch):
    monkeypatch.setattr("automation.builder.exchange.MAX_BYTES", 10)

    assert upload(other, {"nodes": [], "edges": [], "settings": {}}).status_code == 422


def test_a_file_for_a_draft_that_changed_is_not_read_in(workflow, other, english, upload, change):
    old = base_of(other)
    change(other, "insert:wait", at=f"{definition(other).nodes[0].key}.default.0")
    before = definition(other)
    answer = upload(other, exported(english, workflow), base=old)

    assert answer.status_code == 409
    assert definition(other) == before


def test_a_graph_that_a_list_cannot_draw_is_read_in_and_shown_with_the_reason(other, english, upload):
    nodes = [
        {"key": "s", "type": "start", "subtype": "manual"},
        {"key": "c", "type": "condition", "subtype": "field_rules", "config": {"root": {}}},
        {"key": "e", "type": "end", "subtype": "complete"},
    ]
    edges = [
        {"source": "s", "port": "default", "target": "c"},
        {"source": "c", "port": "yes", "target": "e"},
        {"source": "c", "port": "no", "target": "e"},
    ]
    upload(other, {"nodes": nodes, "edges": edges})
    page = english.get(url("builder", other.pk)).content.decode()

    assert "This workflow can only be looked at here." in page
    assert "The step list cannot show paths that meet again." in page
    assert "step-handle" not in page


def test_what_cannot_be_drawn_can_still_be_taken_back(other, english, upload):
    before = chain(other)
    nodes = [
        {"key": "s", "type": "start", "subtype": "manual"},
        {"key": "e", "type": "end", "subtype": "stop"},
    ]
    upload(other, {"nodes": nodes, "edges": []})
    english.post(url("change", other.pk), {"do": "undo", "base": base_of(other)})

    assert chain(other) == before
