"""The list of inbound messages, a person's timeline, and the settings, as people see them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from automation.models import AutomationSettings
from core.tenancy import workspace_scope
from sms.models import InboundOutcome, InboundSettings, InboundSms
from targets.models import Target
from tests.clocks import MovableClock
from tests.factories import make
from tests.people import Answer
from tests.scenario import Scenario
from tests.sms.inbound.relaying import NUMBER, relay, token_of, write
from workspaces.models import AuditRecord, User, Workspace

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _standing_still(workspace: Workspace, clock: MovableClock) -> None:
    """In a workspace, at one moment."""


def listed(client: Client, **query: str) -> str:
    response = client.get(reverse("sms:inbound"), query)
    assert response.status_code == 200
    return response.content.decode()


def test_the_list_shows_who_wrote_what_and_what_it_did(workspace: Workspace, member_client: Client) -> None:
    make(Target, workspace, name="سارا", mobile=NUMBER)
    write(workspace, "لغو ۱۱")
    html = listed(member_client)

    assert all(text in html for text in ("سارا", NUMBER, "لغو ۱۱", "لغو کرد", "50004001"))


def test_a_message_that_waits_is_shown(workspace: Workspace, member_client: Client) -> None:
    relay(token_of(workspace), body="سلام")

    assert "هنوز بررسی نشده" in listed(member_client)


def test_fields_that_do_not_fit_are_shown(workspace: Workspace, member_client: Client) -> None:
    make(InboundSms, workspace, number="", sender="", text="", unread={"msg": "<b>hi</b>"})
    html = listed(member_client)

    assert "msg" in html
    assert "&lt;b&gt;hi" in html


def test_what_people_wrote_is_text(workspace: Workspace, member_client: Client) -> None:
    write(workspace, "<script>alert(1)</script>")

    assert "<script>alert(1)" not in listed(member_client)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({}, {"one", "لغو", "two"}),
        ({"effect": "opted_out"}, {"لغو"}),
        ({"effect": "nothing"}, {"one", "two"}),
        ({"effect": "waiting"}, set()),
        ({"effect": "nonsense"}, {"one", "لغو", "two"}),
        ({"number": "0912 345 6789"}, {"one", "لغو"}),
        ({"number": "۰۹۱۲۳۴"}, set()),
        ({"number": "۹۱۲۳۴"}, {"one", "لغو"}),
        ({"number": "abc"}, set()),
        ({"text": "tw"}, {"two"}),
        ({"since": "1405/09/09", "until": "1405/09/09"}, {"one", "لغو", "two"}),
        ({"until": "1405/09/08"}, set()),
        ({"since": "yesterday"}, {"one", "لغو", "two"}),
    ],
)
def test_filters_narrow_the_list(
    workspace: Workspace, member_client: Client, query: dict[str, str], found: set[str]
) -> None:
    write(workspace, "one", number=NUMBER[1:])
    write(workspace, "لغو", number=NUMBER[1:])
    write(workspace, "two", number="9350000000")
    response = member_client.get(reverse("sms:inbound"), query)

    assert {line["row"].text for line in response.context["lines"]} == found


def test_a_page_costs_the_same_however_many_there_are(workspace: Workspace, member_client: Client) -> None:
    costs = []
    for count in (1, 1, 40):
        for _ in range(count):
            person = make(Target, workspace)
            outcome = {"subject_type": "target", "subject_id": person.pk, "effect": "nothing"}
            make(InboundOutcome, workspace, **outcome)
        with CaptureQueriesContext(connection) as queries:
            listed(member_client)
        costs.append(len(queries))

    assert costs[1] == costs[2]


def test_the_list_is_cut_into_pages(workspace: Workspace, member_client: Client) -> None:
    for _ in range(51):
        make(InboundSms, workspace)
    response = member_client.get(reverse("sms:inbound"), {"page": "2"})

    assert len(response.context["lines"]) == 1


def test_another_workspace_s_messages_are_not_shown(
    workspace: Workspace, other_workspace: Workspace, member_client: Client
) -> None:
    with workspace_scope(other_workspace.pk):
        make(InboundSms, other_workspace, text="theirs")

    assert "theirs" not in listed(member_client)


def test_while_automation_is_off_there_is_no_list(workspace: Workspace, member_client: Client) -> None:
    AutomationSettings.objects.create(workspace=workspace, enabled=False)

    assert member_client.get(reverse("sms:inbound")).status_code == 404


# -- a person's timeline ------------------------------------------------------------------------------


def timeline(client: Client, target: Target) -> str:
    url = reverse("targets:detail", kwargs={"target_id": target.pk})
    return client.get(url, {"tab": "automation"}).content.decode()


def test_the_timeline_tells_what_the_person_wrote_between_what_happened(
    workspace: Workspace, clock: MovableClock, member_client: Client
) -> None:
    scenario = Scenario()
    scenario.settle()
    clock.advance(hours=1)
    write(workspace, "چقدر می‌شود؟", number=scenario.targets[0].mobile)
    html = timeline(member_client, scenario.targets[0])

    assert "پیام دریافتی" in html
    assert html.index("چقدر می‌شود؟") < html.index(scenario.logs()[0].final_message)


def test_what_somebody_else_wrote_from_the_same_number_stays_theirs(
    workspace: Workspace, member_client: Client
) -> None:
    before = make(Target, workspace, mobile=NUMBER)
    write(workspace, "پیام صاحب قبلی")
    before.mobile = "09120000001"
    before.save()
    now = make(Target, workspace, mobile=NUMBER)

    assert "پیام صاحب قبلی" in timeline(member_client, before)
    assert "پیام صاحب قبلی" not in timeline(member_client, now)


def test_a_message_from_before_the_person_was_known_is_theirs(
    workspace: Workspace, member_client: Client
) -> None:
    write(workspace, "من را اضافه کنید")

    assert "من را اضافه کنید" in timeline(member_client, make(Target, workspace, mobile=NUMBER))


def test_a_timeline_costs_the_same_however_much_was_written(
    workspace: Workspace, clock: MovableClock, member_client: Client
) -> None:
    scenario = Scenario()
    scenario.settle()
    person, costs = scenario.targets[0], []
    for count in (1, 1, 25):
        for _ in range(count):
            row = make(InboundSms, workspace, number=person.mobile)
            make(InboundOutcome, workspace, inbound=row, subject_type="target", subject_id=person.pk)
        with CaptureQueriesContext(connection) as queries:
            timeline(member_client, person)
        costs.append(len(queries))

    assert costs[1] == costs[2]


# -- settings -----------------------------------------------------------------------------------------

GOOD = {
    "opt_out_words": "دیگه نفرست\nنمی‌خوام\nنميخوام",
    "opt_in_words": "بازگشت",
    "confirmation": "لغو شد.  متشکریم",
    "sender_param": "sender",
    "line_param": "line",
    "text_param": "msg",
    "reference_param": "id",
}


def save(client: Client, **values: str) -> Answer:
    return client.post(reverse("sms:inbound-settings"), {**GOOD, **values})


def test_settings_are_saved_and_audited(workspace: Workspace, member_client: Client) -> None:
    response = save(member_client)

    row = InboundSettings.objects.get()
    assert response.status_code == 302
    assert (row.opt_out_words, row.opt_in_words) == (["دیگه نفرست", "نمی‌خوام"], ["بازگشت"])
    assert (row.confirmation, row.sender_param) == ("لغو شد. متشکریم", "sender")
    assert AuditRecord.objects.get(event="sms.inbound_changed").new["text_param"] == "msg"


def test_saving_the_same_again_changes_nothing(workspace: Workspace, member_client: Client) -> None:
    for _ in range(2):
        save(member_client)

    assert AuditRecord.objects.filter(event="sms.inbound_changed").count() == 1


def test_new_names_and_words_count_at_once(workspace: Workspace, member_client: Client) -> None:
    save(member_client)
    query = {"sender": NUMBER, "msg": "نمي خوام", "line": "5000"}
    response = Client().get(reverse("sms:relay", kwargs={"token": token_of(workspace)}), query)

    assert (response.status_code, InboundSms.objects.get().text) == (200, "نمي خوام")


@pytest.mark.parametrize(
    "values",
    [
        {"opt_out_words": "!!!"},
        {"opt_out_words": "ا" * 61},
        {"opt_out_words": "\n".join(f"w{i}" for i in range(51))},
        {"opt_in_words": "لغو"},
        {"opt_in_words": "ديگه نفرست"},
        {"confirmation": "لغو"},
        {"confirmation": "م" * 301},
        {"sender_param": ""},
        {"sender_param": "a b"},
        {"sender_param": "a&b=c"},
        {"sender_param": "MSG"},
        {"text_param": "متن"},
        {"reference_param": "x" * 31},
    ],
)
def test_wrong_settings_are_refused_in_words(
    workspace: Workspace, member_client: Client, values: dict[str, str]
) -> None:
    response = save(member_client, **values)

    assert (response.status_code, InboundSettings.objects.count()) == (422, 0)
    assert 'role="alert"' in response.content.decode()


def test_the_page_shows_the_relay_address_to_copy(workspace: Workspace, member_client: Client) -> None:
    token = token_of(workspace)
    save(member_client)
    html = member_client.get(reverse("sms:inbound-settings")).content.decode()

    address = f"http://testserver/api/webhooks/sms/inbound/{token}?sender=$FROM$&amp;line=$TO$&amp;msg=$TEXT$"
    assert address in html


def test_a_marketer_reads_messages_and_not_the_relay_address(
    workspace: Workspace, marketer: User, client_of: Callable[..., Client]
) -> None:
    client = client_of(marketer)

    assert reverse("sms:inbound-settings") not in listed(client)
    assert client.get(reverse("sms:inbound-settings")).status_code == 403


def test_a_seller_sees_no_list(workspace: Workspace, seller: User, client_of: Callable[..., Client]) -> None:
    answer: Any = client_of(seller).get(reverse("sms:inbound"))

    assert answer.status_code == 403
