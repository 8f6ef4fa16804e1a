from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sms.providers.http import CallFault, Reply
from sms.providers.melipayamak import MelipayamakConfig, read_credit, read_delivery, read_lines, read_send
from sms.types import DeliveryStatus, Outcome

PAYLOADS = Path(__file__).resolve().parents[1] / "payloads" / "melipayamak"
ID = "5243690627088685351"


def recorded(name: str) -> list[Any]:
    rows = json.loads((PAYLOADS / name).read_text("utf-8"))
    return [pytest.param(row, id=row["name"]) for row in rows]


def answer(**fields: object) -> Reply:
    return Reply(200, json.dumps(fields).encode())


@pytest.mark.parametrize("case", recorded("send.json"))
def test_an_answer_to_a_send_is_read_from_its_value_first(case: dict[str, Any]) -> None:
    result = read_send(Reply(case.get("status", 200), case["body"].encode()))

    assert result.outcome == case["outcome"]
    assert result.code == case.get("code", "")
    assert result.provider_message_id == case.get("id")


@given(st.from_regex(r"[1-9][0-9]{9,24}", fullmatch=True))
def test_a_long_number_is_an_id_to_its_last_digit(message_id: str) -> None:
    as_text = read_send(answer(Value=message_id, RetStatus=1))
    as_number = read_send(answer(Value=int(message_id), RetStatus=1))

    assert as_text.provider_message_id == as_number.provider_message_id == message_id


@given(st.integers(min_value=2, max_value=999_999_999))
def test_a_short_positive_number_is_never_an_acceptance(code: int) -> None:
    assert read_send(answer(Value=str(code), RetStatus=1)).outcome is not Outcome.ACCEPTED


def test_an_integer_too_long_for_python_is_in_doubt() -> None:
    reply = Reply(200, b'{"Value": ' + b"9" * 5000 + b', "RetStatus": 1}')

    assert read_send(reply).outcome is Outcome.IN_DOUBT


def test_what_is_kept_of_an_answer_is_its_three_fields() -> None:
    result = read_send(answer(Value="2", RetStatus=35, StrRetStatus="InvalidData", Other="x"))

    assert result.raw == {"http_status": 200, "Value": "2", "RetStatus": "35", "StrRetStatus": "InvalidData"}


def test_what_is_kept_of_an_unreadable_answer_is_its_beginning_masked() -> None:
    page = "<p>to 09123456789 ۰۹: my-text with pass&amp;word</p>" + "x" * 1000

    kept = str(read_send(Reply(200, page.encode()), secrets=("my-text", "pass&word")).raw["body"])

    assert kept.startswith("<p>to ••• ۰۹: ••• with •••</p>xxx")
    assert len(kept) == 300


@pytest.mark.parametrize("case", recorded("delivery.json"))
def test_a_delivery_code_is_told_in_our_words(case: dict[str, Any]) -> None:
    report = read_delivery(ID, answer(Value=case["value"], RetStatus=1, StrRetStatus="Ok"))

    assert report is not None
    assert (report.provider_message_id, report.provider_status) == (ID, case["value"])
    assert report.status == case["status"]
    assert report.status.final is case["final"]


def test_zero_beside_an_ok_is_a_message_on_its_way() -> None:
    report = read_delivery(ID, answer(Value=0, RetStatus=1))

    assert report is not None
    assert report.status is DeliveryStatus.SENT


@pytest.mark.parametrize(
    "reply",
    [
        answer(Value="0", RetStatus=35, StrRetStatus="InvalidData"),  # a wrong password, not a delivery
        answer(Value=None, RetStatus=1),
        answer(Value=ID, RetStatus=1),
        Reply(500, b'{"Value":"1","RetStatus":1}'),
        Reply(200, b"<html>"),
        CallFault("answer_timeout"),
    ],
)
def test_what_is_no_answer_about_the_message_is_no_report(reply: Reply | CallFault) -> None:
    assert read_delivery(ID, reply) is None


@pytest.mark.parametrize(
    ("reply", "outcome", "amount", "code"),
    [
        (answer(Value="1234.5", RetStatus=1), Outcome.ACCEPTED, Decimal("1234.5"), ""),
        (answer(Value=98765432109876, RetStatus=1), Outcome.ACCEPTED, Decimal(98765432109876), ""),
        (answer(Value="0", RetStatus=1), Outcome.ACCEPTED, Decimal(0), ""),
        (answer(Value="0", RetStatus=35), Outcome.UNAVAILABLE, None, "0"),
        (answer(Value="-110", RetStatus=-110), Outcome.UNAVAILABLE, None, "-110"),
        (answer(Value="many", RetStatus=1), Outcome.IN_DOUBT, None, "unreadable_answer"),
        (answer(Value="NaN", RetStatus=1), Outcome.IN_DOUBT, None, "unreadable_answer"),
        (answer(Value=None, RetStatus=1), Outcome.IN_DOUBT, None, "unreadable_answer"),
        (Reply(503, b""), Outcome.NOT_SENT, None, "http_503"),
        (CallFault("connection_refused"), Outcome.NOT_SENT, None, "connection_refused"),
    ],
)
def test_credit_is_an_amount_or_a_reason(
    reply: Reply | CallFault, outcome: Outcome, amount: Decimal | None, code: str
) -> None:
    credit = read_credit(reply)

    assert (credit.outcome, credit.amount, credit.code) == (outcome, amount, code)


@pytest.mark.parametrize(
    ("document", "lines"),
    [
        (
            {"MyBase": {"RetStatus": 1}, "Data": [{"Number": "50004001"}, {"Number": " 3000 "}]},
            ["50004001", "3000"],
        ),
        ({"MyBase": {"RetStatus": 1}, "Data": [{"Number": 50004001}]}, ["50004001"]),
        ({"MyBase": {"RetStatus": 35}, "Data": None}, []),
        ({"Data": ["50004001", {"Number": None}, {}]}, []),
        ({}, []),
        ([], []),
    ],
)
def test_lines_are_read_from_the_list_of_numbers(document: object, lines: list[str]) -> None:
    assert read_lines(Reply(200, json.dumps(document).encode())) == lines


def test_the_password_is_in_no_representation_of_an_account() -> None:
    assert "hunter2" not in repr(MelipayamakConfig(username="u", password="hunter2"))
