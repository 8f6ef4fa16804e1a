"""Nothing of one workspace is seen from another, and nothing is seen from none.

A model with a workspace needs a builder in tests/factories.py; the list of modules that may look at
every workspace stands below.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings
from django.db.models import Model
from django.forms import BaseForm
from pydantic import BaseModel

from core.tenancy import ScopedManager, WorkspaceModel, WorkspaceRequired, workspace_scope
from tests.factories import BUILDERS, make
from tests.people import make_workspace
from workspaces.models import Workspace

ROOT = Path(settings.BASE_DIR)
APPS = ("core", "workspaces", "blacklist", "targets", "sms", "automation", "campaigns")
FOLDERS = (*APPS, "config", "engine", "demo")

# Modules that may see more than one workspace, each with its reason.
MAY_SEE_ALL = {
    "workspaces/queries.py": "memberships decide which workspace is opened",
    "workspaces/tokens.py": "the secret in the header decides which workspace is meant",
    "workspaces/actions.py": "adds the first member from the command line, counts owners",
    "automation/runtime/reaper.py": "takes stale claims back, whoever's they are",
    "automation/runtime/zone_changes.py": "waits of all workspaces, each moved in its own scope",
    "automation/conservation.py": "checks every campaign's arithmetic, each in its own scope",
    "campaigns/lifecycle.py": "starts and ends due campaigns at every tick",
    "workspaces/kept_answers.py": "each tick forgets answers nobody asks for again",
    "campaigns/newcomer_checks.py": "each tick asks for the campaigns that look for new people now",
    "campaigns/jobs.py": "each tick goes on with jobs whose worker died, each in its own scope",
    "campaigns/policy.py": "answers the scheduler, which asks for all running campaigns at once",
    "sms/webhooks.py": "the secret in the address decides which workspace is meant",
    "sms/reports.py": "a poll's answers belong to messages of several workspaces",
    "sms/watermark.py": "how many messages the whole database knows",
    "sms/credit.py": "the accounts of all workspaces are asked for their credit",
    "sms/finality.py": "the lines of every workspace in a batch of questions",
    "sms/reconcile.py": "unknown outcomes of all workspaces, settled workspace by workspace",
    "sms/retries.py": "each tick asks for the retries that the queue left, each workspace in its own scope",
    "sms/delivery.py": "asks providers about due messages of all workspaces in one round",
    "sms/sealed.py": "keys are rotated for the whole installation",
    "sms/inbound/sweep.py": "each tick works on what the queue left, each message in its own scope",
    "targets/event_delivery.py": "each tick tells of events that the queue left, each in its own scope",
    "targets/importing/jobs.py": "the scheduler resumes imports whose worker died, each in its own scope",
    "config/metrics.py": "counts rows of the installation, shows none",
    "demo/clockwork.py": "moves the demonstration's clock to the next due row",
}


MAY_READ_THE_SYSTEM_CLOCK = {
    "core/clock.py": "defines ours",
    "sms/simulator/panel.py": "stamps real time beside the story's, to measure the sender",
}


def all_models() -> list[type[Model]]:
    return [model for app in APPS for model in apps.get_app_config(app).get_models()]


def workspace_models() -> list[type[WorkspaceModel]]:
    return [model for model in all_models() if issubclass(model, WorkspaceModel)]


def name(model: type[Model]) -> str:
    return model._meta.label


def line(node: ast.AST) -> int:
    return int(getattr(node, "lineno", 0))


def sources() -> Iterator[tuple[str, ast.Module]]:
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if "migrations" not in path.parts:
                yield str(path.relative_to(ROOT)), ast.parse(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("model", all_models(), ids=name)
def test_a_row_that_names_a_workspace_is_guarded(model: type[Model]) -> None:
    names_a_workspace = any(field.related_model is Workspace for field in model._meta.get_fields())

    assert not names_a_workspace or issubclass(model, WorkspaceModel)


@pytest.mark.parametrize("model", workspace_models(), ids=name)
def test_the_manager_everybody_uses_is_the_scoped_one(model: type[WorkspaceModel]) -> None:
    assert isinstance(model.objects, ScopedManager)
    assert isinstance(model._default_manager, ScopedManager)


@pytest.mark.parametrize("model", workspace_models(), ids=name)
def test_every_model_has_a_builder(model: type[WorkspaceModel]) -> None:
    assert model in BUILDERS, f"write a builder for {model._meta.label} in tests/factories.py"


@pytest.mark.django_db
@pytest.mark.parametrize("model", workspace_models(), ids=name)
def test_a_row_is_seen_from_its_own_workspace_only(model: type[WorkspaceModel]) -> None:
    ours, theirs = make_workspace("ours"), make_workspace("theirs")
    with workspace_scope(theirs.pk):
        row = make(model, theirs)
        assert model.objects.filter(pk=row.pk).exists()
    with workspace_scope(ours.pk):
        assert not model.objects.filter(pk=row.pk).exists()
        assert model.objects.count() == 0


@pytest.mark.django_db
@pytest.mark.parametrize("model", workspace_models(), ids=name)
def test_outside_a_workspace_a_query_raises(model: type[WorkspaceModel]) -> None:
    with pytest.raises(WorkspaceRequired):
        model.objects.count()


@pytest.mark.parametrize("model", workspace_models(), ids=name)
def test_every_row_knows_when_it_was_made_and_changed(model: type[WorkspaceModel]) -> None:
    assert {"created_at", "updated_at"} <= {field.name for field in model._meta.fields}


@pytest.mark.parametrize("model", workspace_models(), ids=name)
def test_the_workspace_is_indexed_and_never_empty(model: type[WorkspaceModel]) -> None:
    field = model._meta.get_field("workspace")

    assert (getattr(field, "db_index", False), field.null) == (True, False)


def read_from_callers() -> Iterator[tuple[type, set[str]]]:
    """Every form and every body of a JSON route, with the names it reads."""
    import_module(settings.ROOT_URLCONF)  # whatever an address answers with is known now
    waiting: list[type] = [BaseForm, BaseModel]
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        if kind.__module__.partition(".")[0] in APPS:
            names = getattr(kind, "base_fields", None) or getattr(kind, "model_fields", {})
            yield kind, set(names)


def test_no_caller_says_whose_workspace_a_row_belongs_to() -> None:
    kinds = dict(read_from_callers())
    naming = {kind.__name__ for kind, names in kinds.items() if names & {"workspace", "workspace_id", "pk"}}

    assert len(kinds) > 40
    assert naming == set()


def test_only_listed_modules_see_every_workspace() -> None:
    found = {
        path: sorted({line(node) for node in ast.walk(tree) if _names(node, "unscoped", "_base_manager")})
        for path, tree in sources()
    }
    strangers = {path: lines for path, lines in found.items() if lines and path not in MAY_SEE_ALL}

    assert not strangers, (
        f"read through `objects` inside a scope, or give a reason in MAY_SEE_ALL: {strangers}"
    )


def test_the_list_of_modules_has_no_leftovers() -> None:
    using = {
        path
        for path, tree in sources()
        if any(_names(node, "unscoped", "_base_manager") for node in ast.walk(tree))
    }

    assert set(MAY_SEE_ALL) <= using


def test_time_comes_from_the_one_clock() -> None:
    direct = {
        f"{path}:{line(node)}"
        for path, tree in sources()
        if path not in MAY_READ_THE_SYSTEM_CLOCK
        for node in ast.walk(tree)
        if _asks_the_system_clock(node)
    }

    assert not direct, f"use core.clock.now(): {sorted(direct)}"


def _names(node: ast.AST, *attributes: str) -> bool:
    return (isinstance(node, ast.Attribute) and node.attr in attributes) or (
        isinstance(node, ast.Constant) and node.value in attributes
    )


SYSTEM_CLOCKS = {
    ("datetime", "now"),
    ("datetime", "utcnow"),
    ("datetime", "today"),
    ("date", "today"),
    ("timezone", "now"),
    ("time", "time"),
    ("time", "time_ns"),
}


def _asks_the_system_clock(node: ast.AST) -> bool:
    """`datetime.now`, `timezone.now`, `time.time` and their like, called or handed on.

    Monotonic clocks are not among them: they measure, they do not tell the time.
    """
    if isinstance(node, ast.ImportFrom):
        return any((node.module, alias.name) in SYSTEM_CLOCKS for alias in node.names)
    if not isinstance(node, ast.Attribute):
        return False
    owner = node.value
    base = owner.attr if isinstance(owner, ast.Attribute) else owner.id if isinstance(owner, ast.Name) else ""
    return (base, node.attr) in SYSTEM_CLOCKS


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("datetime.now(UTC)", True),
        ("datetime.datetime.utcnow()", True),
        ("timezone.now()", True),
        ("time.time()", True),
        ("default = time.time", True),
        ("from time import time", True),
        ("clock.now()", False),
        ("time.monotonic()", False),
    ],
)
def test_the_search_for_system_clocks_finds_them(source: str, found: bool) -> None:
    assert any(_asks_the_system_clock(node) for node in ast.walk(ast.parse(source))) is found
