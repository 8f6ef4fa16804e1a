"""The registry, the missing provider, the channel to an address, and masking."""

from __future__ import annotations

import os
import time

import pytest
from django.utils.translation import gettext_lazy

from sms.providers import http
from sms.providers.base import SmsGateway
from sms.providers.http import CallFault, Channel, Reply
from sms.providers.masking import masked
from sms.providers.melipayamak import MelipayamakGateway
from sms.providers.null import NullGateway
from sms.providers.registry import gateway_for, gateway_kinds, register_gateway
from sms.simulator.server import Simulator
from sms.types import OutboundSms, Outcome

ACCOUNT = {"username": "peyk", "password": "secret"}


def test_melipayamak_is_registered() -> None:
    assert "melipayamak" in {kind.kind for kind in gateway_kinds()}


def test_one_account_has_one_gateway_in_a_process() -> None:
    assert gateway_for("melipayamak", ACCOUNT) is gateway_for("melipayamak", dict(reversed(ACCOUNT.items())))


def test_a_changed_password_makes_another_gateway() -> None:
    assert gateway_for("melipayamak", ACCOUNT) is not gateway_for(
        "melipayamak", {**ACCOUNT, "password": "new"}
    )


def test_an_account_gets_the_gateway_of_its_kind() -> None:
    assert isinstance(gateway_for("melipayamak", ACCOUNT), MelipayamakGateway)


@pytest.mark.parametrize(
    ("kind", "config"),
    [
        ("", {}),
        ("carrier-pigeon", ACCOUNT),
        ("melipayamak", {}),
        ("melipayamak", {"username": "peyk", "password": ""}),
        ("melipayamak", {**ACCOUNT, "base_url": "http://provider.example"}),
    ],
)
def test_what_is_no_account_is_not_configured(kind: str, config: dict[str, str]) -> None:
    gateway = gateway_for(kind, config)

    result = gateway.send(OutboundSms(to="09123456789", text="hello"), deadline_s=1)

    assert isinstance(gateway, NullGateway)
    assert (result.outcome, result.code) == (Outcome.UNAVAILABLE, "not_configured")


def test_the_missing_provider_is_a_gateway_too() -> None:
    missing = NullGateway()

    assert isinstance(missing, SmsGateway)
    assert (missing.deliveries(["1"]), missing.lines(), missing.credit().amount) == ([], [], None)


def test_a_provider_is_one_class_and_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sms.providers.registry._kinds", {})
    register_gateway("pigeon", gettext_lazy("Pigeon"), lambda config: NullGateway(), {})

    assert [kind.kind for kind in gateway_kinds()] == ["pigeon"]
    assert gateway_for("pigeon", {}).key == "none"


@pytest.mark.parametrize(
    "address",
    [
        "http://rest.payamak-panel.com",
        "ftp://rest.payamak-panel.com",
        "https://user:pass@rest.payamak-panel.com",
        "https://",
        "rest.payamak-panel.com",
        "",
    ],
)
def test_a_password_goes_to_no_unsafe_address(address: str) -> None:
    with pytest.raises(ValueError):
        Channel(address)


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:8001", "http://localhost:1", "http://[::1]:2", "https://x.ir/a"]
)
def test_https_and_this_machine_are_fine(address: str) -> None:
    Channel(address)


def test_connections_to_one_origin_share_one_pool(simulator: Simulator) -> None:
    for _ in range(4):
        Channel(simulator.url).post("/api/SendSMS/GetCredit", {}, deadline_s=5)

    assert simulator.open_connections == 1


def test_a_forked_child_does_not_talk_over_its_parents_connections(simulator: Simulator) -> None:
    channel = Channel(simulator.url)
    channel.post("/api/SendSMS/GetCredit", {}, deadline_s=5)

    child = os.fork()
    if child == 0:
        os._exit(len(http._pools))
    _, status = os.waitpid(child, 0)

    assert os.waitstatus_to_exitcode(status) == 0


def test_a_text_the_wire_can_not_carry_is_no_crash(simulator: Simulator) -> None:
    reply = Channel(simulator.url).post("/api/SendSMS/SendSMS", {"text": "\ud800"}, deadline_s=5)

    assert isinstance(reply, Reply)


def test_a_pool_without_a_free_connection_means_not_sent(
    simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "MAX_CONNECTIONS", 1)
    pool = http._pool(Channel(simulator.url)._origin)
    taken = pool.take(deadline=time.monotonic() + 5, connect_s=5)

    reply = Channel(simulator.url).post("/api/SendSMS/GetCredit", {}, deadline_s=0.05)
    pool.give_back(taken)

    assert isinstance(reply, CallFault)
    assert reply.code == "no_free_connection"


@pytest.mark.parametrize("number", ["09123456789", "9123456789", "+989123456789", "00989123456789"])
def test_every_spelling_of_a_mobile_is_masked(number: str) -> None:
    assert masked(f"to={number};", ()) == "to=•••;"


def test_a_message_id_is_not_taken_for_a_mobile() -> None:
    assert masked("5209123456789685351", ()) == "5209123456789685351"


def test_a_cut_leaves_no_half_of_a_secret() -> None:
    assert "hun" not in masked("x" * 297 + "hunter2", ("hunter2",))


@pytest.mark.parametrize(
    "to", ["", "09123456789,09120000000", "09123456789 ", "۰۹۱۲۳۴۵۶۷۸۹", "0912\n3456789"]
)
def test_one_message_has_one_number(to: str) -> None:
    with pytest.raises(ValueError):
        OutboundSms(to=to, text="hello")
