"""The relay: who may use it, what is kept, and that the same message is kept once."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from automation.models import AutomationSettings
from blacklist.models import Channel
from blacklist.queries import is_blocked
from core.tenancy import workspace_scope
from sms.inbound import relay as relaying_view
from sms.models import InboundPending, InboundSms, SmsSettings
from tests.clocks import MovableClock
from tests.concurrency.threads import at_once
from tests.people import make_workspace
from tests.sms.inbound.relaying import LINE, NUMBER, address, relay, token_of, write
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db


@pytest.fixture
def token(workspace: Workspace, clock: MovableClock) -> str:
    return token_of(workspace)


def test_a_message_is_kept_as_it_was_written(token: str, clock: MovableClock) -> None:
    response = relay(token, body="لغو ۱۱", retid="4786346122764072700")

    row = InboundSms.objects.get()
    assert (response.status_code, response.content) == (200, b"OK")
    assert (row.sender, row.number, row.line, row.text) == (NUMBER[1:], NUMBER, LINE, "لغو ۱۱")
    assert (row.reference, row.received_at, row.unread) == ("4786346122764072700", clock.at, {})
    assert InboundPending.objects.get().inbound_id == row.pk


def test_it_may_be_posted(token: str) -> None:
    body = f"from={NUMBER}&body={quote('سلام')}"
    kind = "application/x-www-form-urlencoded"
    response = Client().generic("POST", address(token), body, content_type=kind)

    assert (response.status_code, InboundSms.objects.get().text) == (200, "سلام")


def test_every_good_request_has_the_same_answer(token: str, workspace: Workspace) -> None:
    def told(**fields: str) -> tuple[int, bytes, dict[str, str]]:
        response = relay(token, **fields)
        return response.status_code, response.content, dict(response.headers)

    answers = [
        told(body="لغو"),
        told(body="لغو"),
        told(body="لغو", **{"from": "MCI"}),
        told(body="hello", **{"from": "9350000000"}),
    ]

    assert all(answer == answers[0] for answer in answers)


def test_nobody_keeps_the_answer(token: str) -> None:
    assert relay(token).headers["Cache-Control"] == "no-store"


def test_a_request_without_fields_keeps_nothing(token: str) -> None:
    response = Client().get(address(token))

    assert (response.status_code, InboundSms.objects.count()) == (200, 0)


@pytest.mark.parametrize("method", ["HEAD", "PUT", "DELETE", "PATCH"])
def test_only_get_and_post_bring_messages(token: str, method: str) -> None:
    response = Client().generic(method, f"{address(token)}?from={NUMBER}&body=hi")

    assert (response.status_code, InboundSms.objects.count()) == (405, 0)


def test_fields_under_other_names_are_kept_for_the_operator(token: str) -> None:
    Client().get(f"{address(token)}?sender={NUMBER}&msg=hi")

    assert InboundSms.objects.get().unread == {"sender": NUMBER, "msg": "hi"}


# -- who may use it -----------------------------------------------------------------------------------


def refusals(workspace: Workspace, token: str) -> Iterator[tuple[int, bytes]]:
    for wrong in ("x" * 43, token[:-1], token.swapcase(), "نه" * 20, "a/../" * 4):
        response = Client().get(f"/api/webhooks/sms/inbound/{quote(wrong, safe='')}?from={NUMBER}&body=hi")
        yield response.status_code, response.content
    workspace.is_active = False
    workspace.save()
    response = relay(token)
    yield response.status_code, response.content


def test_every_refusal_is_the_webhook_s_404(workspace: Workspace, token: str) -> None:
    answers = list(refusals(workspace, token))
    webhook = Client().post(f"/api/webhooks/sms/generic/{'x' * 43}", "{}", content_type="application/json")

    assert InboundSms.objects.count() == 0
    assert {status for status, _body in answers} == {404}
    own = {body for status, body in answers if body.startswith(b"{")}
    assert own == {webhook.content}


@pytest.mark.usefixtures("token")
def test_a_no_is_heard_while_automation_is_off(workspace: Workspace) -> None:
    AutomationSettings.objects.create(workspace=workspace, enabled=False)

    write(workspace, "لغو")

    assert is_blocked(workspace.pk, Channel.SMS, NUMBER)


def test_a_renewed_address_replaces_the_old_one(token: str) -> None:
    SmsSettings.objects.update(webhook_token="n" * 43)

    assert (relay(token).status_code, relay("n" * 43).status_code) == (404, 200)


def test_a_token_brings_messages_to_its_own_workspace(token: str, other_workspace: Workspace) -> None:
    relay(token_of(other_workspace))

    assert InboundSms.objects.count() == 0
    with workspace_scope(other_workspace.pk):
        assert InboundSms.objects.count() == 1


def test_a_closed_workspace_takes_nothing(workspace: Workspace, token: str) -> None:
    workspace.is_active = False
    workspace.save()

    assert relay(token).status_code == 404


# -- hostile input ------------------------------------------------------------------------------------


def post(token: str, body: bytes, kind: str = "application/x-www-form-urlencoded") -> int:
    return Client().generic("POST", address(token), body, content_type=kind).status_code


def test_a_body_of_a_megabyte_is_refused(token: str) -> None:
    assert post(token, b"from=09123456789&body=" + b"x" * 1_000_000) == 413
    assert post("x" * 43, b"x" * 1_000_000) == 404
    assert InboundSms.objects.count() == 0


def test_64_kilobytes_are_taken(token: str) -> None:
    head = b"from=09123456789&body="

    assert post(token, head + b"x" * (65_536 - len(head))) == 200
    assert len(InboundSms.objects.get().text) == 20_000


def test_what_is_no_form_is_refused(token: str) -> None:
    assert post(token, b"{", "application/json") == 400
    assert post(token, b"x=1&" * 50) == 400
    assert InboundSms.objects.count() == 0


@pytest.mark.parametrize(
    "text", ["\x00", "a\x00b", "\u202eevil\u202c", "😀" * 400, "'; DROP TABLE x;--", "{{ 7 }}"]
)
def test_odd_texts_are_stored(token: str, text: str) -> None:
    relay(token, body=text)

    assert InboundSms.objects.get().text == text.replace("\x00", "\ufffd")


def test_a_flood_is_stopped(token: str, monkeypatch: pytest.MonkeyPatch, clock: MovableClock) -> None:
    monkeypatch.setattr(relaying_view, "MESSAGES_PER_MINUTE", 3)
    statuses = [relay(token, body=f"number {i}").status_code for i in range(5)]
    clock.advance(minutes=1)

    assert statuses == [200, 200, 200, 429, 429]
    assert relay(token, body="again").status_code == 200
    assert InboundSms.objects.count() == 4


def test_a_message_costs_a_constant_number_of_statements(token: str) -> None:
    costs = []
    for count in range(3):
        with CaptureQueriesContext(connection) as queries:
            relay(token, body=f"text {count}")
        costs.append(len(queries))

    assert costs[0] == costs[1] == costs[2]
    assert costs[0] <= 10


# -- once ---------------------------------------------------------------------------------------------


def test_a_message_that_is_passed_on_again_is_kept_once(token: str) -> None:
    for _ in range(3):
        relay(token, body="لغو", retid="4786346122764072700")

    assert InboundSms.objects.count() == 1


def test_a_replay_after_months_is_none(token: str, clock: MovableClock) -> None:
    relay(token, body="لغو", retid="4786346122764072700")
    clock.advance(days=200)
    relay(token, body="لغو", retid="4786346122764072700")

    assert InboundSms.objects.count() == 1


def test_one_id_for_two_messages_loses_neither(token: str) -> None:
    relay(token, body="سلام", retid="12345678")
    relay(token, body="لغو", retid="12345678")

    assert InboundSms.objects.count() == 2


def test_without_an_id_the_same_text_within_minutes_is_one(token: str, clock: MovableClock) -> None:
    relay(token, body="لغو")
    clock.advance(minutes=4)
    relay(token, body="لغو")
    clock.advance(minutes=2)
    relay(token, body="لغو")

    assert InboundSms.objects.count() == 2


def test_no_yes_no_is_heard_three_times(token: str, clock: MovableClock) -> None:
    for text in ("لغو", "۱۲", "لغو"):
        relay(token, body=text)
        clock.advance(seconds=20)

    assert list(InboundSms.objects.order_by("pk").values_list("text", flat=True)) == ["لغو", "۱۲", "لغو"]


def test_the_same_text_of_another_person_is_another_message(token: str) -> None:
    relay(token, body="لغو")
    relay(token, body="لغو", **{"from": "9120000000"})

    assert InboundSms.objects.count() == 2


def test_what_is_from_nobody_is_kept_once_in_a_while(token: str, clock: MovableClock) -> None:
    relay(token, **{"from": "MCI"})
    relay(token, **{"from": "MCI"})
    clock.advance(minutes=5)
    relay(token, **{"from": "MCI"})

    assert InboundSms.objects.count() == 2


@pytest.mark.concurrency
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("reference", ["", "4786346122764072700"])
def test_twins_at_the_same_moment_are_one(reference: str) -> None:
    workspace = make_workspace("twins")
    token = token_of(workspace)
    statuses = at_once(
        8, lambda _i: relay(token, body="لغو", retid=reference).status_code, workspace_id=workspace.pk
    )

    assert statuses == [200] * 8
    with workspace_scope(workspace.pk):
        assert InboundSms.objects.count() == 1
