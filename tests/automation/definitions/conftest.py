"""A workflow with a draft, and browsers to change it with."""

from __future__ import annotations

import pytest

from automation import publishing
from automation.models import Workflow, WorkflowVersion


@pytest.fixture
def workflow(workspace, owner) -> Workflow:
    return publishing.create_workflow(
        name="آشنایی", template_key="three_step_introduction", user=owner, description="سه پیام"
    )


@pytest.fixture
def draft(workflow) -> WorkflowVersion:
    return WorkflowVersion.objects.get(workflow=workflow, status="draft")


@pytest.fixture
def english(owner, client_of):
    return client_of(owner, language="en")
