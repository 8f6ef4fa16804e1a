"""Editing a draft in the browser: the step list, one page a step, the settings, the preview."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from automation import publishing
from automation.builder.claiming import Base
from automation.models import WorkflowEdge, WorkflowNode, WorkflowVersion
from sms.models import ProviderAccount, SmsSettings
from workspaces.models import AuditRecord


def url(name: str, *args: object) -> str:
    return reverse(f"automation:{name}", args=args)


def nodes(draft: WorkflowVersion, subtype: str) -> list[WorkflowNode]:
    return list(WorkflowNode.objects.filter(version=draft, subtype=subtype).order_by("id"))


def hidden_base(page: str) -> str:
    found = re.search(r'name="base" value="([\d.]+)"', page)
    assert found is not None
    return found.group(1)


def message(draft: WorkflowVersion, **typed: object) -> dict[str, object]:
    """What a browser posts for the first message when only `typed` was changed."""
    return {
        "base": str(Base.of(draft)),
        "name": "Introduction",
        "is_enabled": "on",
        "body": "متن تازه",
        "title": "t",
        "sender": "",
        "send_only_in_window": "on",
        "on_missing_variable": "skip",
        "retry_enabled": "on",
        "retry_max_attempts": "3",
        "retry_minutes": "15",
        "retry_strategy": "fixed",
        "retry_on_exhausted": "fail",
    } | typed


def send_key(draft: WorkflowVersion) -> str:
    return nodes(draft, "send_sms")[0].node_key


def first_send(draft: WorkflowVersion) -> WorkflowNode:
    return nodes(draft, "send_sms")[0]


def add_failure_path(draft: WorkflowVersion, end: WorkflowNode) -> None:
    send = first_send(draft)
    WorkflowEdge.objects.create(
        workspace_id=draft.workspace_id, version=draft, from_node=send, to_node=end, port="failure"
    )


# The step list


def test_the_builder_shows_every_step_with_a_way_to_edit_it(workflow, draft, english):
    page = english.get(url("builder", workflow.pk)).content.decode()

    assert page.count('class="step-card"') == 7
    for key in draft.nodes.values_list("node_key", flat=True):
        assert url("step", workflow.pk, key) in page


def test_without_a_draft_the_builder_offers_one(workflow, owner, english):
    publishing.publish(workflow, user=owner)
    page = english.get(url("builder", workflow.pk)).content.decode()

    assert "There is no draft." in page
    assert url("new-draft", workflow.pk) in page


def test_branches_are_nested_lists(workspace, owner, english):
    workflow = publishing.create_workflow(name="w", template_key="welcome_and_reminder", user=owner)
    page = english.get(url("builder", workflow.pk)).content.decode()

    assert page.count('class="branch"') == 2
    assert page.count("<ol") == page.count("</ol>") == 3
    assert page.count('<li class="step"') == 7
    assert "Status is one of “Interested”, “Converted”" in page


def test_a_graph_that_is_no_list_has_no_buttons(workflow, draft, english):
    end = WorkflowNode.objects.get(version=draft, type="end")
    WorkflowEdge.objects.create(
        workspace_id=draft.workspace_id,
        version=draft,
        from_node=first_send(draft),
        to_node=end,
        port="failure",
    )
    page = english.get(url("builder", workflow.pk)).content.decode()
    step = english.get(url("step", workflow.pk, send_key(draft))).content.decode()

    assert "The step list cannot show a path for failures." in page
    assert "data-insert-at" not in page
    assert "btn-primary" not in step.split('id="step-form"')[1].split("</form>")[0]


def test_a_graph_that_is_no_list_is_not_changed_by_a_post(workflow, draft, english):
    end = WorkflowNode.objects.get(version=draft, type="end")
    WorkflowEdge.objects.create(
        workspace_id=draft.workspace_id,
        version=draft,
        from_node=first_send(draft),
        to_node=end,
        port="failure",
    )
    before = publishing.load_definition(draft)
    answer = english.post(url("step", workflow.pk, send_key(draft)), message(draft))

    assert answer.status_code == 409
    assert publishing.load_definition(draft) == before


# One step


def test_the_form_as_rendered_changes_nothing_when_saved(workflow, draft, english):
    node = first_send(draft)
    form = english.get(url("step", workflow.pk, node.node_key)).context["form"]
    posted = {name: value for name in form.fields if (value := form[name].value()) not in (None, False)}
    english.post(url("step", workflow.pk, node.node_key), posted)

    draft.refresh_from_db()
    assert draft.revision == 0
    assert first_send(draft).config == node.config


def test_a_text_is_saved(workflow, draft, english):
    answer = english.post(
        url("step", workflow.pk, send_key(draft)), message(draft, body="سلام {name|دوست}\r\nخوبید؟")
    )

    draft.refresh_from_db()
    assert answer.headers["Location"] == url("builder", workflow.pk) + f"#step-{send_key(draft)}"
    assert first_send(draft).config["body"] == "سلام {name|دوست}\nخوبید؟"
    assert draft.revision == 1


def test_every_field_of_a_message_is_saved(workflow, draft, english):
    typed = message(
        draft,
        title="عنوان",
        on_missing_variable="send_blank",
        append_opt_out="on",
        send_only_in_window="",
        retry_max_attempts="۵",
        retry_minutes="30",
        retry_strategy="exponential",
        retry_on_exhausted="skip_step",
        is_enabled="",
    )
    english.post(url("step", workflow.pk, send_key(draft)), typed)

    node = first_send(draft)
    assert not node.is_enabled
    assert node.config == {
        "title": "عنوان",
        "body": "متن تازه",
        "provider": None,
        "sender": None,
        "send_only_in_window": False,
        "on_missing_variable": "send_blank",
        "append_opt_out": True,
        "retry": {
            "enabled": True,
            "strategy": "exponential",
            "max_attempts": 5,
            "interval_seconds": 1800,
            "on_exhausted": "skip_step",
        },
    }


def test_saving_a_text_leaves_the_old_and_the_new_one_in_the_audit_log(workflow, draft, owner, english):
    old = first_send(draft).config["body"]
    english.post(
        url("step", workflow.pk, send_key(draft)), message(draft, body="متن تازه", title="Introduction")
    )

    row = AuditRecord.objects.get(event="workflow.step_changed")
    assert (row.user, row.entity_id) == (owner, str(workflow.pk))
    assert (row.old["body"], row.new["body"]) == (old, "متن تازه")
    assert row.new["version"] == 1


def test_saving_without_a_change_leaves_no_trace(workflow, draft, english):
    english.post(url("step", workflow.pk, send_key(draft)), message(draft))
    draft.refresh_from_db()
    english.post(url("step", workflow.pk, send_key(draft)), message(draft))

    draft.refresh_from_db()
    assert draft.revision == 1
    assert AuditRecord.objects.filter(event="workflow.step_changed").count() == 1


def test_an_empty_text_can_be_saved_and_is_listed_as_a_problem(workflow, draft, english):
    english.post(url("step", workflow.pk, send_key(draft)), message(draft, body="  "))
    page = english.get(url("builder", workflow.pk)).content.decode()

    assert first_send(draft).config["body"] == ""
    assert "The text of the message is empty." in page


def test_a_long_text_is_a_warning_only(workflow, draft, owner, english):
    english.post(url("step", workflow.pk, send_key(draft)), message(draft, body="ب" * 300))
    page = english.get(url("builder", workflow.pk)).content.decode()

    assert "The message is long: 5 parts are billed for each person." in page
    assert publishing.publish(workflow, user=owner).status == "published"


@pytest.mark.parametrize(
    "typed",
    [
        {"body": "x" * 5001},
        {"retry_max_attempts": ""},
        {"retry_max_attempts": "0"},
        {"retry_minutes": "many"},
        {"on_missing_variable": "guess"},
        {"sender": "not-a-line"},
        {"name": "x" * 121},
        {"body": "a\x00b"},
    ],
)
def test_wrong_input_is_shown_again_and_not_saved(workflow, draft, english, typed):
    answer = english.post(url("step", workflow.pk, send_key(draft)), message(draft, **typed))

    draft.refresh_from_db()
    assert answer.status_code == 422
    assert "Please correct the following" in answer.content.decode()
    assert draft.revision == 0


def test_the_lines_of_the_primary_provider_are_offered(workspace, workflow, draft, english):
    ProviderAccount.objects.create(
        workspace_id=workspace.pk,
        kind="melipayamak",
        title="m",
        lines=["5000111", "5000222"],
        is_primary=True,
    )
    english.post(url("step", workflow.pk, send_key(draft)), message(draft, sender="5000222"))

    assert first_send(draft).config["sender"] == "5000222"


def test_a_rule_in_odd_seconds_survives_another_change(workflow, draft, english):
    node = first_send(draft)
    node.config = node.config | {"retry": node.config["retry"] | {"interval_seconds": 100}}
    node.save()
    english.post(
        url("step", workflow.pk, node.node_key), message(draft, retry_minutes="2", retry_max_attempts="4")
    )

    retry = first_send(draft).config["retry"]
    assert (retry["interval_seconds"], retry["max_attempts"]) == (100, 4)


def test_a_step_without_a_rule_keeps_following_the_workflows(workflow, draft, english):
    node = first_send(draft)
    node.config = {"body": "x", "title": ""}
    node.save()
    draft.settings = draft.settings | {"retry": {"max_attempts": 7}}
    draft.save()
    english.post(url("step", workflow.pk, node.node_key), message(draft, retry_max_attempts="7"))

    assert "retry" not in first_send(draft).config


def test_a_wait_is_changed(workflow, draft, english):
    node = nodes(draft, "duration")[0]
    typed = {"base": str(Base.of(draft)), "name": "Wait", "amount": "۴۵", "unit": "day", "is_enabled": "on"}
    english.post(url("step", workflow.pk, node.node_key), typed)

    assert nodes(draft, "duration")[0].config == {"mode": "duration", "amount": 45, "unit": "day"}


@pytest.mark.parametrize(
    ("amount", "unit"), [("0", "day"), ("-1", "day"), ("", "day"), ("11", "year"), ("1", "century")]
)
def test_a_wait_must_be_a_real_length_of_time(workflow, draft, english, amount, unit):
    node = nodes(draft, "duration")[0]
    typed = {"base": str(Base.of(draft)), "name": "", "amount": amount, "unit": unit, "is_enabled": "on"}
    answer = english.post(url("step", workflow.pk, node.node_key), typed)

    assert answer.status_code == 422
    assert nodes(draft, "duration")[0].config == node.config


def test_an_end_can_be_renamed(workflow, draft, english):
    node = nodes(draft, "complete")[0]
    english.post(url("step", workflow.pk, node.node_key), {"base": str(Base.of(draft)), "name": "تمام"})

    node.refresh_from_db()
    assert (node.name, node.config, node.is_enabled) == ("تمام", {"behavior": "complete"}, True)


def test_an_unknown_step_is_not_found(workflow, english):
    assert english.get(url("step", workflow.pk, "n_000000")).status_code == 404


def test_a_step_of_another_workspace_is_not_found(workflow, draft, stranger, client_of):
    browser = client_of(stranger)
    assert browser.get(url("step", workflow.pk, send_key(draft))).status_code == 404
    assert browser.post(url("step", workflow.pk, send_key(draft)), message(draft)).status_code == 404


def test_an_operator_may_not_open_a_step(workflow, draft, operator, client_of):
    assert client_of(operator).get(url("step", workflow.pk, send_key(draft))).status_code == 403


# Two people at once


def test_the_second_of_two_editors_is_told_and_keeps_what_they_typed(
    workflow, draft, english, owner, client_of
):
    key = send_key(draft)
    english.post(url("step", workflow.pk, key), message(draft, body="متن نخست"))
    answer = client_of(owner, language="en").post(
        url("step", workflow.pk, key), message(draft, body="متن دوم")
    )
    page = answer.content.decode()

    assert answer.status_code == 409
    assert first_send(draft).config["body"] == "متن نخست"
    assert "متن دوم</textarea>" in page
    assert "متن نخست" in page


def test_saving_again_after_the_warning_replaces_the_stored_text(workflow, draft, english):
    key = send_key(draft)
    english.post(url("step", workflow.pk, key), message(draft, body="متن نخست"))
    page = english.post(url("step", workflow.pk, key), message(draft, body="متن دوم")).content.decode()
    answer = english.post(
        url("step", workflow.pk, key), message(draft, body="متن دوم", base=hidden_base(page))
    )

    assert answer.status_code == 302
    assert first_send(draft).config["body"] == "متن دوم"


def test_a_text_for_a_draft_that_was_published_is_shown_for_copying(workflow, draft, owner, english):
    publishing.publish(workflow, user=owner)
    answer = english.post(url("step", workflow.pk, send_key(draft)), message(draft, body="متن گم‌شده"))

    assert answer.status_code == 409
    assert "متن گم‌شده" in answer.content.decode()


def test_a_change_meant_for_an_older_draft_does_not_reach_the_next_one(workflow, draft, owner, english):
    key = send_key(draft)
    stale = message(draft, body="برای نسخهٔ یک")
    publishing.publish(workflow, user=owner)
    publishing.new_draft(workflow, owner)

    assert english.post(url("step", workflow.pk, key), stale).status_code == 409
    assert not WorkflowNode.objects.filter(config__body="برای نسخهٔ یک").exists()


@pytest.mark.parametrize("base", ["", "1", "x.y", "1.-1", "٢.٠", "99999999999999.1"])
def test_a_damaged_revision_counts_as_an_old_one(workflow, draft, english, base):
    assert (
        english.post(url("step", workflow.pk, send_key(draft)), message(draft, base=base)).status_code == 409
    )


# Settings


def settings_form(draft: WorkflowVersion, **typed: str) -> dict[str, str]:
    week = dict.fromkeys(("sat", "sun", "mon", "tue", "wed"), "09:00-18:00")
    shown = {
        "base": str(Base.of(draft)),
        "use_window": "on",
        "timezone": "Asia/Tehran",
        "thu": "09:00-13:00",
        "fri": "",
    }
    retry = {
        "retry_enabled": "on",
        "retry_max_attempts": "3",
        "retry_minutes": "15",
        "retry_strategy": "fixed",
        "retry_on_exhausted": "fail",
    }
    return week | shown | retry | typed


def test_the_settings_as_rendered_change_nothing(workflow, draft, english):
    before = draft.settings
    answer = english.post(url("settings", workflow.pk), settings_form(draft))

    draft.refresh_from_db()
    assert answer.status_code == 302
    assert (draft.settings, draft.revision) == (before, 0)


def test_hours_are_read_as_people_write_them(workflow, draft, english):
    english.post(
        url("settings", workflow.pk), settings_form(draft, fri="۹ تا ۱۲، 16:30-24:00", daily_limit="۱۰۰")
    )

    draft.refresh_from_db()
    assert draft.settings["send_window"]["days"]["fri"] == [["09:00", "12:00"], ["16:30", "24:00"]]
    assert draft.settings["daily_limit"] == 100
    row = AuditRecord.objects.get(event="workflow.settings_changed")
    assert (row.old["daily_limit"], row.new["daily_limit"]) == (None, 100)


def test_without_hours_of_its_own_the_version_leaves_them_to_the_campaign(workflow, draft, english):
    english.post(url("settings", workflow.pk), settings_form(draft, use_window=""))

    draft.refresh_from_db()
    assert draft.settings["send_window"] is None


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ({"sat": "nine to five"}, "Write hours such as 09:00-18:00"),
        ({"sat": "18:00-09:00"}, "A range of Saturday ends before it begins"),
        ({"sat": "09:00-12:00, 11:00-13:00"}, "Two ranges of Saturday overlap."),
        ({"sat": "25:00-26:00"}, "A range of Saturday is not valid"),
        ({"timezone": "Mars/Base"}, "Mars/Base is not one of the available choices"),
        (
            dict.fromkeys(("sat", "sun", "mon", "tue", "wed", "thu"), ""),
            "The sending window has no open day.",
        ),
        ({"daily_limit": "-1"}, "greater than or equal to 0"),
    ],
)
def test_wrong_hours_are_named_by_day(workflow, draft, english, typed, text):
    answer = english.post(url("settings", workflow.pk), settings_form(draft, **typed))

    assert answer.status_code == 422
    assert text in answer.content.decode()


def test_settings_of_a_draft_that_changed_are_not_saved(workflow, draft, english):
    english.post(url("settings", workflow.pk), settings_form(draft, daily_limit="5"))
    answer = english.post(url("settings", workflow.pk), settings_form(draft, daily_limit="7"))

    draft.refresh_from_db()
    assert answer.status_code == 409
    assert draft.settings["daily_limit"] == 5
    assert 'value="7"' in answer.content.decode()


# The preview


def test_the_preview_renders_for_a_made_up_person(workspace, english):
    page = english.post(
        url("preview"), {"body": "سلام {first_name|دوست} از {workspace.name}"}
    ).content.decode()

    assert f"سلام سارا از {workspace.name}" in page
    assert "1 part<" in page


def test_the_preview_names_what_does_not_exist_and_what_may_be_missing(workspace, english):
    page = english.post(url("preview"), {"body": "{shoe_size} {city}"}).content.decode()

    assert "target.shoe_size" in page
    assert "Without a text for people who lack it: City." in page
    assert "They do not get this message." in page


def test_the_preview_counts_the_opt_out_text(workspace, english):
    SmsSettings.objects.create(workspace_id=workspace.pk, opt_out_text="لغو۱۱")
    page = english.post(url("preview"), {"body": "ب" * 70, "append_opt_out": "on"}).content.decode()

    assert "لغو۱۱" in page
    assert "2 parts" in page


def test_the_preview_escapes_what_was_typed(workspace, english):
    page = english.post(url("preview"), {"body": "<script>alert(1)</script>"}).content.decode()

    assert "<script>" not in page


def test_the_step_page_holds_preview_counter_and_variables(workflow, draft, english):
    page = english.get(url("step", workflow.pk, send_key(draft))).content.decode()

    assert 'id="preview"' in page
    assert "<part-counter" in page
    assert 'data-insert="{target.first_name}"' in page


@pytest.mark.parametrize("count", [1, 10])
def test_pages_of_a_draft_cost_the_same_whatever_its_size(
    workspace, owner, english, django_assert_max_num_queries, count
):
    workflow = publishing.create_workflow(name="w", template_key=None, user=owner)
    draft = WorkflowVersion.objects.get(workflow=workflow)
    start = draft.nodes.get(type="start").node_key
    for _number in range(count):
        draft.refresh_from_db()
        typed = {"base": str(Base.of(draft)), "at": f"{start}.default.0", "do": "insert:send_sms"}
        english.post(url("change", workflow.pk), typed)
    with django_assert_max_num_queries(15):
        english.get(url("builder", workflow.pk))
    with django_assert_max_num_queries(15):
        english.get(url("step", workflow.pk, send_key(draft)))
