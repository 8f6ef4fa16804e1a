"""Keys in addresses: which words are keys, and what an address looks like without them."""

from __future__ import annotations

import pytest

from core.address_keys import has_user_info, keys_in, without_keys, without_keys_in
from core.logging import mask


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://me:word@sms.example/send", "https://…@sms.example/send"),
        ("https://word@sms.example", "https://…@sms.example"),
        ("https://sms.example/send?api%5Fkey=ab1&to={to}", "https://sms.example/send?api%5Fkey=…&to={to}"),
        ("https://sms.example?X-Auth-Token=q7;pass2=z9", "https://sms.example?X-Auth-Token=…;pass2=…"),
        ("https://sms.example/send#secret=ab", "https://sms.example/send#secret=…"),
        ("https://sms.example/?token=ab{password}", "https://sms.example/?token=…"),
        ("https://sms.example/v1/0123456789abcdef/send", "https://sms.example/v1/…/send"),
        ("https://sms.example/x7Yq2LmP9sTz4kWv", "https://sms.example/…"),
        ("https://sms.example/0f8fad5b-d9cb-469f-a165-70867728950e/s", "https://sms.example/…/s"),
        ("https://sms.example/?account=1234567890123456", "https://sms.example/?account=…"),
    ],
)
def test_a_key_that_is_written_out_is_found(address: str, shown: str) -> None:
    assert without_keys(address) == shown
    assert all(key and key not in shown for key in keys_in(address))


@pytest.mark.parametrize(
    "address",
    [
        "https://sms.example/v1/{password}/send.json?apikey={password}&username={username}",
        "https://sms.example/send-bulk-messages-v2/2024?format=json&keyword=ad&signature=us",
        "https://sms.example/SendArray2025Messages?line=50004001",
        "https://sms.example/?key=&p={to}",
        "https://sms2024production01.example:8443/",
    ],
)
def test_places_for_values_and_ordinary_words_are_no_keys(address: str) -> None:
    assert keys_in(address) == []
    assert without_keys(address) == address
    assert not has_user_info(address)


def test_addresses_inside_a_sentence_lose_their_keys_only() -> None:
    said = "the call to https://a.example/?token=ab1 and <https://b.example/{id}> failed"

    assert without_keys_in(said) == said.replace("ab1", "…")


def test_a_log_line_tells_no_key_of_an_address() -> None:
    line = mask("GET https://sms.example/v1/0123456789abcdef?apikey=abc&x=1 refused; postgres://me:a/b@db/x")

    assert not [word for word in ("0123456789abcdef", "abc", "a/b") if word in line.replace("abcdef", "-")]
    assert "sms.example" in line
