from __future__ import annotations

import pytest
from pytest_django import Settings

from sms.providers.registry import gateway_for, gateway_kinds
from sms.providers.stdout import StdoutGateway
from sms.types import DeliveryStatus, OutboundSms, Outcome

SMS = OutboundSms(to="09123456789", text="canary-text")


def test_it_says_that_a_message_would_leave_and_nothing_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    result = StdoutGateway().send(SMS, deadline_s=5)

    out = capsys.readouterr().out
    assert result.outcome is Outcome.ACCEPTED
    assert "1 part(s), not sent" in out
    for hidden in (SMS.to, SMS.to[1:], "canary-text"):
        assert hidden not in out


def test_its_messages_are_delivered_at_once() -> None:
    (report,) = StdoutGateway().deliveries(["a"])

    assert report.status is DeliveryStatus.DELIVERED


def test_outside_development_it_does_not_exist(settings: Settings) -> None:
    settings.DEBUG = False

    assert gateway_for("stdout", {}).key == "none"
    assert "stdout" not in [kind.kind for kind in gateway_kinds()]


def test_in_development_an_account_can_have_it(settings: Settings) -> None:
    settings.DEBUG = True

    assert gateway_for("stdout", {"here": "1"}).key == "stdout"
    assert "stdout" in [kind.kind for kind in gateway_kinds()]
