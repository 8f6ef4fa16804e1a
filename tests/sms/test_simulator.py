from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import urllib3

from core.clock import FileClock
from sms.simulator.plan import Request, parse_plan
from sms.simulator.record import ACCEPTED_FILE, read
from sms.simulator.server import PASSWORD, USERNAME, Simulator
from tests.sms.simulator_fixture import LINE, start_process

WHO = {"username": USERNAME, "password": PASSWORD}
MESSAGE = {**WHO, "to": "09123456789", "from": LINE, "text": "hello", "isFlash": "false"}
http = urllib3.PoolManager(retries=False)


def call(simulator_url: str, method: str, fields: dict[str, Any]) -> Any:
    answer = http.request(
        "POST", f"{simulator_url}/api/SendSMS/{method}", fields=fields, encode_multipart=False
    )
    return json.loads(answer.data)


@pytest.fixture(autouse=True)
def _close_connections() -> Any:
    yield
    http.clear()


def test_a_json_body_is_read_like_a_form(simulator: Simulator) -> None:
    body = json.dumps(MESSAGE).encode()
    headers = {"Content-Type": "application/json"}

    answer = http.request("POST", simulator.url + "/api/SendSMS/SendSMS", body=body, headers=headers)

    assert json.loads(answer.data)["Value"] == simulator.accepted()[0].id


def test_field_names_have_no_case(simulator: Simulator) -> None:
    fields = {"UserName": USERNAME, "PassWord": PASSWORD, "To": "09123456789", "FROM": LINE, "Text": "hello"}

    assert call(simulator.url, "SendSMS", fields)["RetStatus"] == 1


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"password": "x"}, "0"),
        ({"to": ""}, "16"),
        ({"to": "02188888888"}, "18"),
        ({"text": " "}, "17"),
        ({"from": "1000"}, "5"),
        ({"to": "09123456789,09120000000"}, "15"),
        ({"to": ",".join(["09123456789"] * 101)}, "4"),
    ],
)
def test_what_the_panel_would_refuse_is_refused(
    simulator: Simulator, changed: dict[str, str], code: str
) -> None:
    answer = call(simulator.url, "SendSMS", {**MESSAGE, **changed})

    assert answer["Value"] == code
    assert answer["RetStatus"] == (9 if code == "5" else 35)
    assert simulator.accepted() == []


def test_credit_runs_out_by_parts(simulator: Simulator) -> None:
    simulator.behave({"accounts": [{"lines": [LINE], "credit": 3}]})
    long = {**MESSAGE, "text": "س" * 71}

    values = [call(simulator.url, "SendSMS", long)["Value"] for _ in range(2)]

    assert values == [simulator.accepted()[0].id, "2"]


def test_every_request_is_recorded_whether_taken_or_not(simulator: Simulator) -> None:
    simulator.behave({"rules": [{"do": "code", "code": "7", "when": {"attempt": 1}}]})

    call(simulator.url, "SendSMS", MESSAGE)
    call(simulator.url, "SendSMS", MESSAGE)

    assert [(one.attempt, one.fault, len(one.ids)) for one in simulator.requests()] == [
        (1, "code", 0),
        (2, "", 1),
    ]


def test_an_accepted_message_is_recorded_with_both_times(tmp_path: Path) -> None:
    later = datetime(2027, 3, 21, 9, 0, tzinfo=UTC)
    simulator = Simulator(tmp_path, clock=lambda: later)
    simulator.start()
    call(simulator.url, "SendSMS", MESSAGE)
    simulator.stop()

    (message,) = read(tmp_path)

    assert message.seq == 1
    assert message.clock == later
    assert abs(message.wall - datetime.now(UTC)) < timedelta(minutes=1)


def test_delivery_moves_on_with_the_clock(tmp_path: Path) -> None:
    start = datetime(2027, 3, 21, 9, 0, tzinfo=UTC)
    time = [start]
    simulator = Simulator(tmp_path, {"delivery": {"after_s": 100}}, clock=lambda: time[0])
    simulator.start()
    sent = call(simulator.url, "SendSMS", MESSAGE)
    seen = []
    for seconds in (0, 20, 60, 100):
        time[0] = start + timedelta(seconds=seconds)
        seen.append(call(simulator.url, "GetDeliveries2", {**WHO, "recId": sent["Value"]})["Value"])
    simulator.stop()

    assert seen == ["400", "200", "8", "1"]


def test_a_number_can_be_on_the_operators_block_list(simulator: Simulator) -> None:
    simulator.behave({"delivery": {"after_s": 0, "numbers": {"09123456789": "blacklist"}}})
    sent = call(simulator.url, "SendSMS", MESSAGE)

    assert call(simulator.url, "GetDeliveries2", {**WHO, "recId": sent["Value"]})["Value"] == "35"


def test_delivery_outcomes_follow_their_shares() -> None:
    plan = parse_plan({"delivery": {"shares": {"delivered": 0.9, "undelivered": 0.1}}})

    codes = [plan.delivery_of(f"0912{n:07}", str(n))[0] for n in range(2000)]

    assert 130 < codes.count("2") < 270
    assert codes.count("1") + codes.count("2") == 2000


def test_faults_depend_on_the_request_and_not_on_the_order() -> None:
    plan = parse_plan({"seed": 3, "rules": [{"do": "close", "share": 0.3}]})
    requests = [Request(method="SendSMS", to=f"0912{n:07}", text="hi") for n in range(500)]

    forwards = [plan.fault_for(one) is not None for one in requests]
    backwards = [plan.fault_for(one) is not None for one in reversed(requests)]

    assert forwards == backwards[::-1]
    assert 110 < sum(forwards) < 190


def test_another_seed_draws_other_people() -> None:
    first, second = (parse_plan({"seed": seed, "rules": [{"do": "close", "share": 0.5}]}) for seed in (1, 2))
    requests = [Request(method="SendSMS", to=f"0912{n:07}", text="hi") for n in range(50)]

    assert [first.fault_for(r) is None for r in requests] != [second.fault_for(r) is None for r in requests]


@pytest.mark.parametrize(
    "document",
    [
        [],
        {"sede": 1},
        {"rules": [{"do": "explode"}]},
        {"rules": [{"do": "code", "when": {"number": "0912"}}]},
        {"latency_ms": [5, -1]},
        {"delivery": {"shares": {"eaten": 1}}},
    ],
)
def test_a_plan_with_a_mistake_is_refused(document: object) -> None:
    with pytest.raises(ValueError):
        parse_plan(document)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.10", "example.com", ""])
def test_it_listens_on_this_machine_only(tmp_path: Path, host: str) -> None:
    with pytest.raises(ValueError, match="this machine"):
        Simulator(tmp_path, host=host)


def test_a_taken_port_is_an_error(tmp_path: Path, simulator: Simulator) -> None:
    port = int(simulator.url.rsplit(":", 1)[1])

    with pytest.raises(OSError, match="in use"):
        Simulator(tmp_path / "second", port=port).start()


def test_a_restart_goes_on_with_the_same_record(tmp_path: Path) -> None:
    plan = {"accounts": [{"lines": [LINE], "credit": 2}]}
    ids = []
    for _ in range(2):
        simulator = Simulator(tmp_path, plan)
        simulator.start()
        ids.append(call(simulator.url, "SendSMS", MESSAGE)["Value"])
        simulator.stop()

    assert [message.id for message in read(tmp_path)] == ids
    assert len(set(ids)) == 2


def test_a_line_torn_by_a_crash_is_left_out_and_spoils_no_other(tmp_path: Path) -> None:
    simulator = Simulator(tmp_path)
    simulator.start()
    call(simulator.url, "SendSMS", MESSAGE)
    simulator.stop()
    with (tmp_path / ACCEPTED_FILE).open("ab") as file:
        file.write(b'{"seq": 2, "wall": "20')
    simulator = Simulator(tmp_path)
    simulator.start()
    call(simulator.url, "SendSMS", MESSAGE)
    simulator.stop()

    assert [message.seq for message in read(tmp_path)] == [1, 2]


def test_the_record_can_be_read_over_http(simulator: Simulator) -> None:
    for text in ("one", "two"):
        call(simulator.url, "SendSMS", {**MESSAGE, "text": text})

    rows = json.loads(http.request("GET", simulator.url + "/_sim/accepted?after=1").data)

    assert [(row["seq"], row["text"]) for row in rows] == [(2, "two")]


def test_behaviour_can_be_changed_over_http(simulator: Simulator) -> None:
    plan = json.dumps({"rules": [{"do": "code", "code": "6"}]}).encode()

    http.request("PUT", simulator.url + "/_sim/faults", body=plan)

    assert call(simulator.url, "SendSMS", MESSAGE)["Value"] == "6"


def test_a_wrong_plan_over_http_changes_nothing(simulator: Simulator) -> None:
    answer = http.request("PUT", simulator.url + "/_sim/faults", body=b'{"rules": [{"do": "explode"}]}')

    assert answer.status == 400
    assert call(simulator.url, "SendSMS", MESSAGE)["RetStatus"] == 1


def test_a_delivery_can_be_made_to_happen(simulator: Simulator) -> None:
    sent = call(simulator.url, "SendSMS", MESSAGE)["Value"]

    http.request_encode_body(
        "POST",
        simulator.url + "/_sim/delivery",
        fields={"id": sent, "outcome": "undelivered"},
        encode_multipart=False,
    )

    assert call(simulator.url, "GetDeliveries2", {**WHO, "recId": sent})["Value"] == "2"


def test_the_control_paths_answer_to_no_other_host_name(simulator: Simulator) -> None:
    answer = http.request("GET", simulator.url + "/_sim/accepted", headers={"Host": "attacker.example"})

    assert answer.status == 404


@pytest.mark.parametrize(
    ("verb", "path", "status"),
    [
        ("GET", "/api/SendSMS/SendSMS", 405),
        ("POST", "/api/SendSMS/SendByBaseNumber", 404),
        ("POST", "/x", 404),
    ],
)
def test_what_the_real_panel_does_not_serve_is_an_error_of_its_framework(
    simulator: Simulator, verb: str, path: str, status: int
) -> None:
    answer = http.request(verb, simulator.url + path)

    assert answer.status == status
    assert "Message" in json.loads(answer.data)


def test_a_connection_is_kept_and_used_again(simulator: Simulator) -> None:
    pool = urllib3.connection_from_url(simulator.url)
    for _ in range(5):
        pool.request("POST", "/api/SendSMS/GetCredit", fields=WHO, encode_multipart=False)

    assert pool.num_connections == 1
    pool.close()


def test_it_runs_as_a_process_of_its_own_on_the_products_clock(tmp_path: Path) -> None:
    at = datetime(2027, 1, 1, tzinfo=UTC)
    clock_file = tmp_path / "clock"
    FileClock(clock_file).set(at)
    faults = tmp_path / "faults.json"
    faults.write_text(json.dumps({"rules": [{"do": "code", "code": "7", "when": {"text": "casino"}}]}))

    running = start_process(tmp_path / "store", faults=faults, clock_file=clock_file)
    refused = call(running.url, "SendSMS", {**MESSAGE, "text": "the casino"})
    call(running.url, "SendSMS", MESSAGE)
    status = running.stop()

    assert status == 0
    assert refused["Value"] == "7"
    assert [message.clock for message in running.accepted()] == [at]
