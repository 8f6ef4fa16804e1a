"""The simulator's other interfaces, its lists and scripts, and what it sends by itself."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import urllib3

from sms.simulator import relay
from sms.simulator.plan import parse_plan
from sms.simulator.server import PASSWORD, USERNAME, Simulator
from tests.sms.simulator_fixture import KEY, LINE

START = datetime(2027, 3, 21, 9, 0, tzinfo=UTC)
WHO = {"username": USERNAME, "password": PASSWORD}


def post(url: str, document: object) -> Any:
    answer = urllib3.request(
        "POST", url, body=json.dumps(document).encode(), headers={"Content-Type": "application/json"}
    )
    return json.loads(answer.data)


def rest(simulator: Simulator, method: str, **fields: object) -> Any:
    return post(f"{simulator.url}/api/SendSMS/{method}", {**WHO, **fields})


def send(simulator: Simulator, to: str = "09123456789", text: str = "hello") -> str:
    return str(rest(simulator, "SendSMS", **{"to": to, "from": LINE, "text": text})["Value"])


@pytest.fixture
def time() -> list[datetime]:
    return [START]


@pytest.fixture
def timed(tmp_path: Path, time: list[datetime]) -> Iterator[Simulator]:
    """A simulator whose clock the test moves."""
    running = Simulator(tmp_path, clock=lambda: time[0])
    running.start()
    yield running
    running.stop()


def test_a_script_tells_what_is_known_from_when_on(timed: Simulator, time: list[datetime]) -> None:
    script = [[10, "delivered"], [20, "silent"], [30, "undelivered"], [40, "undelivered"]]
    timed.behave({"delivery": {"scripts": {"09123456789": script}}})
    message = send(timed)
    told = []
    for seconds in (0, 10, 25, 30, 99):
        time[0] = START + timedelta(seconds=seconds)
        told.append(rest(timed, "GetDeliveries2", recId=message)["Value"])

    assert told == ["400", "1", "200", "2", "2"]


@pytest.mark.parametrize("script", [[[1]], [["x", "delivered"]], [[1, "eaten"]], {"1": "delivered"}, [1]])
def test_a_wrong_script_is_refused(script: object) -> None:
    with pytest.raises(ValueError):
        parse_plan({"delivery": {"scripts": {"0912": script}}})


def test_the_sent_list_shows_a_message_after_a_while(timed: Simulator, time: list[datetime]) -> None:
    timed.behave({"outbox": {"after_s": 60}})
    send(timed)
    assert rest(timed, "GetMessages", location="2", index="0", count="10")["Data"] == []

    time[0] = START + timedelta(seconds=60)

    assert len(rest(timed, "GetMessages", location="2", index="0", count="10")["Data"]) == 1


def test_a_message_can_be_kept_off_the_list(simulator: Simulator) -> None:
    simulator.behave({"outbox": {"hidden": ["09120000001"]}})
    send(simulator, "09120000001")
    send(simulator, "09120000002")

    rows = rest(simulator, "GetMessages", location="2", index="0", count="10")["Data"]

    assert [row["Receiver"] for row in rows] == ["9120000002"]


def test_all_interfaces_list_the_same_messages(simulator: Simulator) -> None:
    send(simulator, text="یک")

    classic = rest(simulator, "GetMessages", location="2", index="0", count="10")["Data"]
    console = post(
        f"{simulator.url}/api/receive/messages/{KEY}",
        {"type": "out", "number": "", "index": 0, "count": 10},
    )["messages"]

    assert [(row["MsgID"], row["Body"], row["SendDate"]) for row in classic] == [
        (row["msgID"], row["body"], row["sendDate"]) for row in console
    ]


def test_the_console_answers_ids_as_numbers(simulator: Simulator) -> None:
    answer = post(
        f"{simulator.url}/api/send/simple/{KEY}", {"from": LINE, "to": "09123456789", "text": "hello"}
    )

    assert answer["recId"] == int(simulator.accepted()[0].id)


def test_the_console_names_missing_fields(simulator: Simulator) -> None:
    answer = post(f"{simulator.url}/api/send/simple/{KEY}", {"from": LINE})

    assert answer["status"] == 400
    assert set(answer["errors"]) == {"to", "text"}


def test_a_wrong_key_is_refused_in_words(simulator: Simulator) -> None:
    answer = urllib3.request(
        "POST", f"{simulator.url}/api/send/simple/wrong", json={"from": LINE, "to": "0912", "text": "x"}
    )

    assert answer.status == 401
    assert answer.json()["status"] == "کلید کنسول معتبر نیست"


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"text": "علی;12"}, ""),
        ({"text": "علی"}, "-5"),
        ({"text": "علی;http://x.ir"}, "-10"),
        ({"bodyId": "1"}, "-4"),
        ({"to": "09120000001,09120000002"}, "-2"),
    ],
)
def test_an_approved_text_is_checked_as_by_the_panel(
    simulator: Simulator, fields: dict[str, str], code: str
) -> None:
    given = {"to": "09123456789", "text": "علی;12", "bodyId": "4321", **fields}

    value = rest(simulator, "BaseServiceNumber", **given)["Value"]

    assert value == (code or simulator.accepted()[0].id)


def test_the_description_names_the_simulator_itself(simulator: Simulator) -> None:
    text = urllib3.request("GET", simulator.url + "/post/send.asmx?WSDL").data.decode()

    assert f'location="{simulator.url}/post/Send.asmx"' in text


@pytest.mark.parametrize("body", [b"", b"<x/>", b"not xml", b"<!DOCTYPE x []><x/>"])
def test_what_is_no_envelope_is_a_fault(simulator: Simulator, body: bytes) -> None:
    answer = urllib3.request("POST", simulator.url + "/post/Send.asmx", body=body, retries=False)

    assert answer.status == 500
    assert b"faultstring" in answer.data


class _Inbox(BaseHTTPRequestHandler):
    """Keeps what it was sent."""

    got: list[tuple[str, dict[str, list[str]], bytes]]

    def _take(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        type(self).got.append((self.command, parse_qs(urlsplit(self.path).query), body))
        self.send_response(200)
        self.end_headers()

    do_GET = do_POST = _take  # noqa: N815  # the names http.server calls

    def log_message(self, *args: object) -> None:
        """Silent."""


@pytest.fixture
def inbox() -> Iterator[tuple[str, list[tuple[str, dict[str, list[str]], bytes]]]]:
    """An address of a product on this machine, and what came in there."""
    handler = type("Inbox", (_Inbox,), {"got": []})
    server = HTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/in", handler.got  # type: ignore[attr-defined]
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_received_message_is_relayed_with_percent_signs(inbox: Any) -> None:
    url, got = inbox

    statuses = relay.relay(url + "?app=sms", sender="09123456789", line=LINE, text="لغو ۱۱ & بعد", times=2)

    fields = {"app": ["sms"], "from": ["9123456789"], "to": [LINE], "text": ["لغو ۱۱ & بعد"]}
    assert statuses == [200, 200]
    assert got == [("GET", fields, b""), ("GET", fields, b"")]


def test_a_received_message_can_be_posted_under_other_names(inbox: Any) -> None:
    url, got = inbox

    relay.relay(
        url, sender="09123456789", line=LINE, text="سلام", message_id="77", verb="POST",
        names={"text": "body", "id": "retid"},
    )  # fmt: skip

    ((verb, _query, body),) = got
    assert verb == "POST"
    assert parse_qs(body.decode()) == {
        "from": ["9123456789"], "to": [LINE], "body": ["سلام"], "retid": ["77"],
    }  # fmt: skip


def test_reports_are_posted_in_the_order_and_as_often_as_asked(inbox: Any) -> None:
    url, got = inbox

    relay.report(url, [("1", "delivered"), ("1", "sent")], times=2)

    words = [json.loads(body)["reports"][0]["status"] for _verb, _query, body in got]
    assert words == ["delivered", "delivered", "sent", "sent"]


@pytest.mark.parametrize("path", ["inbound", "report"])
def test_both_can_be_asked_for_over_http(simulator: Simulator, inbox: Any, path: str) -> None:
    url, got = inbox

    post(
        f"{simulator.url}/_sim/{path}",
        {"url": url, "from": "09123456789", "to": LINE, "text": "x", "id": "1"},
    )
    given_up = monotonic() + 5
    while not got and monotonic() < given_up:
        sleep(0.01)

    assert len(got) == 1


def test_it_calls_no_other_machine(simulator: Simulator) -> None:
    with pytest.raises(ValueError, match="this machine"):
        relay.relay("http://10.0.0.1/", sender="0912", line=LINE, text="x")
    answer = urllib3.request("POST", f"{simulator.url}/_sim/inbound", json={"url": "http://10.0.0.1/"})
    assert answer.status == 400
