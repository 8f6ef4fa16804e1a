"""The gateways that the contract suites run, each with what is its own.

A new gateway adds one `Bench`: how to make it, and how its provider says each kind of "no".
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from sms.providers import melipayamak_console, melipayamak_soap
from sms.providers.base import BulkSmsGateway, SmsGateway
from sms.providers.generic import GenericConfig
from sms.providers.generic import read_send as read_generic
from sms.providers.http import CallFault, Reply
from sms.providers.melipayamak import read_many, read_send
from sms.providers.soap_wire import xml_text
from sms.types import Outcome, SendResult
from tests.sms.simulator_fixture import (
    GENERIC,
    console_gateway_to,
    gateway_to,
    generic_gateway_to,
    soap_gateway_to,
)


@dataclass(frozen=True)
class Bench:
    """One gateway under test. `codes`: for each kind of "no" what its provider answers, and what is kept."""

    name: str
    make: Callable[..., SmsGateway]
    codes: Mapping[Outcome, tuple[str, str]]
    read: Callable[[Reply], SendResult]  # its reading of an answer, without a wire
    answer: Callable[[str], bytes]  # the answer that has `literal` where the id or the code is
    deliveries: bool = True
    credit: bool = True
    lines: bool = False
    patterns: bool = True


@dataclass(frozen=True)
class BulkBench:
    """One gateway that takes many messages in one call. `left_out`: what a place without an id means."""

    name: str
    make: Callable[..., BulkSmsGateway]
    read: Callable[[Reply | CallFault, int], list[SendResult]]
    left_out: Outcome
    own_texts: bool = False


def rest_answer(literal: str) -> bytes:
    return f'{{"Value": {literal}, "RetStatus": 1, "StrRetStatus": "Ok"}}'.encode()


def soap_answer(literal: str) -> bytes:
    method = "SendSimpleSMS2"
    value = xml_text(literal.strip('"')).replace("&", "&amp;").replace("<", "&lt;")
    return (
        '<?xml version="1.0" encoding="utf-8"?>'
        '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>'
        f'<{method}Response xmlns="http://tempuri.org/"><{method}Result>{value}</{method}Result>'
        f"</{method}Response></soap:Body></soap:Envelope>"
    ).encode("utf-8", "replace")


def console_answer(literal: str) -> bytes:
    return f'{{"recId": {literal}, "status": ""}}'.encode("utf-8", "replace")


def generic_answer(literal: str) -> bytes:
    return f'{{"status": "ok", "data": {{"id": {literal}}}}}'.encode("utf-8", "replace")


CLASSIC_CODES = {
    Outcome.REFUSED: ("7", "7"),
    Outcome.UNAVAILABLE: ("2", "2"),
    Outcome.THROTTLED: ("3", "3"),
    Outcome.NOT_SENT: ("6", "6"),
    Outcome.IN_DOUBT: ("13", "13"),  # in no table of the provider
}

BENCHES = [
    Bench(
        name="melipayamak",
        make=gateway_to,
        codes=CLASSIC_CODES,
        read=read_send,
        answer=rest_answer,
        lines=True,
    ),
    Bench(
        name="melipayamak_soap",
        make=soap_gateway_to,
        codes=CLASSIC_CODES,
        read=partial(melipayamak_soap.read_one, "SendSimpleSMS2"),
        answer=soap_answer,
    ),
    Bench(
        name="melipayamak_console",
        make=console_gateway_to,
        codes={**CLASSIC_CODES, Outcome.IN_DOUBT: ("13", "unlisted")},  # a sentence that is not listed
        read=melipayamak_console.read_send,
        answer=console_answer,
    ),
    Bench(
        name="generic",
        make=generic_gateway_to,
        codes={
            Outcome.REFUSED: ("7", "mapped_refused"),
            Outcome.UNAVAILABLE: ("2", "mapped_unavailable"),
            Outcome.THROTTLED: ("3", "mapped_throttled"),
            Outcome.NOT_SENT: ("6", "mapped_not_sent"),
            Outcome.IN_DOUBT: ("13", "unlisted"),
        },
        read=partial(read_generic, config=GenericConfig(url="https://sms.example/send", **GENERIC)),
        answer=generic_answer,
        deliveries=False,
        credit=False,
        patterns=False,
    ),
]

BULK_BENCHES = [
    BulkBench(name="melipayamak", make=gateway_to, read=read_many, left_out=Outcome.REFUSED),
    BulkBench(
        name="melipayamak_soap",
        make=soap_gateway_to,
        read=melipayamak_soap.read_list,
        left_out=Outcome.REFUSED,
        own_texts=True,
    ),
    BulkBench(
        name="melipayamak_console",
        make=console_gateway_to,
        read=melipayamak_console.read_many,
        left_out=Outcome.IN_DOUBT,  # it says nothing but "no id"
    ),
]


def names(bench: Bench | BulkBench) -> str:
    return bench.name


def literal_of(value: object) -> str:
    """A value as it stands in JSON; what JSON can not hold is a text."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:
        return '"nan"'
