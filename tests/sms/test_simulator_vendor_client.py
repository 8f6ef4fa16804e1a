"""The provider's own public client talks to the simulator as it does to the provider."""

from __future__ import annotations

import pytest
from melipayamak.sms.rest import Rest
from melipayamak.sms.soap import Soap

from sms.simulator.server import PASSWORD, USERNAME, Simulator
from tests.sms.simulator_fixture import LINE


@pytest.fixture
def client(simulator: Simulator, monkeypatch: pytest.MonkeyPatch) -> Rest:
    monkeypatch.setattr(Rest, "PATH", simulator.url + "/api/SendSMS/%s")
    return Rest(USERNAME, PASSWORD)


def test_the_vendor_client_sends(client: Rest, simulator: Simulator) -> None:
    answer = client.send("09123456789", LINE, "سلام دنیا")

    assert answer["RetStatus"] == 1
    assert answer["StrRetStatus"] == "Ok"
    (message,) = simulator.accepted()
    assert (message.number, message.sender, message.text) == ("09123456789", LINE, "سلام دنیا")
    assert answer["Value"] == message.id
    assert len(message.id) == 19


def test_the_vendor_client_sends_to_many_and_gets_ids_in_order(client: Rest, simulator: Simulator) -> None:
    answer = client.send("09123456789,09120000000", LINE, "تخفیف\nلغو11")

    assert answer["Value"].split(",") == [message.id for message in simulator.accepted()]


def test_a_bad_number_in_a_list_holds_its_slot(client: Rest) -> None:
    answer = client.send("09123456789,123", LINE, "تخفیف لغو11")

    assert answer["Value"].split(",")[1] == "11"
    assert answer["RetStatus"] == 1


def test_the_vendor_client_asks_for_delivery(client: Rest, simulator: Simulator) -> None:
    simulator.behave({"delivery": {"after_s": 0}})
    sent = client.send("09123456789", LINE, "hello")

    assert client.is_delivered(sent["Value"]) == {"Value": "1", "RetStatus": 1, "StrRetStatus": "Ok"}


def test_the_vendor_client_asks_for_credit(client: Rest, simulator: Simulator) -> None:
    simulator.behave({"accounts": [{"credit": 10, "lines": [LINE]}]})
    client.send("09123456789", LINE, "س" * 71)

    assert client.get_credit()["Value"] == "8"


def test_the_vendor_client_reads_its_lines(client: Rest) -> None:
    answer = client.get_numbers()

    assert answer["MyBase"]["RetStatus"] == 1
    assert answer["Data"][0] == {"Number": LINE}


def test_the_vendor_client_reads_what_it_sent_newest_first(client: Rest) -> None:
    client.send("09123456789", LINE, "first")
    client.send("09120000000", LINE, "second")

    rows = client.get_messages(2, 0, 100)["Data"]

    assert [(row["Body"], row["Receiver"]) for row in rows] == [
        ("second", "9120000000"),
        ("first", "9123456789"),
    ]
    assert rows[0]["Parts"] == 1
    assert rows[0]["Sender"] == LINE


def test_a_wrong_password_is_answered_as_on_the_real_panel(client: Rest) -> None:
    answer = client.__class__(USERNAME, "wrong").send("09123456789", LINE, "hello")

    assert answer == {"Value": "0", "RetStatus": 35, "StrRetStatus": "InvalidData"}


@pytest.fixture
def soap(simulator: Simulator, monkeypatch: pytest.MonkeyPatch) -> Soap:
    monkeypatch.setattr(Soap, "PATH", simulator.url + "/post/%s.asmx?wsdl")
    return Soap(USERNAME, PASSWORD)


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # the vendor's client leaves its sessions open
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_the_vendor_client_speaks_soap_to_it_too(soap: Soap, simulator: Simulator) -> None:
    sent = soap.send("09123456789", LINE, "سلام دنیا")
    shared = soap.send_by_base_number("علی;12", "09123456789", 4321)

    assert [sent, shared] == [message.id for message in simulator.accepted()]
    assert simulator.accepted()[1].text == "سلام علی، کد شما 12 است."
    assert soap.is_delivered(sent) == "400"
    assert soap.get_credit() == "100000"
    assert [row.Body for row in soap.get_messages(2, 0, 10)][-1] == "سلام دنیا"
