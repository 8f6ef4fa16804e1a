"""A workflow with a draft, browsers to change it with, and small verbs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import translation

from automation import publishing
from automation.builder import outline
from automation.builder.claiming import Base
from automation.builder.outline import Outline
from automation.models import Workflow, WorkflowVersion
from tests.people import Answer
from workspaces.models import User


def url(name: str, *args: object) -> str:
    return reverse(f"automation:{name}", args=args)


@pytest.fixture
def workflow(workspace, owner) -> Workflow:
    return in_english(owner, "three_step_introduction")


def in_english(owner: User, template: str | None) -> Workflow:
    """A workflow whose steps have English names."""
    with translation.override("en"):
        return publishing.create_workflow(name="آشنایی", template_key=template, user=owner)


@pytest.fixture
def journey(workspace, owner) -> Workflow:
    """An empty journey: a start and an end."""
    workflow = in_english(owner, None)
    Workflow.objects.filter(pk=workflow.pk).update(kind="journey")
    workflow.refresh_from_db()
    return workflow


@pytest.fixture
def draft(workflow) -> WorkflowVersion:
    return WorkflowVersion.objects.get(workflow=workflow, status="draft")


@pytest.fixture
def english(owner, client_of) -> Client:
    return client_of(owner, language="en")


def lists_of(workflow: Workflow) -> Outline:
    draft = WorkflowVersion.objects.get(workflow=workflow, status="draft")
    return outline.read(publishing.load_definition(draft))


def chain(workflow: Workflow) -> list[str]:
    """The subtypes of the steps of the root, in their order."""
    lists = lists_of(workflow)
    return [node.subtype for node in lists.lists[lists.root]]


def keys(workflow: Workflow) -> list[str]:
    lists = lists_of(workflow)
    return [node.key for node in lists.lists[lists.root]]


def base_of(workflow: Workflow) -> str:
    return str(Base.of(WorkflowVersion.objects.get(workflow=workflow, status="draft")))


Change = Callable[..., Answer]


@pytest.fixture
def change(english: Client) -> Change:
    """`change(workflow, "up:n_1")`: what the page posts, as a fragment request on the draft as it is."""

    def post(workflow: Workflow, do: str, *, at: str = "", **more: Any) -> Answer:
        typed = {"base": base_of(workflow), "do": do, "at": at} | more
        return english.post(url("change", workflow.pk), typed, headers={"HX-Request": "true"})

    return post
