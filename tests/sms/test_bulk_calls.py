from __future__ import annotations

import time
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from uuid import uuid4

import pytest

from sms.bulk_calls import Caller, Offer, calls_of
from sms.channel import Account
from sms.models import ProviderAccount, SmsLog
from sms.simulator.server import Simulator
from sms.types import CreditResult, DeliveryReport, OutboundSms, Outcome, SendResult
from tests.clocks import MovableClock
from tests.scenario import Scenario, send
from tests.sms.simulator_fixture import gateway_to, generic_gateway_to, soap_gateway_to

OPT_OUT = "لغو11"


@dataclass
class Scripted:
    """A gateway that answers for as many messages as `answers` has, whatever it was asked."""

    answers: list[SendResult] = field(default_factory=list)
    calls: list[int] = field(default_factory=list)
    key: str = "scripted"
    batch_limit: int = 100

    def batch_key(self, sms: OutboundSms) -> Hashable | None:
        return sms.text or None

    def send_many(self, messages: Sequence[OutboundSms], *, deadline_s: float) -> list[SendResult]:
        self.calls.append(len(messages))
        return self.answers

    def send(self, sms: OutboundSms, *, deadline_s: float) -> SendResult:
        self.calls.append(1)
        return self.answers[0]

    def deliveries(self, ids: Sequence[str]) -> list[DeliveryReport]:
        return []

    def credit(self) -> CreditResult:
        return CreditResult(outcome=Outcome.REFUSED)

    def lines(self) -> list[str]:
        return []


def account(gateway: object, **fields: object) -> Account:
    values = {"lines": ("50001",), "batch_size": 100, **fields}
    return Account(id=uuid4(), kind="x", gateway=gateway, **values)  # type: ignore[arg-type]


def offers(owner: Account, *texts: str) -> list[Offer]:
    return [
        Offer(place=n, account=owner, sms=OutboundSms(to=f"0912{n:07}", text=text, sender="50001"))
        for n, text in enumerate(texts)
    ]


def shapes(calls: list[list[Offer]]) -> list[list[int]]:
    return [[offer.place for offer in call] for call in calls]


def test_one_text_for_many_is_one_call() -> None:
    owner = account(gateway_to("http://127.0.0.1:1"))

    assert shapes(calls_of(offers(owner, *[OPT_OUT] * 3))) == [[0, 1, 2]]


def test_other_texts_go_in_calls_of_their_own() -> None:
    owner = account(gateway_to("http://127.0.0.1:1"))

    assert shapes(calls_of(offers(owner, OPT_OUT, "b", OPT_OUT, "b " + OPT_OUT))) == [[0, 2], [1], [3]]


def test_own_texts_share_a_call_where_the_service_has_one() -> None:
    owner = account(soap_gateway_to("http://127.0.0.1:1"))

    assert shapes(calls_of(offers(owner, "a " + OPT_OUT, "b " + OPT_OUT, "c"))) == [[0, 1], [2]]


def test_no_call_is_larger_than_the_account_wants() -> None:
    owner = account(gateway_to("http://127.0.0.1:1"), batch_size=2)

    assert shapes(calls_of(offers(owner, *[OPT_OUT] * 5))) == [[0, 1], [2, 3], [4]]


def test_no_call_is_larger_than_the_provider_takes() -> None:
    owner = account(gateway_to("http://127.0.0.1:1"), batch_size=500)

    assert [len(call) for call in calls_of(offers(owner, *[OPT_OUT] * 150))] == [100, 50]


@pytest.mark.parametrize("fields", [{"batch_size": 1}, {"half_open": True}])
def test_messages_go_alone_unless_the_account_says_otherwise(fields: dict[str, object]) -> None:
    owner = account(gateway_to("http://127.0.0.1:1"), **fields)

    assert shapes(calls_of(offers(owner, *[OPT_OUT] * 2))) == [[0], [1]]


def test_a_gateway_without_such_a_call_sends_one_by_one() -> None:
    owner = account(generic_gateway_to("http://127.0.0.1:1"))

    assert shapes(calls_of(offers(owner, *[OPT_OUT] * 2))) == [[0], [1]]


def test_accounts_do_not_share_a_call() -> None:
    gateway = gateway_to("http://127.0.0.1:1")
    mixed = [*offers(account(gateway), OPT_OUT), *offers(account(gateway), OPT_OUT)]

    assert len(calls_of(mixed)) == 2


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_gateway_that_answers_for_others_leaves_everybody_in_doubt(count: int) -> None:
    gateway = Scripted([SendResult(outcome=Outcome.ACCEPTED, provider_message_id="1")] * count)
    call = offers(account(gateway), "a", "a")

    results = Caller(time.monotonic() + 5)(call)

    assert [(r.outcome, r.code) for r in results] == [(Outcome.IN_DOUBT, "internal_error")] * 2


def test_after_a_closed_door_nobody_knocks_again() -> None:
    gateway = Scripted([SendResult(outcome=Outcome.UNAVAILABLE, code="2")] * 2)
    call, owner = Caller(time.monotonic() + 5), account(gateway)
    call(offers(owner, "a", "a"))

    results = call(offers(owner, "b", "b", "b"))

    assert [r.code for r in results] == ["channel_closed"] * 3
    assert gateway.calls == [2]


def test_what_has_not_begun_in_time_is_surely_not_sent() -> None:
    gateway = Scripted()

    results = Caller(time.monotonic() - 1)(offers(account(gateway), "a", "a"))

    assert [(r.outcome, r.code) for r in results] == [(Outcome.NOT_SENT, "too_late")] * 2
    assert gateway.calls == []


@pytest.fixture
def campaign(simulator: Simulator, workspace: object, clock: MovableClock) -> Scenario:
    """Thirty people who get one text, from an account that sends up to twenty at once."""
    scenario = Scenario(send("تخفیف " + OPT_OUT), people=30, provider_url=simulator.url)
    ProviderAccount.objects.update(batch_size=20)
    return scenario


@pytest.mark.django_db
def test_a_campaign_of_one_text_takes_few_requests(campaign: Scenario, simulator: Simulator) -> None:
    campaign.settle()

    assert len(simulator.requests()) == 2
    sent = dict(SmsLog.objects.values_list("phone_number", "provider_message_id"))
    assert sent == {message.number: message.id for message in simulator.accepted()}
    assert campaign.statuses() == {"completed": 30}


@pytest.mark.django_db
def test_a_lost_answer_puts_its_own_messages_in_doubt_and_sends_none_again(
    campaign: Scenario, simulator: Simulator
) -> None:
    simulator.behave({"rules": [{"do": "close", "accept": True}]})

    campaign.settle()

    assert set(SmsLog.objects.values_list("status", flat=True)) == {"unknown"}
    numbers = [message.number for message in simulator.accepted()]
    assert (len(numbers), len(set(numbers))) == (30, 30)


@pytest.mark.django_db
def test_an_answer_that_leaves_one_out_sends_none_again(campaign: Scenario, simulator: Simulator) -> None:
    simulator.behave({"rules": [{"do": "short"}]})

    campaign.settle()

    numbers = [message.number for message in simulator.accepted()]
    assert len(numbers) == len(set(numbers)) == 30
