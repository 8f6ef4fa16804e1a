"""The Send service in SOAP: zeep writes and reads the envelopes, our own pool carries them.

The WSDL lies beside this file. Nothing is fetched: neither at start, nor when the first message leaves,
nor when the provider's own description can not be reached.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from lxml import etree
from zeep import Client, Settings, Transport
from zeep.exceptions import Error

from sms.providers.http import MAX_ANSWER_BYTES, CallFault, Channel, Reply

WSDL: Final = Path(__file__).with_name("wsdl") / "send.wsdl"
PATH: Final = "/post/Send.asmx"
NAMESPACE: Final = "http://tempuri.org/"
# What XML 1.0 can not hold even escaped: control characters and halves of surrogate pairs.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_UNREADABLE = (Error, etree.LxmlError, ValueError, TypeError, AttributeError, LookupError, RecursionError)


class _Offline(Transport):
    """Reads the WSDL's file and refuses every address."""

    def load(self, url: str) -> bytes:
        if Path(url) != WSDL:
            raise ValueError("the service is described by its own file alone")
        return WSDL.read_bytes()


@lru_cache(maxsize=1)
def _client() -> Any:
    settings = Settings(strict=True, forbid_dtd=True, forbid_entities=True, forbid_external=True)
    client: Any = Client  # zeep's functions have no types
    offline: Any = _Offline
    return client(str(WSDL), transport=offline(), settings=settings)


@lru_cache(maxsize=64)
def _operation(method: str) -> Any:
    return _client().service._binding.get(method)


def call(
    channel: Channel,
    method: str,
    arguments: Mapping[str, object],
    *,
    deadline_s: float,
    max_bytes: int = MAX_ANSWER_BYTES,
) -> Reply | CallFault:
    """One POST of one method."""
    client = _client()
    envelope = client.create_message(client.service, method, **arguments)
    body = etree.tostring(envelope, encoding="utf-8", xml_declaration=True)
    headers = {
        "Content-Type": "text/xml; charset=utf-8",
        "SOAPAction": f'"{NAMESPACE}{method}"',
        "User-Agent": "Peyk",
    }
    return channel.request("POST", PATH, body, headers, deadline_s=deadline_s, max_bytes=max_bytes)


def read(method: str, body: bytes) -> Any:
    """What zeep makes of an answer: text, or an object with the method's outputs. None: it is no answer."""
    client, operation = _client(), _operation(method)
    try:
        return client.service._binding.process_reply(client, operation, _Answer(body))
    except _UNREADABLE:
        return None


class _Answer:
    """The little that zeep asks of a response."""

    status_code = 200
    encoding = "utf-8"

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.headers: Mapping[str, str] = {"Content-Type": "text/xml"}


def xml_text(text: str) -> str:
    """`text` without the invisible characters that XML can not carry."""
    return _NOT_XML.sub("", text)


def array(kind: str, values: list[str]) -> dict[str, list[str]]:
    """A typed array, such as `ArrayOfString`: its elements are named `kind`."""
    return {kind: values}


def items_of(value: object, kind: str) -> object:
    """The elements of a typed array of an answer; zeep hands a method's only output out unwrapped."""
    return value if isinstance(value, list) else getattr(value, kind, None)


def texts_of(value: object, kind: str) -> list[str] | None:
    """The elements of a typed array of an answer as text; None if it is none or has holes."""
    items = items_of(value, kind)
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        return None
    return list(items)
