"""What the provider sends by itself, to an address on this machine: received messages, delivery reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import urlencode, urlsplit

import urllib3

from sms.providers.addresses import is_loopback
from sms.simulator.answers import json_bytes

TIMEOUT_S = 10.0
NAMES: Mapping[str, str] = {"from": "from", "to": "to", "text": "text", "id": "id"}


def relay(
    url: str,
    *,
    sender: str,
    line: str,
    text: str,
    message_id: str = "",
    verb: str = "GET",
    names: Mapping[str, str] | None = None,
    times: int = 1,
) -> list[int]:
    """Push one received message `times` times; returns the HTTP statuses.

    `names` renames the parameters (`from`, `to`, `text`, `id`), which the customer of the real panel
    chooses. `sender` is written with ten digits, as the panel does. Values are percent-encoded UTF-8, in
    the query of a GET or as the form of a POST.
    """
    chosen = {**NAMES, **(names or {})}
    fields = {chosen["from"]: sender[-10:], chosen["to"]: line, chosen["text"]: text}
    if message_id:
        fields[chosen["id"]] = message_id
    body = urlencode(fields).encode()
    if verb == "GET":
        joined = f"{url}{'&' if urlsplit(url).query else '?'}{body.decode()}"
        return [_send("GET", joined, None, {}) for _ in range(times)]
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    return [_send("POST", url, body, form) for _ in range(times)]


def report(url: str, entries: Sequence[tuple[str, str]], *, times: int = 1) -> list[int]:
    """Push delivery reports, pairs of message id and status, in this order, each request `times` times.

    One request an entry, in the product's generic format: late, repeated and out-of-order reports are
    a matter of when and in which order this is called. Returns the HTTP statuses.
    """
    headers = {"Content-Type": "application/json"}
    bodies = [json_bytes({"reports": [{"message_id": one, "status": word}]}) for one, word in entries]
    return [_send("POST", url, body, headers) for body in bodies for _ in range(times)]


def _send(verb: str, url: str, body: bytes | None, headers: Mapping[str, str]) -> int:
    if not is_loopback(urlsplit(url).hostname or ""):
        raise ValueError("the simulator calls this machine only")
    with urllib3.PoolManager(retries=False, timeout=TIMEOUT_S) as pool:
        return pool.request(verb, url, body=body, headers=dict(headers), redirect=False).status
