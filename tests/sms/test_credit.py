from __future__ import annotations

from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.tenancy import workspace_scope
from sms import credit
from sms.credit import anything_due, check_due, check_now, low_accounts
from sms.models import ProviderAccount
from sms.simulator.server import Simulator
from sms.tasks import ask_for_credit
from sms.types import CreditResult, Outcome
from tests.clocks import MovableClock
from tests.people import client_of
from tests.sms.messages import make_account, make_settings
from workspaces.models import AuditRecord, User, Workspace


def with_credit(simulator: Simulator, amount: int) -> None:
    account = {"username": "peyk", "password": "simulator", "lines": ["50004001"], "credit": amount}
    simulator.behave({"accounts": [account]})


@pytest.fixture
def account(workspace: Workspace, simulator: Simulator, clock: MovableClock) -> ProviderAccount:
    with_credit(simulator, 1000)
    return make_account(workspace, simulator.url)


def stored(account: ProviderAccount) -> ProviderAccount:
    return ProviderAccount.unscoped.get(pk=account.pk)


def test_the_credit_is_kept_with_its_time(account: ProviderAccount, clock: MovableClock) -> None:
    assert check_due(clock.now()) == 1

    row = stored(account)
    assert (row.credit, row.credit_at, row.credit_fault) == (Decimal("1000.00"), clock.now(), "")


def test_an_account_is_asked_every_half_hour(account: ProviderAccount, clock: MovableClock) -> None:
    check_due(clock.now())

    assert not anything_due(clock.advance(minutes=29))
    assert anything_due(clock.advance(minutes=1))


def test_a_fault_is_kept_beside_the_last_known_credit(
    account: ProviderAccount, simulator: Simulator, clock: MovableClock
) -> None:
    check_due(clock.now())
    simulator.behave({"rules": [{"do": "http", "status": 500, "when": {"method": "*"}}]})
    check_due(clock.advance(hours=1))

    row = stored(account)
    assert (row.credit, row.credit_fault) == (Decimal("1000.00"), "http_500")


def test_low_credit_is_told_at_most_every_six_hours(
    workspace: Workspace, account: ProviderAccount, clock: MovableClock
) -> None:
    make_settings(workspace, low_credit_below=Decimal(5000))
    for _ in range(15):
        check_due(clock.advance(minutes=30))

    assert AuditRecord.objects.filter(event="sms.credit_low").count() == 2


def test_enough_credit_is_not_told(
    workspace: Workspace, account: ProviderAccount, clock: MovableClock
) -> None:
    make_settings(workspace, low_credit_below=Decimal(500))
    check_due(clock.now())

    assert low_accounts(workspace.pk) == []
    assert not AuditRecord.objects.exists()


def test_one_dead_account_does_not_stop_the_others(
    other_workspace: Workspace, account: ProviderAccount, clock: MovableClock
) -> None:
    with workspace_scope(other_workspace.pk):
        dead = make_account(other_workspace, "http://127.0.0.1:9")
    check_due(clock.now())

    assert stored(account).credit == Decimal(1000)
    assert stored(dead).credit_fault == "connection_refused"


@pytest.mark.parametrize("fields", [{"is_active": False}, {"sealed_credentials": ""}])
def test_an_account_that_is_off_is_not_asked(
    account: ProviderAccount, clock: MovableClock, fields: dict[str, object]
) -> None:
    ProviderAccount.objects.filter(pk=account.pk).update(**fields)

    assert not anything_due(clock.now())


def test_a_tick_asks_when_a_check_is_due(account: ProviderAccount, clock: MovableClock) -> None:
    assert ask_for_credit(clock.now()) == {"sms_credit_checks": 1}
    assert ask_for_credit(clock.now()) == {}
    assert stored(account).credit == Decimal(1000)


def test_an_absurd_amount_fits(
    account: ProviderAccount, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Rich:
        key = "rich"

        def credit(self) -> object:
            return CreditResult(outcome=Outcome.ACCEPTED, amount=Decimal("1e31"))

    monkeypatch.setattr(credit, "gateway_of", lambda _row: Rich())
    check_now(account, clock.now())

    assert stored(account).credit == credit.MOST


def test_the_settings_page_and_home_show_low_credit(
    owner: User, workspace: Workspace, account: ProviderAccount, clock: MovableClock
) -> None:
    make_settings(workspace, low_credit_below=Decimal(5000))
    check_due(clock.now())
    client = client_of(owner, language="en")

    assert "Main has 1,000 left." in client.get("/").content.decode()
    assert "Main has 1,000 left." in client.get("/settings/sms/").content.decode()


def test_the_check_button_keeps_what_it_was_told(
    owner: User, account: ProviderAccount, clock: MovableClock
) -> None:
    response = client_of(owner, language="en").post(f"/settings/sms/accounts/{account.pk}/check")

    assert response.status_code == 200
    assert stored(account).credit == Decimal(1000)


def test_the_number_of_statements_grows_with_accounts_only(
    account: ProviderAccount, clock: MovableClock
) -> None:
    with CaptureQueriesContext(connection) as queries:
        check_due(clock.now())

    assert len(queries) < 12
