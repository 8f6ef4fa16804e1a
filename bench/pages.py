"""Server time of every list and dashboard with 100,000 people, 1,000,000 events and 300,000 messages."""

from __future__ import annotations

import argparse
import itertools
import time
from statistics import median
from typing import Any

from bench import house

GOAL_MS = 150
ROUNDS = 7

_EVENTS = """
INSERT INTO automation_workflowexecutionevent (created_at, updated_at, workspace_id, execution_id, campaign_id, subject_type,
  subject_id, node_id, type, message, data, occurred_at)
SELECT now(), now(), e.workspace_id, e.id, e.campaign_id, 'target', e.subject_id, e.current_node_id,
  (ARRAY['enrolled','node_entered','sms_attempt','wait_started','deferred_window'])[1 + k %% 5], '',
  '{"status": "submitted"}', now() - (random() * 30) * interval '1 day'
FROM automation_workflowexecution e, generate_series(1, %(each)s) k"""

_MESSAGES = """
INSERT INTO sms_smslog ({columns})
SELECT {values}
FROM automation_workflowexecution e, generate_series(1, %(each)s) k"""

_MESSAGE = {
    "created_at": "now() - (random() * 30) * interval '1 day'",
    "updated_at": "now()",
    "workspace_id": "e.workspace_id",
    "producer": "'automation'",
    "execution_id": "e.id",
    "workflow_id": "e.workflow_id",
    "campaign_id": "e.campaign_id",
    "node_id": "e.current_node_id",
    "subject_type": "'target'",
    "subject_id": "e.subject_id",
    "cycle": "1",
    "attempt_number": "k",
    "idempotency_key": "e.id || ':' || k",
    "partition_key": "e.id || ':1'",
    "row_key": "k::text",
    "content_hash": "''",
    "status": "(ARRAY['delivered','delivered','undelivered','failed','unknown','submitted'])[1 + (e.id + k) %% 6]",
    "phone_number": "'09' || lpad(e.subject_id::text, 9, '0')",
    "sender_number": "'50001'",
    "message_template": "'سلام'",
    "final_message": "'سلام'",
    "segments": "1",
    "provider": "'bench'",
    "provider_message_id": "(5000000000 + e.id * 10 + k)::text",
    "provider_response": "'{}'",
    "error_code": "''",
    "error_message": "''",
    "polls": "0",
    "request_at": "now() - (random() * 30) * interval '1 day'",
    "response_at": "now()",
}

_BLOCKED = """
INSERT INTO blacklist_blacklistentry (created_at, updated_at, workspace_id, channel, value, reason, description,
  source, is_active)
SELECT now(), now(), %(w)s, 'sms', '09' || lpad((i * 7)::text, 9, '0'), 'manual', '', 'manual', true
FROM generate_series(1, %(n)s) i"""

_AUDIT = """
INSERT INTO workspaces_auditrecord (created_at, updated_at, workspace_id, event, entity_type, entity_id, old, new)
SELECT now(), now(), %(w)s, 'campaign.changed', 'campaigns.campaign', '1', '{}', '{"name": "x"}'
FROM generate_series(1, %(n)s) i"""


def fill(people: int, events_each: int, messages_each: int) -> Any:
    """One campaign in which everybody has a history. Returns it."""
    from django.db import connection

    campaign = house.one_campaign(rows=people, due=people, targets=True)
    with connection.cursor() as cursor:
        cursor.execute(_EVENTS, {"each": events_each})
        _write_messages(cursor, messages_each)
        cursor.execute(_BLOCKED, {"w": campaign.workspace_id, "n": people // 10})
        cursor.execute(_AUDIT, {"w": campaign.workspace_id, "n": people // 10})
        cursor.execute("VACUUM ANALYZE")
    return campaign


def _write_messages(cursor: Any, each: int) -> None:
    """`each` messages a person; columns that the list above does not name get the model's default."""
    from sms.models import SmsLog

    others = [
        field
        for field in SmsLog._meta.concrete_fields
        if not field.null and not field.primary_key and field.column not in _MESSAGE
    ]
    defaults = {field.column: field.get_db_prep_save(field.get_default(), _connection()) for field in others}
    columns = ", ".join([*_MESSAGE, *defaults])
    values = ", ".join([*_MESSAGE.values(), *(f"%({name})s" for name in defaults)])
    cursor.execute(_MESSAGES.format(columns=columns, values=values), {"each": each, **defaults})


def _connection() -> Any:
    from django.db import connection

    return connection


def addresses(campaign: Any) -> list[str]:
    """The pages that read many rows."""
    return [*_of_people(campaign), *_of_campaigns(campaign), *_of_messages(campaign)]


def _of_people(campaign: Any) -> list[str]:
    person = 7
    return [
        "/",
        "/targets/",
        "/targets/?q=نفر",
        "/targets/?q=09000001234",
        "/targets/?page=1500",
        f"/targets/{person}/",
        f"/targets/{person}/?tab=automation",
        f"/targets/{person}/?tab=automation&why={campaign.pk}",
        f"/targets/{person}/?tab=activities",
        "/targets/activities/?whose=all",
        "/search?q=نفر",
        "/search/suggestions?q=1234",
        "/targets/lists/",
        "/targets/activities/",
    ]


def _of_campaigns(campaign: Any) -> list[str]:
    one = f"/automation/campaigns/{campaign.pk}"
    return [
        "/automation/workflows/",
        "/automation/campaigns/",
        one,
        f"{one}/targets",
        f"{one}/targets?status=active",
        f"{one}/targets?status=waiting",
        f"{one}/targets?page=1000",
        f"{one}/targets?code=-",
        f"{one}/logs",
        f"{one}/logs?type=wait_started",
        f"{one}/live",
        f"{one}/enrol",
        f"{one}/newcomers",
        "/automation/campaigns/stop",
        "/automation/health",
        "/automation/support",
    ]


def _of_messages(campaign: Any) -> list[str]:
    return [
        "/automation/sms-logs/",
        "/automation/sms-logs/?status=unknown",
        "/automation/sms-logs/?status=failed",
        "/automation/sms-logs/?number=09000001234",
        f"/automation/sms-logs/?campaign={campaign.pk}",
        "/automation/sms-unknown/",
        "/automation/inbound/",
        "/automation/usage/",
        "/automation/blacklist/",
        "/settings/audit",
        "/settings/sms/",
        "/settings/members",
        "/settings/tokens",
    ]


def signed_in(workspace_id: int) -> Any:
    """A browser of the workspace's owner."""
    from django.test import Client

    from core.tenancy import workspace_scope
    from workspaces.models import Membership, Role, User

    user = User.objects.create_user("owner@example.com", "a-long-password-of-a-bench")
    with workspace_scope(workspace_id):
        Membership.objects.create(workspace_id=workspace_id, user=user, role=Role.OWNER)
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def counting(campaign: Any) -> float:
    """Milliseconds that the background needs for the figures of the campaign's page."""
    from campaigns import figures
    from core import clock
    from core.tenancy import workspace_scope
    from targets.queries import Visibility

    with workspace_scope(campaign.workspace_id):
        began = time.perf_counter()
        figures.count(campaign, Visibility.everyone(), "Asia/Tehran", clock.now())
        return (time.perf_counter() - began) * 1000


def downloading(client: Any, address: str) -> float:
    """Milliseconds until the last byte of a download has come."""
    began = time.perf_counter()
    for _piece in client.get(address):
        pass
    return (time.perf_counter() - began) * 1000


def long_draft(workspace_id: int) -> tuple[str, str]:
    """A draft of two hundred messages; the address of its changes, and the key of the one in the middle."""
    from dataclasses import replace

    from automation import publishing
    from automation.builder import drafts
    from automation.models import WorkflowVersion
    from core.tenancy import workspace_scope

    with workspace_scope(workspace_id):
        workflow = publishing.create_workflow(name="long", template_key="single_message", user=None)
        version = WorkflowVersion.objects.get(workflow=workflow)
        short = publishing.load_definition(version)
        one = next(node for node in short.nodes if node.type == "action")
        first, last = (next(node for node in short.nodes if node.type == kind) for kind in ("start", "end"))
        chain = [first, *(replace(one, key=f"n_{place}") for place in range(200)), last]
        edges = [
            replace(short.edges[0], source=before.key, target=after.key)
            for before, after in itertools.pairwise(chain)
        ]
        long = replace(short, nodes=tuple(chain), edges=tuple(edges))
        drafts.save_definition(workflow, version, base=None, definition=long, user=None)
    return f"/automation/workflows/{workflow.pk}/builder", "n_100"


def moving(client: Any, workspace_id: int) -> float:
    """Median milliseconds of moving one step of that draft, with the answer that shows the new list."""
    from automation.builder.claiming import Base
    from automation.models import WorkflowVersion

    address, key = long_draft(workspace_id)
    times = []
    for _ in range(ROUNDS):
        version = WorkflowVersion.unscoped.get(workflow_id=int(address.split("/")[3]))
        form = {"base": str(Base.of(version)), "do": f"up:{key}", "at": ""}
        began = time.perf_counter()
        response = client.post(f"{address}/change", form, headers={"HX-Request": "true"})
        times.append(time.perf_counter() - began)
        if response.status_code != 200:
            raise SystemExit(f"the step was not moved: {response.status_code}")
    return median(times) * 1000


def measure(client: Any, address: str) -> tuple[float, int]:
    """Median milliseconds and number of queries of one page, warm."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    client.get(address)
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        response = client.get(address)
        times.append(time.perf_counter() - began)
    with CaptureQueriesContext(connection) as queries:
        client.get(address)
    if response.status_code != 200:
        raise SystemExit(f"{address} answered {response.status_code}: nothing was measured")
    return median(times) * 1000, len(queries)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=100_000)
    parser.add_argument("--events", type=int, default=10, help="lines of history a person")
    parser.add_argument("--messages", type=int, default=3, help="messages a person")
    options = parser.parse_args()
    house.set_up()
    campaign = fill(options.people, options.events, options.messages)
    client = signed_in(campaign.workspace_id)
    slow = 0
    for address in addresses(campaign):
        milliseconds, queries = measure(client, address)
        slow += milliseconds > GOAL_MS
        print(f"{milliseconds:8.0f} ms  {queries:3d} queries  {address}")
    print(f"{slow} pages above {GOAL_MS} ms")
    print(f"{moving(client, campaign.workspace_id):8.0f} ms  one step of two hundred moved in the builder")
    print(f"{counting(campaign):8.0f} ms  in the background: the figures of {campaign.pk}")
    for address in ("/targets/export.csv", f"/automation/campaigns/{campaign.pk}/targets.xlsx"):
        print(f"{downloading(client, address):8.0f} ms  {address}")


if __name__ == "__main__":
    main()
