"""What is particular to SOAP. That it keeps the port's promises is told by the contract suite."""

from __future__ import annotations

import socket
from datetime import UTC, datetime, timedelta

import pytest
import zeep

from core import clock
from sms.providers import soap_wire
from sms.providers.http import Reply
from sms.providers.melipayamak_soap import MelipayamakSoapGateway, read_credit, read_deliveries, rows_of
from sms.simulator.server import PASSWORD, USERNAME, Simulator
from sms.types import DeliveryStatus, OutboundSms, Outcome
from tests.sms.simulator_fixture import LINE, soap_gateway_to

SMS = OutboundSms(to="09123456789", text="سلام <b>&amp; دنیا")
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


def envelope(inner: str) -> Reply:
    body = (
        '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>'
        f"{inner}</soap:Body></soap:Envelope>"
    )
    return Reply(200, body.encode())


def test_nothing_is_fetched_before_a_message_leaves(
    simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    soap_wire._client.cache_clear()
    soap_wire._operation.cache_clear()
    asked: list[object] = []
    real = socket.getaddrinfo

    def look_up(host: object, *args: object, **options: object) -> object:
        asked.append(host)
        return real(host, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    result = soap_gateway_to(simulator.url).send(SMS, deadline_s=5)

    assert result.outcome is Outcome.ACCEPTED
    assert simulator.served == 1
    assert set(asked) == {"127.0.0.1"}


def test_the_description_imports_nothing() -> None:
    text = soap_wire.WSDL.read_text("utf-8")

    assert "import" not in text.replace("public manuals", "")
    assert "schemaLocation" not in text


def test_signs_of_the_markup_arrive_as_they_were_written(simulator: Simulator) -> None:
    soap_gateway_to(simulator.url).send(SMS, deadline_s=5)

    assert simulator.accepted()[0].text == SMS.text


def test_what_xml_can_not_carry_is_left_out_and_is_no_crash(simulator: Simulator) -> None:
    odd = OutboundSms(to="09123456789", text="a\x00b\x0bc\ud800d\ufffe\n\te")

    result = soap_gateway_to(simulator.url).send(odd, deadline_s=5)

    assert result.outcome is Outcome.ACCEPTED
    assert simulator.accepted()[0].text == "abcd\n\te"


def test_many_deliveries_are_asked_for_in_one_request(simulator: Simulator) -> None:
    simulator.behave({"delivery": {"after_s": 0, "numbers": {"09120000002": "undelivered"}}})
    gateway = soap_gateway_to(simulator.url)
    ids = [
        gateway.send(OutboundSms(to=f"0912000000{n}", text="x"), deadline_s=5).provider_message_id or ""
        for n in (1, 2)
    ]
    before = simulator.served

    reports = gateway.deliveries(ids)

    assert [(one.provider_message_id, one.status) for one in reports] == [
        (ids[0], DeliveryStatus.DELIVERED),
        (ids[1], DeliveryStatus.UNDELIVERED),
    ]
    assert simulator.served == before + 1


def test_an_id_the_services_type_can_not_hold_is_not_asked_for(simulator: Simulator) -> None:
    assert soap_gateway_to(simulator.url).deliveries(["9" * 25]) == []
    assert simulator.served == 0


def test_deliveries_that_do_not_name_every_message_are_none() -> None:
    reply = envelope(
        '<GetDeliveriesResponse xmlns="http://tempuri.org/"><GetDeliveriesResult><int>1</int>'
        "</GetDeliveriesResult></GetDeliveriesResponse>"
    )

    assert read_deliveries(["1" * 19, "2" * 19], reply) == []


def test_credit_of_zero_is_told_from_a_wrong_password(simulator: Simulator) -> None:
    simulator.behave({"accounts": [{"credit": 0}]})

    assert soap_gateway_to(simulator.url).credit().amount == 0
    assert soap_gateway_to(simulator.url, password="x").credit().code == "0"


@pytest.mark.parametrize("value", ["", "NaN", "Infinity", "ده", "1e400"])
def test_credit_that_is_no_amount_is_none(value: str) -> None:
    reply = envelope(
        '<GetCreditResponse xmlns="http://tempuri.org/"><GetCreditResult>'
        f"{value}</GetCreditResult></GetCreditResponse>"
    )

    assert read_credit(reply).outcome in (Outcome.IN_DOUBT, Outcome.ACCEPTED)
    assert read_credit(reply).amount is None or read_credit(reply).amount.is_finite()


def test_the_outbox_is_read(simulator: Simulator) -> None:
    gateway = soap_gateway_to(simulator.url)
    gateway.send(SMS, deadline_s=5)

    outbox = gateway.outbox(since=LONG_AGO, max_pages=2)

    (entry,) = outbox.entries
    assert (entry.to, entry.text, entry.sender) == (SMS.to[-10:], SMS.text, LINE)
    assert abs(entry.sent_at - clock.now()) < timedelta(minutes=1)


def test_an_empty_outbox_proves_nothing(simulator: Simulator) -> None:
    """A wrong password gets an empty list too."""
    assert soap_gateway_to(simulator.url).outbox(since=LONG_AGO, max_pages=2).covers_since is None


def test_a_fault_of_the_service_is_no_list() -> None:
    fault = envelope("<soap:Fault><faultcode>x</faultcode><faultstring>y</faultstring></soap:Fault>")

    assert rows_of(fault) == "unreadable_answer"


@pytest.mark.parametrize(
    "body",
    [
        b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><x>&b;</x>',
        b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><x>&a;</x>',
        b'<!DOCTYPE x SYSTEM "http://127.0.0.1:1/x.dtd"><x/>',
    ],
)
def test_entities_and_outside_declarations_are_refused(body: bytes) -> None:
    assert soap_wire.read("SendSimpleSMS2", body) is None


def test_any_soap_client_can_talk_to_the_simulator_by_the_description_it_serves(simulator: Simulator) -> None:
    client = zeep.Client(simulator.url + "/post/Send.asmx?wsdl")
    credentials = {"username": USERNAME, "password": PASSWORD}
    line = {"from": LINE, "isflash": False}

    one = client.service.SendSimpleSMS2(**credentials, **line, to="09123456789", text="hello")
    many = client.service.SendSimpleSMS(
        **credentials, **line, to={"string": ["09120000001", "09120000002"]}, text="لغو11"
    )
    client.transport.session.close()

    assert [one, *many] == [message.id for message in simulator.accepted()]


def test_the_gateway_is_cheap_to_make() -> None:
    assert isinstance(soap_gateway_to("https://api.payamak-panel.com"), MelipayamakSoapGateway)
