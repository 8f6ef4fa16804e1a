"""What every SMS gateway must do, run against each one on its simulated provider."""

from __future__ import annotations

import contextlib
import json
import logging
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from hypothesis import given
from hypothesis import strategies as st

from sms.providers.base import SmsGateway
from sms.providers.http import Reply
from sms.providers.melipayamak import read_send
from sms.providers.melipayamak_codes import SEND_CODES
from sms.simulator.server import Simulator
from sms.types import DeliveryStatus, OutboundSms, Outcome, Pattern, SendResult
from tests.contract.benches import BENCHES, Bench, literal_of, names
from tests.sms.simulator_fixture import LINE

NUMBER, TEXT, PASSWORD_CANARY = "09123456789", "پیام آزمایشی canary-text", "canary-pass-wörd"
SMS = OutboundSms(to=NUMBER, text=TEXT, reference="attempt-1")
APPROVED = OutboundSms(
    to=NUMBER, text="سلام علی، کد شما 12 است.", pattern=Pattern(body_id=4321, variables=("علی", "12"))
)
SOON = 5.0


@pytest.fixture(params=BENCHES, ids=names)
def bench(request: pytest.FixtureRequest) -> Bench:
    chosen: Bench = request.param
    return chosen


@pytest.fixture
def simulator(tmp_path: Path) -> Iterator[Simulator]:
    running = Simulator(tmp_path / "provider")
    running.start()
    yield running
    running.stop()


@pytest.fixture
def gateway(bench: Bench, simulator: Simulator) -> SmsGateway:
    return bench.make(simulator.url)


@pytest.fixture
def self_signed_port(tmp_path: Path) -> Iterator[int]:
    """A TLS server whose certificate no authority signed."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(self_signed_certificate(tmp_path / "certificate.pem"))
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def shake_hands() -> None:
            client, _ = listening.accept()
            with contextlib.suppress(OSError), client:
                context.wrap_socket(client, server_side=True).close()

        thread = threading.Thread(target=shake_hands)
        thread.start()
        yield listening.getsockname()[1]
        thread.join()


def self_signed_certificate(path: Path) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    at = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(
            name, name, key.public_key(), 1, at - timedelta(days=1), at + timedelta(days=1)
        )
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path.write_bytes(certificate.public_bytes(pem) + private)
    return path


def only(trait: str) -> pytest.MarkDecorator:
    """The test runs for the gateways whose provider offers `trait`."""
    chosen = [bench for bench in BENCHES if getattr(bench, trait)]
    return pytest.mark.parametrize("bench", chosen, ids=names, indirect=True)


def met_by(simulator: Simulator, do: str, **how: object) -> None:
    simulator.behave({"rules": [{"do": do, **how}]})


def test_it_satisfies_the_protocol(gateway: SmsGateway) -> None:
    assert isinstance(gateway, SmsGateway)


def test_an_accepted_message_has_the_providers_id(gateway: SmsGateway, simulator: Simulator) -> None:
    result = gateway.send(SMS, deadline_s=SOON)

    (message,) = simulator.accepted()
    assert (result.outcome, result.provider_message_id) == (Outcome.ACCEPTED, message.id)
    assert result.code == ""
    assert (message.number, message.sender, message.text) == (NUMBER, LINE, TEXT)


def test_the_senders_own_line_wins_over_the_accounts(gateway: SmsGateway, simulator: Simulator) -> None:
    gateway.send(OutboundSms(to=NUMBER, text=TEXT, sender="30007002"), deadline_s=SOON)

    assert simulator.accepted()[0].sender == "30007002"


def test_without_any_line_nothing_is_asked(bench: Bench, simulator: Simulator) -> None:
    result = bench.make(simulator.url, sender="").send(SMS, deadline_s=SOON)

    assert (result.outcome, result.code) == (Outcome.UNAVAILABLE, "no_sender")
    assert simulator.requests() == []


@pytest.mark.parametrize("outcome", [o for o in Outcome if o is not Outcome.ACCEPTED])
def test_each_kind_of_no_has_its_outcome_and_keeps_the_code(
    bench: Bench, gateway: SmsGateway, simulator: Simulator, outcome: Outcome
) -> None:
    told, kept = bench.codes[outcome]
    met_by(simulator, "code", code=told)

    result = gateway.send(SMS, deadline_s=SOON)

    assert (result.outcome, result.code) == (outcome, kept)
    assert result.provider_message_id is None


def test_used_up_credit_makes_the_account_unavailable(gateway: SmsGateway, simulator: Simulator) -> None:
    simulator.behave({"accounts": [{"credit": 0}]})

    assert gateway.send(SMS, deadline_s=SOON).outcome is Outcome.UNAVAILABLE


def test_wrong_credentials_make_the_account_unavailable(bench: Bench, simulator: Simulator) -> None:
    gateway = bench.make(simulator.url, password="wrong")

    assert gateway.send(SMS, deadline_s=SOON).outcome is Outcome.UNAVAILABLE


def test_a_closed_port_means_not_sent(bench: Bench, simulator: Simulator) -> None:
    simulator.stop()

    result = bench.make(simulator.url).send(SMS, deadline_s=SOON)

    assert (result.outcome, result.code) == (Outcome.NOT_SENT, "connection_refused")


def test_a_name_that_does_not_resolve_means_not_sent(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_such_name(*args: object, **options: object) -> object:
        raise socket.gaierror(socket.EAI_NONAME, "no such name")

    monkeypatch.setattr(socket, "getaddrinfo", no_such_name)

    result = bench.make("https://provider.invalid").send(SMS, deadline_s=SOON)

    assert (result.outcome, result.code) == (Outcome.NOT_SENT, "dns_failed")


def test_a_certificate_nobody_vouches_for_means_not_sent(bench: Bench, self_signed_port: int) -> None:
    result = bench.make(f"https://127.0.0.1:{self_signed_port}").send(SMS, deadline_s=SOON)

    assert (result.outcome, result.code) == (Outcome.NOT_SENT, "tls_failed")


def test_a_connection_that_is_never_completed_means_not_sent(bench: Bench) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # accepts, and says nothing of its certificate
        port = silent.getsockname()[1]

        result = bench.make(f"https://127.0.0.1:{port}").send(SMS, deadline_s=0.2)

    assert (result.outcome, result.code) == (Outcome.NOT_SENT, "connect_timeout")


def test_a_deadline_that_is_over_means_not_sent(gateway: SmsGateway, simulator: Simulator) -> None:
    result = gateway.send(SMS, deadline_s=0)

    assert result.outcome is Outcome.NOT_SENT
    assert simulator.requests() == []


@pytest.mark.parametrize("accept", [True, False])
@pytest.mark.parametrize(
    ("do", "how"),
    [
        ("close", {}),
        ("reset", {}),
        ("hang", {}),
        ("http", {"status": 500}),
        ("http", {"status": 502}),
        ("http", {"status": 504}),
        ("http", {"status": 599}),
        ("body", {}),
        ("body", {"body": ""}),
        ("body", {"body": "[" * 10_000}),
        ("body", {"body": "x" * 3_000_000}),
        ("body", {"body": "سلام", "encoding": "cp1256"}),
        ("body", {"body": '{"Value": "4707203589561557161", "RetStatus": 1}', "encoding": "utf-16"}),
    ],
)
def test_an_answer_that_is_lost_or_unreadable_leaves_the_message_in_doubt(
    gateway: SmsGateway, simulator: Simulator, do: str, how: dict[str, object], accept: bool
) -> None:
    met_by(simulator, do, accept=accept, **how)

    result = gateway.send(SMS, deadline_s=0.3)

    assert result.outcome is Outcome.IN_DOUBT
    assert result.code
    assert len(simulator.accepted()) == accept


def test_a_kept_connection_closed_as_we_write_leaves_the_message_in_doubt(
    gateway: SmsGateway, simulator: Simulator
) -> None:
    met_by(simulator, "close", when={"attempt": 2})
    gateway.send(SMS, deadline_s=SOON)

    result = gateway.send(SMS, deadline_s=SOON)

    assert (result.outcome, result.code) == (Outcome.IN_DOUBT, "connection_lost")
    assert len(simulator.requests()) == 2


def test_a_kept_connection_closed_between_two_messages_is_replaced(
    gateway: SmsGateway, simulator: Simulator
) -> None:
    met_by(simulator, "close_after")
    gateway.send(SMS, deadline_s=SOON)
    given_up = time.monotonic() + SOON
    while simulator.open_connections and time.monotonic() < given_up:
        time.sleep(0.005)

    assert gateway.send(SMS, deadline_s=SOON).outcome is Outcome.ACCEPTED


def test_one_connection_serves_messages_sent_one_after_another(
    gateway: SmsGateway, simulator: Simulator
) -> None:
    for _ in range(5):
        gateway.send(SMS, deadline_s=SOON)

    assert simulator.open_connections == 1


def test_a_slow_drip_does_not_stretch_the_deadline(gateway: SmsGateway, simulator: Simulator) -> None:
    met_by(simulator, "drip", ms=100)
    begun = time.monotonic()

    result = gateway.send(SMS, deadline_s=0.5)

    assert (result.outcome, result.code) == (Outcome.IN_DOUBT, "answer_timeout")
    assert time.monotonic() - begun < 4  # the whole answer drips for longer than ten


def test_a_slow_answer_within_the_deadline_is_an_answer(gateway: SmsGateway, simulator: Simulator) -> None:
    met_by(simulator, "slow", ms=100)

    assert gateway.send(SMS, deadline_s=SOON).outcome is Outcome.ACCEPTED


def test_out_of_service_means_not_sent(gateway: SmsGateway, simulator: Simulator) -> None:
    met_by(simulator, "http", status=503)

    assert gateway.send(SMS, deadline_s=SOON).outcome is Outcome.NOT_SENT


def test_too_many_requests_means_later(gateway: SmsGateway, simulator: Simulator) -> None:
    met_by(simulator, "http", status=429, headers={"Retry-After": "17"})

    result = gateway.send(SMS, deadline_s=SOON)

    assert (result.outcome, result.retry_after_s) == (Outcome.THROTTLED, 17)


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (301, Outcome.UNAVAILABLE),
        (307, Outcome.UNAVAILABLE),
        (308, Outcome.UNAVAILABLE),
        (302, Outcome.IN_DOUBT),
        (303, Outcome.IN_DOUBT),
    ],
)
def test_a_redirect_is_not_followed(
    gateway: SmsGateway, simulator: Simulator, tmp_path: Path, status: int, outcome: Outcome
) -> None:
    elsewhere = Simulator(tmp_path / "elsewhere")
    elsewhere.start()
    target = elsewhere.url + "/api/SendSMS/SendSMS"
    met_by(simulator, "http", status=status, headers={"Location": target})

    result = gateway.send(SMS, deadline_s=SOON)
    elsewhere.stop()

    assert result.outcome is outcome
    assert elsewhere.requests() == []
    assert len(simulator.requests()) == 1


FAULTS = ["code", "http", "close", "reset", "hang", "body", "drip", "slow", "close_after", "same_id", "short"]


@pytest.mark.parametrize("do", FAULTS)
def test_whatever_happens_there_is_one_request_for_one_message(
    gateway: SmsGateway, simulator: Simulator, do: str
) -> None:
    met_by(simulator, do, ms=100)

    gateway.send(SMS, deadline_s=0.3)

    assert len(simulator.requests()) == 1


@pytest.mark.parametrize("do", FAULTS)
def test_no_secret_number_or_text_is_in_what_is_kept_or_logged(
    bench: Bench, simulator: Simulator, do: str, caplog: pytest.LogCaptureFixture
) -> None:
    simulator.behave(
        {
            "accounts": [{"password": PASSWORD_CANARY, "key": PASSWORD_CANARY}],
            "rules": [
                {"do": do, "ms": 100, "body": f"<p>{NUMBER} {NUMBER[1:]} {TEXT} {PASSWORD_CANARY}</p>"}
            ],
        }
    )
    with caplog.at_level(logging.DEBUG):
        gateway = bench.make(simulator.url, password=PASSWORD_CANARY)
        result = gateway.send(SMS, deadline_s=0.3)

    seen = repr((gateway, SMS, result)) + caplog.text
    for secret in (NUMBER, NUMBER[1:], "canary-text", PASSWORD_CANARY):
        assert secret not in seen


def test_a_proxy_in_the_environment_is_not_used(gateway: SmsGateway, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")

    assert gateway.send(SMS, deadline_s=SOON).outcome is Outcome.ACCEPTED


def test_it_can_be_shared_between_threads(gateway: SmsGateway, simulator: Simulator) -> None:
    results: list[SendResult] = []

    def send_some() -> None:
        results.extend(gateway.send(SMS, deadline_s=SOON) for _ in range(10))

    threads = [threading.Thread(target=send_some) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    ids = {result.provider_message_id for result in results}
    assert ids == {message.id for message in simulator.accepted()}
    assert len(ids) == 160


@only("deliveries")
def test_deliveries_are_told_in_our_words(gateway: SmsGateway, simulator: Simulator) -> None:
    simulator.behave({"delivery": {"after_s": 0, "numbers": {NUMBER: "undelivered"}}})
    message_id = gateway.send(SMS, deadline_s=SOON).provider_message_id or ""

    (report,) = gateway.deliveries([message_id])

    assert (report.provider_message_id, report.status) == (message_id, DeliveryStatus.UNDELIVERED)
    assert report.provider_status


@only("deliveries")
def test_deliveries_that_can_not_be_asked_for_are_absent(bench: Bench, simulator: Simulator) -> None:
    assert bench.make(simulator.url, password="wrong").deliveries(["4700000000000000007"]) == []
    met_by(simulator, "http", when={"method": "*"})
    assert bench.make(simulator.url).deliveries(["4700000000000000007"]) == []


@only("credit")
def test_credit_is_read(gateway: SmsGateway, simulator: Simulator) -> None:
    simulator.behave({"accounts": [{"credit": 42}]})

    assert gateway.credit().amount == Decimal(42)


@only("credit")
def test_credit_of_zero_is_an_answer(gateway: SmsGateway, simulator: Simulator) -> None:
    simulator.behave({"accounts": [{"credit": 0}]})

    assert (gateway.credit().outcome, gateway.credit().amount) == (Outcome.ACCEPTED, Decimal(0))


@only("credit")
def test_credit_with_wrong_credentials_is_no_amount(bench: Bench, simulator: Simulator) -> None:
    credit = bench.make(simulator.url, password="wrong").credit()

    assert (credit.outcome, credit.amount) == (Outcome.UNAVAILABLE, None)


@only("lines")
def test_lines_are_read(gateway: SmsGateway) -> None:
    assert gateway.lines() == [LINE, "30007002"]


@only("lines")
def test_lines_that_can_not_be_read_are_none(bench: Bench, simulator: Simulator) -> None:
    assert bench.make(simulator.url, password="wrong").lines() == []


@only("patterns")
def test_an_approved_text_is_filled_by_the_provider(gateway: SmsGateway, simulator: Simulator) -> None:
    result = gateway.send(APPROVED, deadline_s=SOON)

    (message,) = simulator.accepted()
    assert (result.outcome, result.provider_message_id) == (Outcome.ACCEPTED, message.id)
    assert (message.sender, message.text) == ("4321", APPROVED.text)


@only("patterns")
def test_values_that_do_not_fit_the_approved_text_are_refused(
    gateway: SmsGateway, simulator: Simulator
) -> None:
    short = replace(APPROVED, pattern=Pattern(body_id=4321, variables=("علی",)))

    result = gateway.send(short, deadline_s=SOON)

    assert (result.outcome, result.code) == (Outcome.REFUSED, "-5")


@only("patterns")
def test_an_approved_text_that_there_is_not_closes_the_account(gateway: SmsGateway) -> None:
    unknown = replace(APPROVED, pattern=Pattern(body_id=1, variables=("a", "b")))

    result = gateway.send(unknown, deadline_s=SOON)

    assert (result.outcome, result.code) == (Outcome.UNAVAILABLE, "-4")


def test_ids_beyond_a_floats_precision_are_kept_to_the_last_digit(bench: Bench) -> None:
    result = bench.read(Reply(200, bench.answer("4707203589561557161")))

    assert (result.outcome, result.provider_message_id) == (Outcome.ACCEPTED, "4707203589561557161")


@pytest.mark.parametrize("literal", ["4.707203589561557e18", "4707203589561557161.0", "1e400"])
def test_a_number_with_a_fraction_is_no_id(bench: Bench, literal: str) -> None:
    result = bench.read(Reply(200, bench.answer(literal)))

    assert result.provider_message_id is None
    assert not result.outcome.surely_not_sent


def test_an_id_longer_than_can_be_kept_is_no_id(bench: Bench) -> None:
    result = bench.read(Reply(200, bench.answer("9" * 60)))

    assert result.provider_message_id is None
    assert not result.outcome.surely_not_sent


@given(
    value=st.one_of(
        st.integers(), st.text(max_size=40), st.none(), st.floats(), st.lists(st.integers())
    ).filter(lambda value: str(value).strip() not in SEND_CODES),
)
@pytest.mark.parametrize("bench", BENCHES, ids=names)
def test_no_code_means_try_again_unless_it_is_listed(bench: Bench, value: object) -> None:
    result = bench.read(Reply(200, bench.answer(literal_of(value))))

    assert not result.outcome.surely_not_sent


@given(st.integers(min_value=-200, max_value=200).filter(lambda n: str(n) not in SEND_CODES or n == 35))
def test_no_status_of_the_classic_interface_means_try_again_unless_it_is_listed(ret_status: int) -> None:
    body = json.dumps({"Value": "x", "RetStatus": ret_status}).encode()

    assert not read_send(Reply(200, body)).outcome.surely_not_sent


@given(st.binary(max_size=300))
@pytest.mark.parametrize("bench", BENCHES, ids=names)
def test_no_garbage_means_try_again(bench: Bench, body: bytes) -> None:
    assert not bench.read(Reply(200, body)).outcome.surely_not_sent
