"""A throwaway database with one large campaign in it."""

from __future__ import annotations

import itertools
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
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


def new_database(url: str) -> None:
    """Drop the database that `url` names, if it exists, and create it empty."""
    name = urlsplit(url).path.lstrip("/")
    with psycopg.connect(url.rsplit("/", 1)[0] + "/postgres", autocommit=True) as connection:
        connection.execute(f'DROP DATABASE IF EXISTS "{name}"')
        connection.execute(f'CREATE DATABASE "{name}"')


def set_up(environment: Mapping[str, str] | None = None) -> None:
    """Create the database, the tables and Django; with `environment` as an installation of its own."""
    if environment is None:
        new_database(database_url())
        environment = {
            "TEST_DATABASE_URL": database_url(), "DJANGO_SETTINGS_MODULE": "config.settings_test",
        }  # fmt: skip
    os.environ.update(environment)
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)


def one_campaign(*, rows: int, due: int, targets: bool, slug: str = "bench", provider_url: str = "") -> Any:
    """A running campaign in a workspace of its own with `rows` executions, `due` of them due at the send step.

    Those that are due lie all over the table and in no order, as in a campaign that has run for a while; each
    carries some 200 bytes of run-time variables. With `targets` every execution has its person.
    """
    from django.db import connection

    from automation.models import WorkflowExecution
    from campaigns.models import Campaign
    from targets.models import Target

    workspace = _workspace(slug, provider_url)
    version, node_ids = _version(workspace)
    campaign = Campaign.unscoped.create(
        workspace=workspace, name="پاییز", workflow=version.workflow, workflow_version=version, status="active",
        daily_limit=10_000_000,
    )  # fmt: skip
    values = {
        "w": workspace.pk, "c": campaign.pk, "f": version.workflow_id, "v": version.pk,
        "node": node_ids["n_000001"], "n": rows, "due": due, "from": Target.unscoped.count(),
    }  # fmt: skip
    if connection.vendor == "sqlite":
        _fill_by_rows(campaign, values)
        return campaign
    if targets:
        fill(Target, PEOPLE, "generate_series(1, %(n)s) i", values)
    fill(WorkflowExecution, WALKS, SCATTERED, values)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    return campaign


def _workspace(slug: str, provider_url: str) -> Any:
    """A workspace that sends through the stub, or through the panel at `provider_url`."""
    from automation.models import AutomationSettings
    from core.crypto import seal
    from sms.models import ProviderAccount, SmsSettings
    from workspaces.models import Workspace

    workspace = Workspace.objects.create(name="بازار", slug=slug)
    AutomationSettings.unscoped.create(workspace=workspace)
    SmsSettings.unscoped.create(workspace=workspace)
    account = ProviderAccount(
        workspace=workspace, kind="melipayamak" if provider_url else "bench", title="bench", lines=["50001"],
        is_primary=True, base_url=provider_url, rate_per_second=0,
    )  # fmt: skip
    secrets = {"username": "bench", "password": "bench"} if provider_url else {"name": "bench"}
    account.sealed_credentials = seal(json.dumps(secrets), bound_to=account.seal_binding)
    account.save()
    return workspace


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


PEOPLE = {
    "id": "%(from)s + i",
    "created_at": "now()",
    "updated_at": "now()",
    "workspace_id": "%(w)s",
    "name": "'نفر' || i",
    "first_name": "'نفر' || i",
    "mobile": "'09' || lpad((%(from)s + i)::text, 9, '0')",
    "traits": "'{}'",
}
WALKS = {
    "created_at": "now()",
    "updated_at": "now()",
    "workspace_id": "%(w)s",
    "campaign_id": "%(c)s",
    "workflow_id": "%(f)s",
    "workflow_version_id": "%(v)s",
    "current_node_id": "%(node)s",
    "subject_id": "%(from)s + i",
    "status": "CASE WHEN due THEN 'active' ELSE 'waiting' END",
    "active_key": "1",
    "consumes_budget": "true",
    "started_at": "now()",
    "eligible_at": "now() - interval '1 hour'",
    "next_run_at": "CASE WHEN due THEN now() - (i * 104729::bigint %% 3600000) * interval '1 millisecond' "
    "ELSE now() + interval '30 days' + i * interval '1 second' END",
    "metadata": "jsonb_build_object('code', '0912' || lpad((i %% 10000000)::text, 7, '0'), "
    "'label', 'کاربر ' || i, 'plan', 'gold', 'amount', i %% 100000, "
    "'last', jsonb_build_object('node', 'node_' || (i %% 6), 'n', i %% 7))",
}
SCATTERED = (
    "(SELECT i, (i * 7919::bigint) %% %(n)s < %(due)s AS due FROM generate_series(1, %(n)s) i) AS people"
)


def fill(model: Any, columns: Mapping[str, str], source: str, values: Mapping[str, Any]) -> None:
    """Insert what `source` gives, column by column in SQL; what is not named takes the model's default."""
    from django.db import connection

    others = [
        field
        for field in model._meta.concrete_fields
        if field.column not in columns and not field.primary_key and not field.null
    ]
    defaults = {field.column: field.get_db_prep_save(field.get_default(), connection) for field in others}
    names = ", ".join([*columns, *defaults])
    picks = ", ".join([*columns.values(), *(f"%({column})s" for column in defaults)])
    statement = f"INSERT INTO {model._meta.db_table} ({names}) SELECT {picks} FROM {source}"
    with connection.cursor() as cursor:
        cursor.execute(statement, {**defaults, **values})


def _fill_by_rows(campaign: Any, values: Mapping[str, Any]) -> None:
    """The same people on SQLite, none of them due yet."""
    from automation.models import WorkflowExecution
    from core import clock
    from targets.models import Target

    now = clock.now()
    people = Target.unscoped.bulk_create(
        Target(workspace_id=campaign.workspace_id, first_name=f"نفر{i}", mobile=f"09{i:09d}")
        for i in range(values["n"])
    )
    WorkflowExecution.unscoped.bulk_create(
        WorkflowExecution(
            workspace_id=campaign.workspace_id, campaign=campaign, workflow_id=values["f"],
            workflow_version_id=values["v"], current_node_id=values["node"], subject_id=person.pk,
            status="waiting", active_key=1, consumes_budget=True, started_at=now, eligible_at=now,
            next_run_at=now + timedelta(days=30),
        )
        for person in people
    )  # fmt: skip


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
