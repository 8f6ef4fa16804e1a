"""Where a customer's own provider may lie. Nothing here connects: names and addresses are judged only."""

from __future__ import annotations

import socket
from ipaddress import ip_address
from typing import Any

import pytest
from pytest_django import Settings

from sms.providers.addresses import AddressRefused, host_trusted, is_public, leads_inside, public_address
from sms.providers.http import CallFault, Channel

INSIDE = [
    "127.0.0.1", "0.0.0.0", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254",
    "100.64.0.1", "192.0.0.8", "192.0.2.1", "192.88.99.1", "198.18.0.1", "198.51.100.7", "203.0.113.9",
    "224.0.0.1", "240.0.0.1", "255.255.255.255", "168.63.129.16",
    "::1", "::", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1", "fe80::1", "fec0::1", "fc00::1",
    "fd00:ec2::254", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2002:a9fe:a9fe::", "2001::1", "2001:db8::1",
    "3fff::1", "5f00::1", "100::1", "2001:20::1", "ff02::1",
]  # fmt: skip
OUTSIDE = ["8.8.8.8", "185.8.175.10", "100.128.0.1", "172.32.0.1", "2606:4700::1111", "2a00:1450::1"]


@pytest.mark.parametrize("address", INSIDE)
def test_an_address_that_leads_inside_is_not_public(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("address", OUTSIDE)
def test_an_ordinary_address_is_public(address: str) -> None:
    assert is_public(ip_address(address))


def resolving(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> list[str]:
    """Names resolve to these addresses, one list a look-up; returns what was looked up."""
    asked: list[str] = []

    def look_up(host: str, port: int, *args: Any, **options: Any) -> list[Any]:
        asked.append(str(host))
        addresses = answers[min(len(asked), len(answers)) - 1]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port)) for one in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return asked


def test_the_address_of_a_public_name_is_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(monkeypatch, ["185.8.175.10"])

    assert public_address("sms.example", 443) == "185.8.175.10"


def test_one_bad_address_spoils_all(monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(monkeypatch, ["185.8.175.10", "10.0.0.1"])

    with pytest.raises(AddressRefused):
        public_address("sms.example", 443)


def test_the_address_that_was_judged_is_the_one_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = resolving(monkeypatch, ["185.8.175.10"], ["127.0.0.1"])
    connected: list[Any] = []

    def connect(sock: socket.socket, address: Any) -> None:
        connected.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket.socket, "connect", connect)
    Channel("https://sms.example", public_only=True).post("/", {}, deadline_s=1)

    # The second look-up is of the address itself and needs no resolver.
    assert asked[0] == "sms.example"
    assert set(asked[1:]) <= {"185.8.175.10"}


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.1"]
)
def test_every_spelling_of_this_machine_is_refused_when_it_is_connected_to(host: str) -> None:
    reply = Channel(f"https://{host}", public_only=True).post("/", {}, deadline_s=1)

    assert isinstance(reply, CallFault)
    assert reply.code == "address_refused"
    assert leads_inside(host)


@pytest.mark.parametrize(
    "address",
    [
        "http://sms.example", "https://sms.example:22", "https://sms.example:8443", "ftp://sms.example",
        "file:///etc/passwd", "//sms.example", "http:///", "https://good\\@127.0.0.1/",
        "https://127.0.0.1\\@good/", "https://good@127.0.0.1/", "https://sms.example/%5c\\x",
        "https://sms.example/a b", "https://sms.example/\t", "https://①②⑦.⓪.⓪.①/", "https://127。0。0。1/",
        "https://sms.example/\r\nHost: x",
    ],
)  # fmt: skip
def test_an_address_that_two_readers_would_read_differently_is_refused(address: str) -> None:
    with pytest.raises(ValueError):
        Channel(address, public_only=True)


def test_a_host_is_trusted_only_if_the_installation_says_so(settings: Settings) -> None:
    settings.PROVIDER_HOSTS = ["sms.internal"]

    assert host_trusted("sms.internal")
    assert not host_trusted("localhost")
    settings.DEBUG = True
    assert host_trusted("localhost")
