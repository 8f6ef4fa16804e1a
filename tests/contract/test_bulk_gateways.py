"""What every gateway that takes many messages in one call must do: one result each, and never a guess."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sms.providers import melipayamak_soap
from sms.providers.base import BulkSmsGateway
from sms.providers.http import CallFault, Reply
from sms.simulator.server import Simulator
from sms.types import OutboundSms, Outcome, Pattern
from tests.contract.benches import BULK_BENCHES, BulkBench, names

TEXT = "تخفیف ویژه canary-text\nلغو11"
NUMBERS = ("09120000001", "09120000002", "09120000003")
SAME = [OutboundSms(to=number, text=TEXT) for number in NUMBERS]
OWN = [replace(sms, text=f"{place} {TEXT}") for place, sms in enumerate(SAME)]
SOON = 5.0


@pytest.fixture(params=BULK_BENCHES, ids=names)
def bench(request: pytest.FixtureRequest) -> BulkBench:
    chosen: BulkBench = request.param
    return chosen


@pytest.fixture
def simulator(tmp_path: Path) -> Iterator[Simulator]:
    running = Simulator(tmp_path / "provider")
    running.start()
    yield running
    running.stop()


@pytest.fixture
def gateway(bench: BulkBench, simulator: Simulator) -> BulkSmsGateway:
    return bench.make(simulator.url)


def met_by(simulator: Simulator, do: str, **how: object) -> None:
    simulator.behave({"rules": [{"do": do, **how}]})


def test_it_satisfies_the_protocol(gateway: BulkSmsGateway) -> None:
    assert isinstance(gateway, BulkSmsGateway)
    assert gateway.batch_limit == 100


def test_each_message_gets_its_own_id_in_one_request(gateway: BulkSmsGateway, simulator: Simulator) -> None:
    results = gateway.send_many(SAME, deadline_s=SOON)

    sent = [(message.number, message.text, message.id) for message in simulator.accepted()]
    assert sent == [(n, TEXT, result.provider_message_id) for n, result in zip(NUMBERS, results, strict=True)]
    assert {result.outcome for result in results} == {Outcome.ACCEPTED}
    assert len(simulator.requests()) == 1


def test_a_hundred_messages_are_one_request(gateway: BulkSmsGateway, simulator: Simulator) -> None:
    many = [OutboundSms(to=f"0912{n:07}", text=TEXT) for n in range(100)]

    results = gateway.send_many(many, deadline_s=SOON)

    assert [r.provider_message_id for r in results] == [message.id for message in simulator.accepted()]
    assert len(simulator.requests()) == 1


def test_a_recipient_that_is_left_out_is_the_only_one(
    bench: BulkBench, gateway: BulkSmsGateway, simulator: Simulator
) -> None:
    results = gateway.send_many([SAME[0], OutboundSms(to="123", text=TEXT), SAME[1]], deadline_s=SOON)

    assert [r.outcome for r in results] == [Outcome.ACCEPTED, bench.left_out, Outcome.ACCEPTED]
    assert [r.provider_message_id for r in results if r.provider_message_id] == [
        message.id for message in simulator.accepted()
    ]


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        ("7", Outcome.REFUSED),
        ("2", Outcome.UNAVAILABLE),
        ("3", Outcome.THROTTLED),
        ("6", Outcome.NOT_SENT),
        ("13", Outcome.IN_DOUBT),
    ],
)
def test_a_verdict_on_the_whole_call_is_everybodys(
    gateway: BulkSmsGateway, simulator: Simulator, code: str, outcome: Outcome
) -> None:
    met_by(simulator, "code", code=code)

    assert [r.outcome for r in gateway.send_many(SAME, deadline_s=SOON)] == [outcome] * 3


def test_a_text_without_the_way_out_may_not_share_a_call(gateway: BulkSmsGateway) -> None:
    assert gateway.batch_key(OutboundSms(to=NUMBERS[0], text="تخفیف")) is None


def test_an_approved_text_may_not_share_a_call(gateway: BulkSmsGateway) -> None:
    approved = replace(SAME[0], pattern=Pattern(body_id=1, variables=("a",)))

    assert gateway.batch_key(approved) is None


def test_only_messages_from_one_line_share_a_call(gateway: BulkSmsGateway) -> None:
    assert gateway.batch_key(SAME[0]) == gateway.batch_key(SAME[1])
    assert gateway.batch_key(SAME[0]) != gateway.batch_key(replace(SAME[1], sender="30007002"))


def test_peoples_own_texts_share_a_call_where_the_service_has_one(
    bench: BulkBench, gateway: BulkSmsGateway
) -> None:
    assert (gateway.batch_key(OWN[0]) == gateway.batch_key(OWN[1])) == bench.own_texts


@pytest.mark.parametrize("accept", [True, False])
@pytest.mark.parametrize(
    ("do", "how"),
    [
        ("close", {}),
        ("reset", {}),
        ("hang", {}),
        ("http", {"status": 500}),
        ("body", {}),
        ("body", {"body": ""}),
        ("body", {"body": "x" * 3_000_000}),
    ],
)
def test_a_lost_answer_leaves_everybody_in_doubt(
    gateway: BulkSmsGateway, simulator: Simulator, do: str, how: dict[str, object], accept: bool
) -> None:
    met_by(simulator, do, accept=accept, **how)

    results = gateway.send_many(SAME, deadline_s=0.3)

    assert [r.outcome for r in results] == [Outcome.IN_DOUBT] * 3
    assert len(simulator.accepted()) == 3 * accept


def test_an_answer_that_leaves_one_out_leaves_everybody_in_doubt(
    gateway: BulkSmsGateway, simulator: Simulator
) -> None:
    met_by(simulator, "short")

    results = gateway.send_many(SAME, deadline_s=SOON)

    assert [(r.outcome, r.provider_message_id) for r in results] == [(Outcome.IN_DOUBT, None)] * 3


def test_one_id_for_many_leaves_everybody_in_doubt(gateway: BulkSmsGateway, simulator: Simulator) -> None:
    met_by(simulator, "same_id")

    assert [r.outcome for r in gateway.send_many(SAME, deadline_s=SOON)] == [Outcome.IN_DOUBT] * 3


def test_a_closed_port_means_nobody_was_sent_to(bench: BulkBench, simulator: Simulator) -> None:
    simulator.stop()

    results = bench.make(simulator.url).send_many(SAME, deadline_s=SOON)

    assert [r.outcome for r in results] == [Outcome.NOT_SENT] * 3


def test_a_deadline_that_is_over_means_nobody_was_sent_to(
    gateway: BulkSmsGateway, simulator: Simulator
) -> None:
    results = gateway.send_many(SAME, deadline_s=0)

    assert [r.outcome for r in results] == [Outcome.NOT_SENT] * 3
    assert simulator.requests() == []


def test_wrong_credentials_close_the_account(bench: BulkBench, simulator: Simulator) -> None:
    results = bench.make(simulator.url, password="wrong").send_many(SAME, deadline_s=SOON)

    assert [r.outcome for r in results] == [Outcome.UNAVAILABLE] * 3


def test_no_number_or_text_is_in_what_is_kept_or_logged(
    gateway: BulkSmsGateway, simulator: Simulator, caplog: pytest.LogCaptureFixture
) -> None:
    met_by(simulator, "body", body=f"<p>{' '.join(NUMBERS)} {NUMBERS[0][1:]} {TEXT}</p>")
    with caplog.at_level(logging.DEBUG):
        results = gateway.send_many(SAME, deadline_s=SOON)

    seen = repr((gateway, SAME, results)) + caplog.text
    for secret in (*NUMBERS, NUMBERS[0][1:], "canary-text"):
        assert secret not in seen


@given(st.binary(max_size=300), st.integers(min_value=1, max_value=5))
@pytest.mark.parametrize("bench", BULK_BENCHES, ids=names)
def test_no_garbage_means_try_again(bench: BulkBench, body: bytes, count: int) -> None:
    results = bench.read(Reply(200, body), count)

    assert len(results) == count
    assert not any(result.outcome.surely_not_sent for result in results)


@pytest.mark.parametrize("bench", BULK_BENCHES, ids=names)
def test_a_fault_of_the_call_is_everybodys(bench: BulkBench) -> None:
    results = bench.read(CallFault("answer_timeout"), 4)

    assert [(r.outcome, r.code) for r in results] == [(Outcome.IN_DOUBT, "answer_timeout")] * 4


@pytest.fixture
def soap(simulator: Simulator) -> BulkSmsGateway:
    (chosen,) = [bench for bench in BULK_BENCHES if bench.own_texts]
    return chosen.make(simulator.url)


def test_each_person_gets_the_own_text_in_one_request(soap: BulkSmsGateway, simulator: Simulator) -> None:
    results = soap.send_many(OWN, deadline_s=SOON)

    assert [(m.number, m.text, m.id) for m in simulator.accepted()] == [
        (sms.to, sms.text, result.provider_message_id) for sms, result in zip(OWN, results, strict=True)
    ]
    assert len(simulator.requests()) == 1


def test_own_texts_with_one_recipient_left_out(soap: BulkSmsGateway) -> None:
    results = soap.send_many([OWN[0], replace(OWN[1], to="123"), OWN[2]], deadline_s=SOON)

    assert [r.outcome for r in results] == [Outcome.ACCEPTED, Outcome.REFUSED, Outcome.ACCEPTED]


@pytest.mark.parametrize(("do", "how"), [("short", {}), ("hang", {}), ("body", {})])
def test_own_texts_whose_answer_does_not_name_all_are_in_doubt(
    soap: BulkSmsGateway, simulator: Simulator, do: str, how: dict[str, object]
) -> None:
    met_by(simulator, do, accept=True, **how)

    assert [r.outcome for r in soap.send_many(OWN, deadline_s=0.5)] == [Outcome.IN_DOUBT] * 3


def multiple(result: str, ids: list[str], statuses: str) -> Reply:
    longs = "".join(f"<long>{one}</long>" for one in ids)
    body = (
        '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>'
        f'<SendMultipleSMSResponse xmlns="http://tempuri.org/"><SendMultipleSMSResult>{result}'
        f"</SendMultipleSMSResult><recId>{longs}</recId><status>{statuses}</status>"
        "</SendMultipleSMSResponse></soap:Body></soap:Envelope>"
    )
    return Reply(200, body.encode())


ID = "4707203589561557161"


@pytest.mark.parametrize(
    ("reply", "outcomes"),
    [
        (multiple("1", [ID, ID], "AAA="), [Outcome.ACCEPTED, Outcome.ACCEPTED]),
        (multiple("1", [ID, "0"], "AAE="), [Outcome.ACCEPTED, Outcome.REFUSED]),
        (multiple("1", [ID, ID], "AAE="), [Outcome.ACCEPTED, Outcome.IN_DOUBT]),  # not sent, and an id
        (multiple("1", [ID, "0"], "AAA="), [Outcome.ACCEPTED, Outcome.IN_DOUBT]),  # sent, and no id
        (multiple("1", [ID, "0"], "AAc="), [Outcome.ACCEPTED, Outcome.IN_DOUBT]),  # a status in no manual
        (multiple("1", [ID, ID], "%%"), [Outcome.IN_DOUBT] * 2),
        (multiple("1", [], ""), [Outcome.IN_DOUBT] * 2),
        (multiple("", [ID, ID], "AAA="), [Outcome.IN_DOUBT] * 2),
        (multiple("2", [], ""), [Outcome.UNAVAILABLE] * 2),
    ],
)
def test_ids_and_statuses_beside_the_answer_are_read_together(reply: Reply, outcomes: list[Outcome]) -> None:
    assert [r.outcome for r in melipayamak_soap.read_multiple(reply, 2)] == outcomes
