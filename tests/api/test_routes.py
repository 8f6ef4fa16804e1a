"""The JSON routes: what each answers, and when it refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from automation import publishing, registry
from automation.models import Workflow, WorkflowExecution, WorkflowNode, WorkflowVersion
from automation.registry import ActionPlugin
from automation.states import ExecutionStatus
from blacklist.models import BlacklistEntry
from campaigns.models import EnrollmentBatch
from core import clock
from engine.compile import ActionSpec
from engine.portable import definition_to_json
from tests.api.conftest import Call, caller, secret_of
from tests.campaigns import builders
from tests.factories import make
from workspaces.models import AuditRecord, User

pytestmark = pytest.mark.usefixtures("workspace", "clock")


@pytest.fixture
def workflow(marketer: User) -> Workflow:
    return publishing.create_workflow(name="Welcome", template_key="single_message", user=marketer)


def graph_of(workflow: Workflow) -> dict[str, Any]:
    version = WorkflowVersion.objects.get(workflow=workflow, version_number=1)
    return definition_to_json(publishing.load_definition(version))


def code(answer) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


# Workflows


def test_the_catalogue_lists_what_a_workflow_is_made_of(call: Call) -> None:
    found = call("GET", "/catalog").json()

    assert {"nodes", "actions", "operators", "events", "variables", "templates"} <= found.keys()
    assert "body" in next(a for a in found["actions"] if a["subtype"] == "send_sms")["schema"]["properties"]
    assert found["operators"]["text"]
    assert "three_step_introduction" in {template["key"] for template in found["templates"]}


def test_an_action_that_registers_itself_stands_in_the_catalogue(call: Call) -> None:
    spec = ActionSpec(
        subtype="ring", ports=frozenset({"default"}), check=lambda _config: [],
        consumes_budget=lambda _config: False, texts=lambda _config: [],
    )  # fmt: skip
    registry.register_action(
        ActionPlugin(spec=spec, label="Ring", icon="phone", defaults=lambda: {"times": 3})
    )
    try:
        found = {action["subtype"]: action for action in call("GET", "/catalog").json()["actions"]}
    finally:
        registry.unregister_action("ring")

    assert found["ring"]["schema"]["properties"]["times"] == {"type": ["integer", "null"], "default": 3}


def test_a_graph_is_read_as_it_is_stored(call: Call, workflow: Workflow) -> None:
    answer = call("GET", f"/workflows/{workflow.pk}/versions/1/graph")

    assert answer.json() == graph_of(workflow)
    assert answer["ETag"] == '"1.0"'
    assert call("GET", f"/workflows/{workflow.pk}/versions/2/graph").status_code == 404


def test_a_saved_graph_comes_back_and_its_problems_are_listed(call: Call, workflow: Workflow) -> None:
    graph = graph_of(workflow)
    for node in graph["nodes"]:
        if node["type"] == "action":
            node["config"]["body"] = ""
    path = f"/workflows/{workflow.pk}/versions/1/graph"
    answer = call("PUT", path, graph)

    assert (answer.status_code, answer.json()["valid"]) == (200, False)
    assert "text_empty" in {problem["code"] for problem in answer.json()["problems"]}
    assert call("GET", path).json() == graph
    assert answer.json()["revision"] == "1.1"


def test_a_graph_is_not_written_over_somebody_elses_change(call: Call, workflow: Workflow) -> None:
    path, graph = f"/workflows/{workflow.pk}/versions/1/graph", graph_of(workflow)
    graph["settings"] = {}
    first = call("PUT", path, graph, **{"If-Match": '"1.0"'})
    graph["nodes"][0]["name"] = "Late"
    late = call("PUT", path, graph, **{"If-Match": '"1.0"'})

    assert (first.status_code, code(late)) == (200, (409, "draft_changed"))


def test_a_published_version_is_not_written(call: Call, workflow: Workflow, marketer: User) -> None:
    builders.channel()
    publishing.publish(workflow, user=marketer)
    answer = call("PUT", f"/workflows/{workflow.pk}/versions/1/graph", graph_of(workflow))

    assert code(answer) == (409, "version_not_draft")


@pytest.mark.parametrize(
    "change",
    [
        {"nodes": [{"key": "a", "type": "rocket", "subtype": "x"}], "edges": []},
        {"nodes": [{"key": "a", "type": "start", "subtype": "manual"}] * 2, "edges": []},
        {"nodes": [], "edges": [{"source": "a", "port": "default", "target": "b"}]},
        {"nodes": [], "edges": [], "workspace_id": 7},
        {"nodes": [{"key": "a", "type": "start", "subtype": "manual", "workspace": 7}], "edges": []},
        {"nodes": {}, "edges": []},
    ],
)
def test_a_graph_that_is_none_is_refused(change, call: Call, workflow: Workflow) -> None:
    before = graph_of(workflow)
    answer = call("PUT", f"/workflows/{workflow.pk}/versions/1/graph", change)

    assert answer.status_code == 422
    assert graph_of(workflow) == before


def test_validating_changes_nothing(call: Call, workflow: Workflow) -> None:
    builders.channel()
    path = f"/workflows/{workflow.pk}/versions/1/validate"
    good = call("POST", path).json()
    WorkflowNode.objects.filter(version__workflow=workflow, type="action").update(config={})
    broken = call("POST", path).json()

    assert (good["valid"], broken["valid"]) == (True, False)
    assert WorkflowVersion.objects.get().status == "draft"


def test_publishing_answers_the_version_and_refuses_with_every_reason(call: Call, workflow: Workflow) -> None:
    builders.channel()
    path = f"/workflows/{workflow.pk}/publish"
    done, again = call("POST", path, {"note": "First"}), call("POST", path)
    call("POST", f"/workflows/{workflow.pk}/versions")
    call("PUT", f"/workflows/{workflow.pk}/versions/2/graph", {"nodes": [], "edges": []})
    broken = call("POST", path)

    assert (done.status_code, done.json()["status"], done.json()["note"]) == (200, "published", "First")
    assert code(again) == (409, "no_draft")
    assert code(broken) == (422, "invalid")
    assert {problem["code"] for problem in broken.json()["problems"]} >= {"start_missing"}
    assert AuditRecord.objects.filter(event="workflow.published").count() == 1


def test_a_new_draft_keeps_the_keys(call: Call, workflow: Workflow, marketer: User) -> None:
    builders.channel()
    publishing.publish(workflow, user=marketer)
    path = f"/workflows/{workflow.pk}/versions"
    made, again = call("POST", path), call("POST", path)

    assert (made.status_code, made.json()["version"]) == (201, 2)
    assert call("GET", f"{path}/2/graph").json() == graph_of(workflow)
    assert code(again) == (409, "draft_exists")


def test_a_text_is_previewed_with_what_it_lacks(call: Call) -> None:
    [person] = builders.people(1, city="شیراز")
    text = "سلام {target.province|دوست} {target.last_name} {target.city} {nobody}"
    shown = call("POST", "/sms/preview", {"text": text, "target": person}).json()

    assert shown["text"].startswith("سلام دوست")
    assert "شیراز" in shown["text"]
    assert (shown["missing"], shown["unknown"]) == (["target.last_name"], ["target.nobody"])
    assert (shown["encoding"], shown["segments"]) == ("ucs2", 1)


# Campaigns


def test_a_selection_is_reviewed_decided_and_added(call: Call) -> None:
    elsewhere, campaign = builders.running(), builders.running()
    ids = builders.people(3)
    builders.enrol(elsewhere, ids[:1])
    made = call("POST", f"/campaigns/{campaign.pk}/enrollments/preview", {"ids": ids})
    batch = f"/enrollments/{made.json()['id']}"
    early = call("POST", f"{batch}/commit")
    decided = call("PUT", f"{batch}/decisions", {"default": "skip", "overrides": {str(ids[0]): "add"}})
    done, late = call("POST", f"{batch}/commit"), call("PUT", f"{batch}/decisions", {"default": "add"})

    assert (made.status_code, made.json()["groups"]["conflict"]) == (201, ids[:1])
    assert code(early) == (409, "conflicts_unresolved")
    assert decided.json()["decisions"] == {"default": "skip", "overrides": {str(ids[0]): "add"}}
    assert (done.status_code, done.json()["counts"]["added"]) == (200, 3)
    assert code(late) == (409, "batch_not_draft")
    assert call("GET", batch).json() == done.json()


def test_a_filter_selects_what_the_list_page_shows(call: Call) -> None:
    campaign = builders.running()
    tehran = builders.people(2, city="تهران")
    builders.people(1, city="شیراز")
    path = f"/campaigns/{campaign.pk}/enrollments/preview"

    assert call("POST", path, {"filter": {"city": "تهران"}}).status_code == 201
    assert EnrollmentBatch.objects.get().subject_ids == tehran


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"ids": []},
        {"ids": ["1"]},
        {"ids": [1], "filter": {}},
        {"filter": {"x": 1}},
        {"filter": {"status": "asleep"}},
    ],
)
def test_a_selection_that_says_nothing_or_too_much_is_refused(body, call: Call) -> None:
    assert call("POST", f"/campaigns/{builders.running().pk}/enrollments/preview", body).status_code == 422


def test_more_than_three_hundred_are_added_by_a_task(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    from campaigns.enrollment import committer

    monkeypatch.setattr(committer, "DIRECT", 1)
    campaign = builders.running()
    made = call("POST", f"/campaigns/{campaign.pk}/enrollments/preview", {"ids": builders.people(2)}).json()

    assert call("POST", f"/enrollments/{made['id']}/commit").status_code == 202


def test_a_selection_is_discarded_once(call: Call) -> None:
    campaign = builders.running()
    made = call("POST", f"/campaigns/{campaign.pk}/enrollments/preview", {"ids": builders.people(1)}).json()
    answers = [call("POST", f"/enrollments/{made['id']}/discard") for _ in range(2)]

    assert [answer.status_code for answer in answers] == [200, 409]


MOVES = {
    "activate": {"draft": "active"},
    "pause": {"active": "paused"},
    "resume": {"paused": "active"},
    "end": {"active": "completed", "paused": "completed"},
    "cancel": {"draft": "cancelled", "active": "cancelled", "paused": "cancelled"},
}


@pytest.mark.parametrize("verb", MOVES)
def test_a_button_answers_the_new_status_or_409(verb: str, call: Call) -> None:
    of = builders.workflow()
    answers = {}
    for before, steps in {
        "draft": [],
        "active": ["activate"],
        "paused": ["activate", "pause"],
        "completed": ["activate", "end"],
        "cancelled": ["cancel"],
    }.items():
        campaign = builders.draft(of)
        builders.channel() if before == "draft" else None
        for step in steps:
            assert call("POST", f"/campaigns/{campaign.pk}/{step}").status_code == 200
        answer = call("POST", f"/campaigns/{campaign.pk}/{verb}")
        answers[before] = answer.json()["status"] if answer.status_code == 200 else answer.status_code
        if verb == "cancel":
            outcome = "cancelled" if answer.status_code == 200 else "conflict_generation_completed"
            assert answer["X-Campaign-Cancel-Outcome"] == outcome

    assert answers == {status: MOVES[verb].get(status, 409) for status in answers}


def test_cancelling_tells_of_messages_on_their_way(call: Call) -> None:
    campaign = builders.running()
    ids = builders.people(2)
    builders.enrol(campaign, ids)
    row = WorkflowExecution.objects.filter(subject_id=ids[0])
    row.update(status=ExecutionStatus.PROCESSING, lock_token=uuid4(), locked_at=clock.now())
    answer = call("POST", f"/campaigns/{campaign.pk}/cancel")

    assert answer.status_code == 202
    assert answer.json() == {"status": "cancelling_partial", "stopped": 1, "in_work": 1}
    assert answer["X-Campaign-Cancel-Outcome"] == "cancelling_partial"


def test_the_door_is_closed_and_opened(call: Call) -> None:
    campaign = builders.running()

    assert call("POST", f"/campaigns/{campaign.pk}/close").json() == {
        "status": "active",
        "intake_open": False,
    }
    assert call("POST", f"/campaigns/{campaign.pk}/open").json() == {"status": "active", "intake_open": True}


def test_one_person_is_paused_resumed_removed(call: Call) -> None:
    campaign = builders.running()
    [person] = builders.people(1)
    builders.enrol(campaign, [person], default="add")
    walk = f"/executions/{builders.execution_of(campaign, person).pk}"
    paused = call("POST", f"{walk}/pause")
    stale = call("POST", f"{walk}/resume", {"revision": paused.json()["revision"] - 1})
    resumed = call("POST", f"{walk}/resume", {"revision": paused.json()["revision"]})
    twice = call("POST", f"{walk}/resume")
    removed, restarted = call("POST", f"{walk}/remove"), call("POST", f"{walk}/restart")

    assert paused.json()["status"] == "paused"
    assert code(stale) == (409, "changed_meanwhile")
    assert resumed.status_code == 200
    assert (code(twice), twice.json()["status"]) == ((409, "illegal_change"), resumed.json()["status"])
    assert (removed.status_code, restarted.status_code) == (200, 409)


def test_several_people_are_moved_and_the_others_named(call: Call) -> None:
    campaign = builders.running()
    people = builders.people(3)
    builders.enrol(campaign, people)
    *ids, paused = [builders.execution_of(campaign, person).pk for person in people]
    call("POST", f"/executions/{paused}/pause")
    path, body = f"/campaigns/{campaign.pk}/executions/change", {"operation": "pause"}
    answer = call("POST", path, {**body, "ids": [*ids, paused, 999_999]}).json()

    assert {row["id"] for row in answer["done"]} == set(ids)
    refused = {row["id"]: row["code"] for row in answer["refused"]}
    assert refused == {paused: "illegal_change", 999_999: "not_found"}
    assert [call("POST", path, wrong).status_code for wrong in (body, {"operation": "fly", "ids": ids})] == [
        422,
        422,
    ]


def test_the_live_walks_of_a_person_are_listed(call: Call) -> None:
    [person] = builders.people(1)
    campaigns = [builders.running() for _ in range(3)]
    for campaign in campaigns:
        builders.enrol(campaign, [person], default="add")
    call("POST", f"/executions/{builders.execution_of(campaigns[0], person).pk}/remove")
    found = call("GET", f"/targets/{person}/executions").json()["executions"]

    assert {walk["campaign"]["id"] for walk in found} == {campaigns[1].pk, campaigns[2].pk}
    assert all(walk["workflow"] and walk["status"] and "next_at" in walk for walk in found)


def test_a_history_is_paged_newest_first_at_a_constant_cost(call: Call) -> None:
    few, many = builders.people(2)
    for person, count in ((few, 1), (many, 16)):
        for campaign in [builders.running() for _ in range(count)]:
            builders.enrol(campaign, [person], default="add")
            call("POST", f"/executions/{builders.execution_of(campaign, person).pk}/pause")
    costs, pages = [], []
    for person in (few, many):
        call("GET", f"/targets/{person}/timeline")
        with CaptureQueriesContext(connection) as statements:
            pages.append(call("GET", f"/targets/{person}/timeline").json())
        costs.append(len(statements))
    second = call("GET", f"/targets/{many}/timeline?page=2").json()

    assert costs[0] == costs[1]
    assert (len(pages[1]["events"]), pages[1]["pages"], second["page"]) == (30, 2, 2)
    times = [event["at"] for event in [*pages[1]["events"], *second["events"]]]
    assert times == sorted(times, reverse=True)


# The block list


def test_an_exported_list_can_be_imported(call: Call, marketer: User) -> None:
    for value in ("09121111111", "09122222222"):
        make(BlacklistEntry, marketer.memberships.get().workspace, value=value)
    answer = call("GET", "/blacklist/export")
    file = SimpleUploadedFile("blacklist.csv", answer.getvalue())
    BlacklistEntry.objects.all().delete()
    headers = {"Authorization": f"Bearer {secret_of(marketer)}"}
    counts = Client().post("/automation/blacklist/import", {"file": file}, headers=headers)

    assert counts.json() | {"examples": []} == {
        "added": 2, "reactivated": 0, "already": 0, "invalid": 0, "examples": [],
    }  # fmt: skip


def test_a_file_without_numbers_is_refused(marketer: User) -> None:
    headers = {"Authorization": f"Bearer {secret_of(marketer)}"}
    file = SimpleUploadedFile("x.csv", b"a,b\nc,d\n")
    answer = Client().post("/automation/blacklist/import", {"file": file}, headers=headers)

    assert code(answer) == (422, "file_no_numbers")


# The form of requests and answers


@pytest.mark.parametrize(
    ("body", "status", "word"),
    [
        ('{"text": "a"', 400, "json_invalid"),
        ("[" * 100_000, 400, "json_invalid"),
        ('{"text": NaN}', 400, "json_invalid"),
        ('{"text": 1e400}', 400, "json_invalid"),
        ('{"text": ' + "9" * 5000 + "}", 400, "json_invalid"),
        ('{"text": "a", "text": "b"}', 400, "json_invalid"),
        ('{"text": "\\u0000"}', 400, "json_invalid"),
        ('{"text": "\\ud800"}', 400, "json_invalid"),
        (b'{"text": "\xff"}', 400, "json_invalid"),
        ('{"text": "' + "a" * 3_000_000 + '"}', 413, "too_large"),
        ("{}", 422, "invalid_request"),
        ('{"text": 7}', 422, "invalid_request"),
        ('{"text": "a", "target": 99999999999}', 404, "not_found"),
        ('{"text": "a", "workspace_id": 1}', 422, "invalid_request"),
        ("[]", 422, "invalid_request"),
        ("null", 422, "invalid_request"),
    ],
    ids=lambda value: str(value)[:24] if isinstance(value, str | bytes) else None,
)
def test_a_body_that_is_none_is_refused(body, status: int, word: str, call: Call) -> None:
    assert code(call("POST", "/sms/preview", body)) == (status, word)


def test_another_kind_of_body_is_refused(marketer: User) -> None:
    headers = {"Authorization": f"Bearer {secret_of(marketer)}"}
    answer = Client().post("/automation/sms/preview", {"text": "a"}, headers=headers)

    assert code(answer) == (415, "unsupported_type")


def test_another_method_is_405_in_json(call: Call) -> None:
    answer = call("DELETE", "/catalog")

    assert (code(answer), answer["Allow"]) == ((405, "method_not_allowed"), "GET")


def test_an_id_that_cannot_be_is_not_there(call: Call) -> None:
    assert code(call("POST", f"/campaigns/{10**30}/pause")) == (404, "not_found")


def test_a_person_who_is_not_there_is_told_in_words(call: Call) -> None:
    answer = call("GET", "/targets/999/timeline").json()
    assert (answer["code"], answer["error"] != answer["code"]) == ("not_found", True)


def test_errors_are_told_in_the_language_of_the_caller(owner: User, client_of: Callable[..., Client]) -> None:
    found = {
        language: client_of(owner, language=language).post("/automation/campaigns/1/pause").json()
        for language in ("fa", "en")
    }

    assert found["en"] == {"error": "There is no such campaign.", "code": "not_found"}
    assert found["fa"]["error"] != found["en"]["error"]


def test_a_refused_change_is_audited(seller: User) -> None:
    caller(secret_of(seller))("POST", "/campaigns/1/pause")

    assert AuditRecord.objects.get(event="access.denied").new["page"] == "json:campaign-pause"


def test_every_route_describes_all_it_answers(call: Call) -> None:
    document = call("GET", "/openapi.json").json()
    described = {
        (path, method): set(route["responses"])
        for path, methods in document["paths"].items()
        for method, route in methods.items()
    }

    assert document["components"]["securitySchemes"].keys() == {"Session", "Token"}
    assert all({"401", "403", "429"} <= codes for codes in described.values())
    assert all("404" in codes for (path, _method), codes in described.items() if "{" in path)
    assert all(
        {"400", "413", "415", "422"} <= described[path, method]
        for path, methods in document["paths"].items()
        for method, route in methods.items()
        if "application/json" in route.get("requestBody", {}).get("content", {})
    )
