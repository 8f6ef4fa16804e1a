"""What only journeys ask for: which events end a wait, how often something happened, who may come again."""

from __future__ import annotations

from typing import Any

import pytest
from django.http import QueryDict
from django.test import Client

from automation.builder import event_filter, rules
from automation.builder.rule_rows import rows
from automation.checking import check
from automation.models import Workflow, WorkflowVersion
from automation.publishing import load_definition
from tests.automation.builder.conftest import base_of, keys, lists_of, url
from tests.graphs import events_from

pytestmark = pytest.mark.django_db
AMOUNT = {"root": {"op": "and", "children": [{"field": "amount", "operator": ">", "value": 100}]}}


class _Source:
    def happened(self, workspace_id: int, asked: Any) -> Any:
        return {}


@pytest.fixture
def events():
    """An installation that knows events."""
    with events_from(_Source()):
        yield


@pytest.fixture
def wait(journey: Workflow, change) -> str:
    start = load_definition(WorkflowVersion.objects.get(workflow=journey)).nodes[0].key
    change(journey, "insert:wait_for_event", at=f"{start}.default.0")
    return keys(journey)[0]


def posted(**fields: str) -> QueryDict:
    data = QueryDict(mutable=True)
    for name, value in fields.items():
        data[name.replace("__", ".")] = value
    return data


def config(workflow: Workflow) -> dict[str, Any]:
    lists = lists_of(workflow)
    return dict(lists.lists[lists.root][0].config)


def save(client: Client, journey: Workflow, key: str, **fields: str) -> None:
    base = {"base": base_of(journey), "name": "", "is_enabled": "on", "kind": "for_event", "event": "order"}
    client.post(url("step", journey.pk, key), base | fields)


def test_comparisons_are_typed_and_stored(english: Client, journey: Workflow, wait: str):
    fields = {"filter.n": "1", "filter.0.name": "amount", "filter.0.operator": ">", "filter.0.value": "۱۰۰"}
    save(english, journey, wait, **fields)

    assert config(journey)["filter"] == AMOUNT
    page = english.get(url("builder", journey.pk)).content.decode()
    assert "where amount is more than “100”" in page


def test_a_comparison_without_a_name_is_not_stored(english: Client, journey: Workflow, wait: str):
    save(english, journey, wait, **{"filter.n": "1", "filter.0.name": " ", "filter.0.operator": "="})

    assert "filter" not in config(journey)


def test_a_button_adds_a_comparison_and_another_takes_it_out(english: Client, journey: Workflow, wait: str):
    base = {"base": base_of(journey), "kind": "for_event", "event": "x", "filter.n": "0", "is_enabled": "on"}
    answer = english.post(
        url("step", journey.pk, wait), base | {"edit": "addfilter"}, headers={"HX-Request": "true"}
    )
    assert 'name="filter.0.name"' in answer.content.decode()
    one = event_filter.from_config(AMOUNT)
    assert one.edit("removefilter:0").to_config() is None
    assert one.edit("removefilter:x") == one


@pytest.mark.parametrize(
    "stored",
    [
        {"root": {"op": "not", "children": [AMOUNT["root"]]}},
        {"root": {"op": "and", "children": [AMOUNT["root"]]}},
        {"rules": 3},
    ],
)
def test_a_filter_the_editor_does_not_know_stays_as_it_is(stored):
    found = event_filter.from_config(stored)
    assert event_filter.from_post(posted(event="x"), stored).to_config() == found.to_config() == stored


@pytest.mark.parametrize("operator", event_filter.OPERATORS)
def test_every_comparison_comes_back_as_it_was(operator: str):
    typed = posted(
        filter__n="1", filter__0__name="city", filter__0__operator=operator, filter__0__value="a, b"
    )
    made = event_filter.from_post(typed, None).to_config()

    assert event_filter.from_config(made).to_config() == made


# Known events


def test_known_events_are_chosen_by_their_words(
    member_client: Client, english: Client, journey: Workflow, wait: str
):
    one = {"filter.n": "1", "filter.0.name": "keyword", "filter.0.operator": "=", "filter.0.value": "بله."}
    save(english, journey, wait, event="sms_received", **one)
    sheet = english.get(url("step", journey.pk, wait)).content.decode()
    assert '<option value="sms_received" selected>Answer by SMS</option>' in sheet
    assert '<option value="keyword" selected>The whole answer</option>' in sheet
    assert config(journey)["filter"]["root"]["children"][0]["value"] == "بله."  # as it was written
    page = member_client.get(url("builder", journey.pk)).content.decode()
    assert "«پاسخ با پیامک»" in page
    assert "«کل پاسخ»" in page


def test_values_of_a_closed_set_are_chosen(english: Client, journey: Workflow, wait: str):
    one = {"filter.n": "1", "filter.0.name": "kind", "filter.0.operator": "=", "filter.0.value": "meeting"}
    save(english, journey, wait, event="activity_done", **one)
    sheet = english.get(url("step", journey.pk, wait)).content.decode()
    assert '<option value="meeting" selected>Meeting</option>' in sheet


def test_an_event_that_nothing_records_is_kept_and_warned_of(english: Client, journey: Workflow, wait: str):
    save(english, journey, wait, event="order_paid")
    sheet = english.get(url("step", journey.pk, wait)).content.decode()
    assert '<option value="order_paid" selected>order_paid</option>' in sheet
    draft = WorkflowVersion.objects.get(workflow=journey)
    report = check(load_definition(draft), "journey")
    assert [(one.code, one.node) for one in report.warnings] == [("event_unknown", wait)]


def test_a_known_event_is_no_warning(english: Client, journey: Workflow, wait: str):
    save(english, journey, wait, event="sms_received")
    report = check(load_definition(WorkflowVersion.objects.get(workflow=journey)), "journey")
    assert report.warnings == ()


def test_a_question_how_often_offers_the_known_events():
    group = rules.from_config({"root": {"event": "activity_added", "count_operator": ">=", "count": 1}})
    row = rows(group, "c").parts[0]
    assert [option.value for option in row.choices if option.is_chosen] == ["activity_added"]


# How often


def test_how_often_is_offered_only_where_events_are_known(events):
    choices = rows(rules.from_config({"root": {}}).__class__(parts=(rules.Rule(),)), "c").parts[0].fields
    assert any(option.value == rules.EVENT for _space, options in choices for option in options)
    with events_from(None):
        choices = rows(rules.Group(parts=(rules.Rule(),)), "c").parts[0].fields
    assert not any(option.value == rules.EVENT for _space, options in choices for option in options)


def test_how_often_is_read_from_its_three_boxes():
    data = posted(c__n="1", c__op="and", c__0__field=rules.EVENT, c__0__operator=">")
    data.setlist("c.0.value", ["order_paid", "۲", "30"])
    leaf = {"event": "order_paid", "count_operator": ">", "count": 2, "within_days": 30}

    assert rules.to_config(rules.from_post(data, "c"), "UTC") == {"root": {"op": "and", "children": [leaf]}}


# The settings of a journey


def test_the_rules_of_coming_in_are_stored(english: Client, journey: Workflow):
    typed = {
        "base": base_of(journey), "timezone": "Asia/Tehran", "retry_strategy": "fixed",
        "retry_on_exhausted": "stop", "retry_enabled": "on", "retry_max_attempts": "2", "retry_minutes": "5",
        "entry_rule": "every_time", "reentry": "hours", "cooldown_hours": "24", "max_duration_days": "60",
        "x.n": "1", "x.op": "and", "x.0.field": "target.city", "x.0.operator": "=", "x.0.value": "Tehran",
    }  # fmt: skip
    assert english.post(url("settings", journey.pk), typed).status_code == 302
    stored = WorkflowVersion.objects.get(workflow=journey).settings

    assert (stored["entry_rule"], stored["cooldown_hours"], stored["reentry_window"]) == (
        "every_time",
        24,
        None,
    )
    assert stored["exit_criteria"]["root"]["children"][0]["value"] == "Tehran"
    assert (stored["retry"]["max_attempts"], stored["retry"]["interval_seconds"]) == (2, 300)
    assert 'value="24"' in english.get(url("settings", journey.pk)).content.decode()


def test_a_pause_in_hours_needs_the_hours(english: Client, journey: Workflow):
    typed = {
        "base": base_of(journey),
        "timezone": "UTC",
        "retry_strategy": "fixed",
        "retry_on_exhausted": "fail",
    }
    answer = english.post(url("settings", journey.pk), typed | {"reentry": "hours"})

    assert answer.status_code == 422
    assert "Say how many hours." in answer.content.decode()


def test_questions_about_leaving_are_added_without_saving(english: Client, journey: Workflow):
    typed = {"base": base_of(journey), "timezone": "UTC", "x.n": "0", "edit": "rule:"}
    answer = english.post(url("settings", journey.pk), typed, headers={"HX-Request": "true"})

    assert 'name="x.0.field"' in answer.content.decode()
    assert "exit_criteria" not in WorkflowVersion.objects.get(workflow=journey).settings


def test_the_settings_of_a_campaign_workflow_have_no_rules_of_coming_in(english: Client, workflow: Workflow):
    assert 'name="entry_rule"' not in english.get(url("settings", workflow.pk)).content.decode()
