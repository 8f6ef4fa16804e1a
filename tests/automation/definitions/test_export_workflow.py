"""`manage.py export_workflow`."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from automation import publishing
from engine.portable import definition_from_json


def test_a_version_is_written_as_a_definition(workflow, draft, workspace):
    out = StringIO()
    call_command("export_workflow", workspace.slug, workflow.pk, "--number", "1", stdout=out)

    assert len(definition_from_json(json.loads(out.getvalue())).nodes) == 7
    assert "گرامی" in out.getvalue()


def test_the_published_version_is_the_default(workflow, owner, workspace):
    publishing.publish(workflow, user=owner)
    out = StringIO()
    call_command("export_workflow", workspace.slug, workflow.pk, stdout=out)

    assert json.loads(out.getvalue())["settings"]["send_window"]["timezone"] == "Asia/Tehran"


@pytest.mark.parametrize("arguments", [("nobody", 1), ("kaveh", 999_999), ("kaveh", None), ("shirin", None)])
def test_what_is_not_there_is_said(workflow, other_workspace, arguments):
    slug, pk = arguments
    with pytest.raises(CommandError):
        call_command("export_workflow", slug, pk or workflow.pk)
