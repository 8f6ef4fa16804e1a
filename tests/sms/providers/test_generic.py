from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
import urllib3

from sms.providers.generic import GenericConfig, GenericGateway, read_send
from sms.providers.http import Reply
from sms.providers.registry import gateway_for
from sms.simulator.server import PASSWORD, USERNAME, Simulator
from sms.types import OutboundSms, Outcome
from tests.sms.simulator_fixture import GENERIC, LINE, generic_gateway_to

SMS = OutboundSms(to="09123456789", text="سلام {username} & دنیا", reference="1:1:1:1")


def config(**changed: Any) -> GenericConfig:
    return GenericConfig(url="https://sms.example/send", **{**GENERIC, **changed})


def reply(document: object, status: int = 200) -> Reply:
    return Reply(status, json.dumps(document).encode())


@pytest.mark.parametrize("method", ["post_form", "post_json", "get"])
def test_each_way_of_sending_reaches_the_provider(method: str, simulator: Simulator) -> None:
    result = generic_gateway_to(simulator.url, method=method).send(SMS, deadline_s=5)

    (message,) = simulator.accepted()
    assert (result.outcome, result.provider_message_id) == (Outcome.ACCEPTED, message.id)
    assert (message.number, message.text, message.sender) == (SMS.to, SMS.text, LINE)


def test_what_is_put_in_is_not_looked_at_again(simulator: Simulator) -> None:
    generic_gateway_to(simulator.url).send(SMS, deadline_s=5)

    assert simulator.accepted()[0].text == SMS.text


def test_numbers_are_written_as_the_provider_wants_them() -> None:
    gateway = GenericGateway(config(fields={"a": "{to}", "b": "{to98}", "c": "{to_plus}"}))

    words = gateway._words(SMS, LINE)

    assert (words["to"], words["to98"], words["to_plus"]) == ("09123456789", "989123456789", "+989123456789")


def test_names_with_dots_and_brackets_make_objects_and_lists(simulator: Simulator) -> None:
    gateway = GenericGateway(config(method="post_json", fields={"a.b": "x", "to[]": "{to}", "a.c[]": "y"}))

    _verb, _path, body, kind = gateway._request({"a.b": "x", "to[]": "0912", "a.c[]": "y"})

    assert json.loads(body or b"") == {"a": {"b": "x", "c": ["y"]}, "to": ["0912"]}
    assert kind.startswith("application/json")


def test_a_key_may_stand_in_the_address() -> None:
    described = {**GENERIC, "username": "u&1", "password": "k/1?"}
    gateway = GenericGateway(
        GenericConfig(url="https://sms.example/v1/{password}/send?u={username}", **described)
    )

    _verb, path, _body, _kind = gateway._request({})

    assert path == "/v1/k%2F1%3F/send?u=u%261"


def test_a_query_of_the_address_is_kept() -> None:
    gateway = GenericGateway(
        GenericConfig(url="https://sms.example/send?v=2", **{**GENERIC, "method": "get"})
    )

    _verb, path, body, _kind = gateway._request({"to": "0912"})

    assert (path, body) == ("/send?v=2&to=0912", None)


@pytest.mark.parametrize(
    ("document", "outcome", "kept", "message_id"),
    [
        ({"status": "ok", "data": {"id": 4707203589561557161}}, "accepted", "", "4707203589561557161"),
        ({"status": "ok", "data": {"id": "a-1"}}, "accepted", "", "a-1"),
        ({"status": "ok"}, "accepted", "", None),  # accepted, and no report will ever be matched
        ({"status": "ok", "data": {"id": 1.5}}, "accepted", "", None),
        ({"status": "error", "code": 7}, "refused", "mapped_refused", None),
        ({"status": "error", "code": "2"}, "unavailable", "mapped_unavailable", None),
        ({"status": "ok", "code": "6"}, "not_sent", "mapped_not_sent", None),
        ({"status": "error", "code": "99"}, "in_doubt", "unlisted", None),
        ({"status": True}, "in_doubt", "unlisted", None),
        ([], "in_doubt", "unlisted", None),
        ("ok", "in_doubt", "unlisted", None),
    ],
)
def test_an_answer_is_read_by_the_description(
    document: object, outcome: str, kept: str, message_id: str | None
) -> None:
    result = read_send(reply(document), config())

    assert (result.outcome.value, result.code, result.provider_message_id) == (outcome, kept, message_id)


def test_without_a_rule_of_success_an_id_is_the_proof() -> None:
    by_id = config(success_path="", success_value="")

    assert read_send(reply({"data": {"id": 12}}), by_id).outcome is Outcome.ACCEPTED
    assert read_send(reply({"data": {}}), by_id).outcome is Outcome.IN_DOUBT


@pytest.mark.parametrize("told", [0, "0", "00", -1, "-7", True, False, 4.7e18, None, [], "a b", "x" * 41])
def test_what_is_no_id_proves_nothing_and_is_not_kept(told: object) -> None:
    by_id = read_send(reply({"data": {"id": told}}), config(success_path="", success_value=""))
    by_rule = read_send(reply({"status": "ok", "data": {"id": told}}), config())

    assert by_id.outcome is Outcome.IN_DOUBT
    assert (by_rule.outcome, by_rule.provider_message_id) == (Outcome.ACCEPTED, None)


def test_places_in_lists_are_found() -> None:
    rule = config(id_path="results.0.id", success_path="results.0.status", success_value="1")

    result = read_send(reply({"results": [{"status": 1, "id": 77}]}), rule)

    assert result.provider_message_id == "77"


def test_an_http_status_may_be_given_a_meaning() -> None:
    rule = config(codes={"http_500": "not_sent"})

    assert read_send(reply({}, 500), rule).outcome is Outcome.NOT_SENT
    assert read_send(reply({}, 500), config()).outcome is Outcome.IN_DOUBT


@pytest.mark.parametrize(
    "changed",
    [
        {"method": "put"},
        {"success_path": "", "id_path": ""},
        {"codes": {"7": "accepted"}},
        {"codes": {"7": "in_doubt"}},
        {"headers": {"Host": "x"}},
        {"headers": {"content-length": "1"}},
        {"headers": {"X Y": "1"}},
        {"headers": {"X-Text": "{text}"}},
    ],
)
def test_a_description_that_can_not_be_followed_is_none(changed: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        config(**changed)


@pytest.mark.parametrize("password", ["a\r\nHost: evil", "پنهان"])
def test_a_secret_that_would_break_a_header_sends_nothing(password: str, simulator: Simulator) -> None:
    gateway = generic_gateway_to(simulator.url, password=password, headers={"X-Key": "{password}"})

    result = gateway.send(SMS, deadline_s=5)

    assert (result.outcome, result.code) == (Outcome.UNAVAILABLE, "not_configured")
    assert simulator.served == 0


def test_an_account_of_the_kind_is_made_from_its_stored_fields(simulator: Simulator) -> None:
    stored = {
        "base_url": simulator.url + "/generic/send", "username": USERNAME, "password": PASSWORD,
        "sender": LINE, "options": dict(GENERIC),
    }  # fmt: skip

    assert gateway_for("generic", stored).send(SMS, deadline_s=5).outcome is Outcome.ACCEPTED


def test_an_address_nobody_vouches_for_must_be_public(simulator: Simulator, settings: Any) -> None:
    settings.PROVIDER_HOSTS = []
    inside = {"base_url": "https://127.0.0.1/send", "sender": LINE, "options": dict(GENERIC)}

    result = gateway_for("generic", inside).send(SMS, deadline_s=2)

    assert (result.outcome, result.code) == (Outcome.UNAVAILABLE, "address_refused")
    assert gateway_for("generic", {**inside, "base_url": simulator.url}).key == "none"


def test_the_key_in_an_address_is_in_no_log(simulator: Simulator, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("DEBUG"):
        generic_gateway_to(simulator.url, method="get").send(SMS, deadline_s=5)
        urllib3.util.Timeout()

    assert PASSWORD not in caplog.text.replace("sms-simulator", "")
    assert SMS.to not in caplog.text


QUESTIONS = {
    "delivery_path": "data.state", "delivery_words": {"1": "delivered"}, "credit_path": "data.credit",
}  # fmt: skip


def asking(simulator: Simulator, **changed: Any) -> GenericGateway:
    key = "user={username}&secret={password}"
    return generic_gateway_to(
        simulator.url,
        delivery_url=f"{simulator.url}/generic/state?{key}&id={{id}}",
        credit_url=f"{simulator.url}/generic/credit?{key}",
        **{**QUESTIONS, **changed},
    )


@pytest.mark.parametrize(
    ("outcome", "code", "words", "told"),
    [
        ("delivered", "1", {"1": "delivered"}, "delivered"),
        ("blacklist", "35", {"35": "rejected"}, "rejected"),
        ("filtered", "300", {"1": "delivered"}, "unknown"),
    ],
)
def test_a_described_provider_is_asked_what_became_of_a_message(
    outcome: str, code: str, words: dict[str, str], told: str, simulator: Simulator
) -> None:
    gateway = asking(simulator, delivery_words=words)
    message_id = gateway.send(SMS, deadline_s=5).provider_message_id or ""
    simulator.force_delivery(message_id, outcome)

    (report,) = gateway.deliveries([message_id])

    assert (report.provider_message_id, report.status, report.provider_status) == (message_id, told, code)


def test_a_described_provider_is_asked_what_is_left(simulator: Simulator) -> None:
    simulator.behave(
        {"accounts": [{"username": USERNAME, "password": PASSWORD, "lines": [LINE], "credit": 42}]}
    )

    credit = asking(simulator).credit()

    assert (credit.outcome, credit.amount) == (Outcome.ACCEPTED, Decimal(42))


def test_without_a_question_described_nothing_is_asked(simulator: Simulator) -> None:
    gateway = generic_gateway_to(simulator.url)

    assert gateway.deliveries(["1" * 19]) == []
    assert gateway.credit().code == "not_offered"


def test_an_answer_about_nothing_says_nothing(simulator: Simulator) -> None:
    gateway = asking(simulator, password="wrong")

    assert gateway.deliveries(["1" * 19]) == []
    assert gateway.credit().outcome is Outcome.IN_DOUBT


def test_a_literal_key_is_not_kept_of_an_answer() -> None:
    gateway = GenericGateway(config(fields={"to": "{to}", "text": "{text}", "key": "literal-canary-key"}))

    assert "literal-canary-key" in gateway._secrets
