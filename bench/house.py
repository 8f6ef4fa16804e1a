"""A throwaway database with one large campaign in it."""

from __future__ import annotations

import itertools
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any
from urllib.parse import urlsplit

import psycopg

NODES = [
    ("n_000000", "start", "manual", {}),
    (
        "n_000001",
        "action",
        "send_sms",
        {"body": "سلام {target.first_name|همراه}، به {workspace.name} خوش آمدید."},
    ),
    ("n_000002", "wait", "duration", {"mode": "duration", "amount": 3, "unit": "day"}),
    ("n_000003", "end", "complete", {"behavior": "complete"}),
]


def database_url() -> str:
    url = os.environ.get("BENCH_DATABASE_URL", "")
    host = urlsplit(url).hostname
    if host not in ("127.0.0.1", "localhost", "::1"):
        sys.exit("Set BENCH_DATABASE_URL to a PostgreSQL database on loopback; it is dropped and made anew.")
    return url


def set_up() -> None:
    """Create the database, the tables and Django."""
    url = database_url()
    name = urlsplit(url).path.lstrip("/")
    admin = url.rsplit("/", 1)[0] + "/postgres"
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE IF EXISTS "{name}"')
        connection.execute(f'CREATE DATABASE "{name}"')
    os.environ["TEST_DATABASE_URL"] = url
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings_test"
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)


def one_campaign(*, rows: int, due: int, targets: bool) -> Any:
    """A running campaign with `rows` executions, the first `due` of them due at the send step."""
    from django.db import connection

    from automation.models import AutomationSettings
    from campaigns.models import Campaign
    from core.crypto import seal
    from sms.models import ProviderAccount, SmsSettings
    from workspaces.models import Workspace

    workspace = Workspace.objects.create(name="بازار", slug="bench")
    AutomationSettings.unscoped.create(workspace=workspace)
    SmsSettings.unscoped.create(workspace=workspace)
    account = ProviderAccount(
        workspace=workspace, kind="bench", title="bench", lines=["50001"], is_primary=True
    )
    account.sealed_credentials = seal(json.dumps({"name": "bench"}), bound_to=account.seal_binding)
    account.rate_per_second = 0
    account.save()
    version, node_ids = _version(workspace)
    campaign = Campaign.unscoped.create(
        workspace=workspace, name="پاییز", workflow=version.workflow, workflow_version=version, status="active",
        daily_limit=10_000_000,
    )  # fmt: skip
    node = node_ids["n_000001"]
    with connection.cursor() as cursor:
        if targets:
            cursor.execute(_TARGETS, {"w": workspace.pk, "n": due})
        cursor.execute(
            _EXECUTIONS,
            {"w": workspace.pk, "c": campaign.pk, "f": version.workflow_id, "v": version.pk, "node": node,
             "n": rows, "due": due},
        )  # fmt: skip
        cursor.execute("VACUUM ANALYZE")
    return campaign


def _version(workspace: Any) -> Any:
    from automation.models import Workflow, WorkflowEdge, WorkflowNode, WorkflowVersion
    from core import clock

    workflow = Workflow.unscoped.create(workspace=workspace, name="معرفی", status="active")
    version = WorkflowVersion.unscoped.create(workspace=workspace, workflow=workflow, version_number=1)
    nodes = [
        WorkflowNode.unscoped.create(
            workspace=workspace, version=version, node_key=key, type=kind, subtype=subtype, config=config,
            consumes_budget=subtype == "send_sms",
        )
        for key, kind, subtype, config in NODES
    ]  # fmt: skip
    for before, after in itertools.pairwise(nodes):
        WorkflowEdge.unscoped.create(workspace=workspace, version=version, from_node=before, to_node=after)
    WorkflowVersion.unscoped.filter(pk=version.pk).update(status="published", published_at=clock.now())
    Workflow.unscoped.filter(pk=workflow.pk).update(published_version=version)
    return version, {node.node_key: node.pk for node in nodes}


_TARGETS = """
INSERT INTO targets_target (id, created_at, updated_at, workspace_id, external_id, name, first_name, last_name, mobile,
  landline, email, province, city, status, priority, traits, search_text)
SELECT i, now(), now(), %(w)s, '', '', 'نفر' || i, '', '09' || lpad(i::text, 9, '0'), '', '', '', '', 'new',
  'normal', '{}', ''
FROM generate_series(1, %(n)s) i"""

_EXECUTIONS = """
INSERT INTO automation_workflowexecution (created_at, updated_at, workspace_id, campaign_id, workflow_id,
  workflow_version_id, subject_type, subject_id, current_node_id, status, active_key, cycle, consumes_budget, entered,
  eligible_at, next_run_at, retry_count, steps_since_wait, last_action, revision, failures, started_at,
  paused_from_status, end_reason, last_error, metadata)
SELECT now(), now(), %(w)s, %(c)s, %(f)s, %(v)s, 'target', i, %(node)s,
  CASE WHEN i <= %(due)s THEN 'active' ELSE 'waiting' END, 1, 1, true, false,
  now() - interval '1 hour', CASE WHEN i <= %(due)s THEN now() - interval '1 hour' + i * interval '1 millisecond'
                                  ELSE now() + interval '30 days' + i * interval '1 second' END,
  0, 0, '', 0, 0, now(), '', '', '', '{}'
FROM generate_series(1, %(n)s) i"""


class Stub:
    """A provider that takes everything at once, in this process."""

    key = "bench"

    def __init__(self) -> None:
        self.count = 0

    def send(self, sms: Any, *, deadline_s: float) -> Any:
        from sms.types import Outcome, SendResult

        self.count += 1
        return SendResult(
            outcome=Outcome.ACCEPTED, provider_message_id=str(5_000_000_000_000_000_000 + self.count)
        )


def stub_provider() -> None:
    from django.utils.translation import gettext_lazy

    from sms.providers.registry import register_gateway

    stub: Any = Stub()
    register_gateway("bench", gettext_lazy("Bench"), lambda _config: stub, {})


@contextmanager
def timed(into: list[float]) -> Iterator[None]:
    began = time.perf_counter()
    yield
    into.append(time.perf_counter() - began)


def interleaved(cases: dict[str, Callable[[], None]], *, rounds: int) -> dict[str, float]:
    """Run the cases in turn `rounds` times; the median seconds of each."""
    times: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(rounds):
        for name, case in cases.items():
            with timed(times[name]):
                case()
    return {name: median(values) for name, values in times.items()}
