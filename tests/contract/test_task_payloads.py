"""Old and new code side by side: a message that one release put into the queue, another one takes out.

RECORDED is what stands in the queue of an installation that is being updated. A line is never changed: a new
release reads it as it is, and adds keys that the older one leaves alone. A payload that must become another
one gets a task of another name.
"""

from __future__ import annotations

from typing import Any

import pytest

from core.queue.port import UnknownTask, run, task_names
from workspaces.models import Workspace

NOBODY = 2_000_000_000
TOKEN = "5a1f6c1e-8b5e-4a53-9a3e-0c7f0e4f2d11"
RECORDED: dict[str, dict[str, Any]] = {
    "automation.process_executions": {"v": 1, "workspace": 0, "ids": [NOBODY], "token": TOKEN},
    "campaigns.commit_batch": {"workspace_id": 0, "batch_id": NOBODY, "held": 1, "user_id": None},
    "campaigns.count_figures": {"workspace": 0, "figures": NOBODY, "membership": NOBODY},
    "campaigns.look_for_newcomers": {"workspace_id": 0, "campaign_id": NOBODY},
    "campaigns.settle": {"workspace_id": 0, "campaign_id": NOBODY},
    "campaigns.work_on_job": {"workspace_id": 0, "job_id": NOBODY, "held": 1},
    "core.pulse": {},
    "sms.check_credit": {},
    "sms.poll_deliveries": {},
    "sms.process_inbound": {"workspace_id": 0, "ids": [NOBODY]},
    "sms.reconcile": {},
    "sms.send_replies": {"workspace_id": 0},
    "sms.send_retries": {"workspace_id": 0},
    "targets.deliver_events": {"workspace_id": 0, "ids": [NOBODY]},
    "targets.run_import": {"workspace_id": 0, "job_id": NOBODY},
}


def recorded(name: str, workspace: Workspace) -> dict[str, Any]:
    payload = RECORDED[name]
    return {key: workspace.pk if key in ("workspace", "workspace_id") else payload[key] for key in payload}


@pytest.mark.parametrize("name", RECORDED)
def test_a_message_of_the_release_before_is_still_read(name: str, workspace: Workspace) -> None:
    run(name, recorded(name, workspace))


@pytest.mark.parametrize("name", RECORDED)
def test_what_a_newer_release_adds_is_left_alone(name: str, workspace: Workspace) -> None:
    run(name, {**recorded(name, workspace), "added_later": {"by": "the next release"}})


def test_a_chunk_of_another_version_is_left_to_the_lease(workspace: Workspace) -> None:
    run("automation.process_executions", {**recorded("automation.process_executions", workspace), "v": 2})


def test_a_task_that_this_release_does_not_know_is_refused_by_name() -> None:
    with pytest.raises(UnknownTask):
        run("campaigns.of_the_next_release", {})


def test_every_task_is_on_record() -> None:
    assert {name for name in task_names() if not name.startswith("tests.")} == set(RECORDED)
