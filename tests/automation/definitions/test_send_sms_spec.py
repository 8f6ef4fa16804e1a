"""What a message step may be configured with."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from automation.action_specs import send_sms
from engine.retry import RetryRule, parse_retry

GOOD = {
    "title": "t",
    "body": "سلام",
    "provider": None,
    "sender": "5000",
    "send_only_in_window": False,
    "on_missing_variable": "send_blank",
    "append_opt_out": True,
    "retry": {"enabled": False},
}


def codes(config: Mapping[str, object]) -> list[tuple[str, object]]:
    return [(problem.code, problem.fields.get("key")) for problem in send_sms.check(config)]


def test_a_complete_config_is_good():
    assert codes(GOOD) == []


def test_a_text_alone_is_enough():
    assert codes({"body": "سلام"}) == []


def test_what_is_left_out_takes_its_default():
    config = send_sms.read({"body": "سلام", "sender": None})

    assert config == send_sms.SendSmsConfig(
        title="",
        body="سلام",
        provider=None,
        sender=None,
        send_only_in_window=True,
        on_missing_variable="skip",
        append_opt_out=False,
    )


def test_a_new_step_spells_out_the_default_retry_rule():
    assert send_sms.defaults()["retry"] == {
        "enabled": True,
        "strategy": "fixed",
        "max_attempts": 3,
        "interval_seconds": 900,
        "on_exhausted": "fail",
    }
    assert isinstance(parse_retry(send_sms.defaults()["retry"]), RetryRule)


@pytest.mark.parametrize("body", [None, "", "  \n", "\u200f\u200b"])
def test_a_message_needs_a_text(body):
    assert codes({"body": body}) == [("text_empty", None)]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("title", 5),
        ("title", "x" * 121),
        ("provider", "primary"),
        ("provider", {}),
        ("sender", ""),
        ("sender", 5000),
        ("send_only_in_window", "yes"),
        ("send_only_in_window", 1),
        ("on_missing_variable", "guess"),
        ("on_missing_variable", []),
        ("append_opt_out", 0),
        ("body", ["a"]),
        ("body", "x" * 5001),
    ],
)
def test_a_value_of_the_wrong_kind_is_named(key, value):
    assert ("config_value_invalid", key) in codes(GOOD | {key: value})


def test_an_unknown_key_is_named():
    assert codes(GOOD | {"priority": 1}) == [("config_key_unknown", "priority")]


def test_every_message_uses_up_budget():
    assert send_sms.PLUGIN.spec.consumes_budget(GOOD)


def test_only_a_message_of_many_parts_is_worth_a_warning():
    assert send_sms.warn({"body": "ب" * 268}) == []
    assert [p.fields["parts"] for p in send_sms.warn({"body": "ب" * 269})] == [5]
