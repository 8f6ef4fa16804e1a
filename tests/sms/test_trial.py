"""The test message of the settings page: a row like any other, and one request at most."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID, uuid4

import pytest

from blacklist import actions as blacklist_actions
from core.errors import Refused
from sms.models import ProviderAccount, SmsLog, SmsStatus
from sms.simulator.server import Simulator
from sms.trial import AlreadySent, NumberBlocked, send_test
from sms.types import Outcome, SendResult
from tests.clocks import MovableClock
from tests.sms.messages import make_account, make_log
from tests.sms.simulator_fixture import LINE
from workspaces.models import AuditRecord, User, Workspace

NUMBER = "09123456789"
Send = Callable[..., SendResult]


@pytest.fixture
def account(workspace: Workspace, simulator: Simulator) -> ProviderAccount:
    return make_account(workspace, simulator.url)


@pytest.fixture
def send(account: ProviderAccount, owner: User, clock: MovableClock) -> Send:
    def go(key: UUID | None = None, to: str = NUMBER) -> SendResult:
        return send_test(account, to=to, text="سلام", sender=LINE, key=key or uuid4(), user=owner)

    return go


def test_a_test_is_sent_and_on_record(send: Send, simulator: Simulator, account: ProviderAccount) -> None:
    result = send()

    (message,) = simulator.accepted()
    row = SmsLog.objects.get()
    assert result.outcome is Outcome.ACCEPTED
    assert (row.producer, row.status, row.provider_account_id) == ("test", SmsStatus.SUBMITTED, account.pk)
    assert (row.phone_number, row.final_message, row.segments) == (NUMBER, "سلام", 1)
    assert row.provider_message_id == message.id
    assert row.poll_at is not None
    assert AuditRecord.objects.get().event == "sms.test_sent"


def test_the_row_is_on_record_before_the_provider_is_called(
    send: Send, simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    monkeypatch.setattr("sms.channel.gateway_of", lambda account: _Broken(seen))

    with pytest.raises(RuntimeError):
        send()

    assert seen == [SmsStatus.SENDING]
    assert SmsLog.objects.get().status == SmsStatus.SENDING


class _Broken:
    def __init__(self, seen: list[str]) -> None:
        self._seen = seen

    def send(self, *args: object, **options: object) -> SendResult:
        self._seen.append(SmsLog.objects.get().status)
        raise RuntimeError("killed")


def test_the_same_wish_is_sent_once(send: Send, simulator: Simulator) -> None:
    key = uuid4()
    send(key)

    with pytest.raises(AlreadySent):
        send(key)

    assert len(simulator.requests()) == 1


def test_a_second_wish_is_sent_again(send: Send, simulator: Simulator) -> None:
    send()
    send()

    assert len(simulator.accepted()) == 2


def test_a_blocked_number_gets_no_test(send: Send, simulator: Simulator, workspace: Workspace) -> None:
    blacklist_actions.add(
        workspace_id=workspace.pk, channel="sms", values=[NUMBER], source="manual", reason="manual", user=None
    )

    with pytest.raises(NumberBlocked):
        send()

    assert simulator.requests() == []
    assert SmsLog.objects.count() == 0


def test_a_number_with_a_message_on_the_wire_has_to_wait(
    send: Send, simulator: Simulator, workspace: Workspace
) -> None:
    make_log(workspace, phone_number=NUMBER, status=SmsStatus.SENDING)

    with pytest.raises(Refused):
        send()

    assert simulator.requests() == []


@pytest.mark.parametrize(
    ("rule", "status", "code"),
    [
        ({"do": "code", "code": "7"}, SmsStatus.REJECTED, "7"),
        ({"do": "code", "code": "2"}, SmsStatus.FAILED, "2"),
        ({"do": "code", "code": "13"}, SmsStatus.UNKNOWN, "13"),
        ({"do": "close", "accept": True}, SmsStatus.UNKNOWN, "connection_lost"),
    ],
)
def test_the_outcome_is_on_record(
    send: Send, simulator: Simulator, rule: dict[str, object], status: str, code: str
) -> None:
    simulator.behave({"rules": [rule]})

    send()

    row = SmsLog.objects.get()
    assert (row.status, row.error_code, row.provider_message_id) == (status, code, "")
    assert row.response_at is not None
