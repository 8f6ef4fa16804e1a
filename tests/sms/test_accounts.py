"""Accounts, the channel's settings and the webhook's address: what is changed, sealed and audited."""

from __future__ import annotations

import json
from datetime import timedelta

from core.crypto import open_sealed
from sms import accounts, queries
from sms.accounts import AccountValues
from sms.channel import gateway_of
from sms.models import ProviderAccount, SmsSettings
from sms.providers.null import NullGateway
from tests.clocks import MovableClock
from tests.sms.messages import make_account, make_settings
from workspaces.models import AuditRecord, User, Workspace

SECRET = "hunter2-canary"


def values(**changed: object) -> AccountValues:
    given = {
        "title": "Main", "kind": "melipayamak", "base_url": "", "lines": ["50004001"], "rate_per_second": 5,
        "is_active": True, "username": "peyk", "password": SECRET, **changed,
    }  # fmt: skip
    return AccountValues(**given)  # type: ignore[arg-type]


def last_audit() -> AuditRecord:
    row = AuditRecord.objects.order_by("-id").first()
    assert row is not None
    return row


def opened(account: ProviderAccount) -> dict[str, str]:
    account.refresh_from_db()
    stored: dict[str, str] = json.loads(
        open_sealed(account.sealed_credentials, bound_to=account.seal_binding)
    )
    return stored


def test_credentials_are_sealed_in_the_row(workspace: Workspace, owner: User) -> None:
    account = accounts.add_account(workspace, values(), user=owner)

    assert SECRET not in account.sealed_credentials
    assert opened(account) == {"username": "peyk", "password": SECRET}


def test_credentials_moved_to_another_row_are_not_readable(workspace: Workspace, owner: User) -> None:
    first = accounts.add_account(workspace, values(), user=owner)
    second = accounts.add_account(workspace, values(title="Second", password="other"), user=owner)
    ProviderAccount.objects.filter(pk=second.pk).update(sealed_credentials=first.sealed_credentials)
    second.refresh_from_db()

    assert not accounts.has_credentials(second)
    assert isinstance(gateway_of(second), NullGateway)


def test_an_empty_password_keeps_the_stored_one(workspace: Workspace, owner: User) -> None:
    account = accounts.add_account(workspace, values(), user=owner)

    accounts.change_account(account, values(title="New", username="", password=""), user=owner)

    assert opened(account) == {"username": "peyk", "password": SECRET}
    assert account.title == "New"


def test_one_half_of_the_credentials_can_be_changed(workspace: Workspace, owner: User) -> None:
    account = accounts.add_account(workspace, values(), user=owner)

    accounts.change_account(account, values(username="", password="new"), user=owner)

    assert opened(account) == {"username": "peyk", "password": "new"}


def test_the_audit_log_says_that_a_password_was_set_and_not_which(workspace: Workspace, owner: User) -> None:
    account = accounts.add_account(workspace, values(), user=owner)
    accounts.change_account(account, values(password="another-canary"), user=owner)

    rows = list(AuditRecord.objects.order_by("id"))
    assert [row.event for row in rows] == ["sms.account_added", "sms.account_changed"]
    assert [row.new["credentials"] for row in rows] == ["set", "set"]
    assert "canary" not in json.dumps([[row.old, row.new] for row in rows])


def test_a_change_is_audited_with_old_and_new(workspace: Workspace, owner: User) -> None:
    account = accounts.add_account(workspace, values(), user=owner)

    accounts.change_account(
        account, values(lines=["30007002", "50004001"], username="", password=""), user=owner
    )

    assert (last_audit().old, last_audit().new) == (
        {"lines": ["50004001"]},
        {"lines": ["30007002", "50004001"]},
    )
    assert last_audit().user == owner


def test_saving_the_same_again_changes_and_audits_nothing(workspace: Workspace, owner: User) -> None:
    account = accounts.add_account(workspace, values(), user=owner)

    assert not accounts.change_account(account, values(username="", password=""), user=owner)
    assert AuditRecord.objects.count() == 1


def test_the_first_account_is_the_primary_one(workspace: Workspace, owner: User) -> None:
    first = accounts.add_account(workspace, values(), user=owner)
    second = accounts.add_account(workspace, values(title="Second"), user=owner)

    assert (first.is_primary, second.is_primary) == (True, False)


def test_making_another_account_primary_leaves_exactly_one(workspace: Workspace, owner: User) -> None:
    first = accounts.add_account(workspace, values(), user=owner)
    second = accounts.add_account(workspace, values(title="Second"), user=owner)

    assert accounts.make_primary(second, user=owner)

    assert list(ProviderAccount.objects.filter(is_primary=True)) == [second]
    assert last_audit().event == "sms.account_made_primary"
    assert not accounts.make_primary(second, user=owner)
    assert first.pk != second.pk


def test_another_workspaces_primary_account_stays(
    workspace: Workspace, other_workspace: Workspace, owner: User
) -> None:
    theirs = make_account(other_workspace)
    make_account(workspace)
    second = accounts.add_account(workspace, values(title="Second"), user=owner)

    accounts.make_primary(second, user=owner)

    assert ProviderAccount.unscoped.get(pk=theirs.pk).is_primary


def test_channel_settings_are_saved_and_audited(workspace: Workspace, owner: User) -> None:
    typed = {"opt_out_text": "لغو11", "backoff_minutes": 10}

    assert accounts.change_settings(workspace, typed, user=owner)
    assert not accounts.change_settings(workspace, typed, user=owner)

    row = SmsSettings.objects.get()
    assert (row.opt_out_text, row.backoff_minutes) == ("لغو11", 10)
    assert last_audit().new == typed
    assert last_audit().old == {"opt_out_text": "", "backoff_minutes": 30}


def test_a_renewed_webhook_has_another_secret_and_the_log_does_not_hold_it(
    workspace: Workspace, owner: User
) -> None:
    old = make_settings(workspace).webhook_token

    new = accounts.renew_webhook(workspace, user=owner)

    assert SmsSettings.objects.get().webhook_token == new != old
    assert len(new) >= 40
    assert last_audit().event == "sms.webhook_renewed"
    assert new not in json.dumps([last_audit().old, last_audit().new])


def test_reopening_ends_the_pause_at_once_and_is_audited(
    workspace: Workspace, owner: User, clock: MovableClock
) -> None:
    until = clock.now() + timedelta(minutes=30)
    account = make_account(workspace)
    ProviderAccount.objects.filter(pk=account.pk).update(paused_until=until, paused_reason="2")

    assert accounts.reopen_channel(workspace, user=owner)

    assert queries.closed_until(workspace.pk, clock.now()) is None
    assert last_audit().event == "sms.channel_reopened"
    assert last_audit().old["paused_reason"] == "2"


def test_there_is_nothing_to_reopen_while_the_channel_is_open(
    workspace: Workspace, owner: User, clock: MovableClock
) -> None:
    make_account(workspace)
    ProviderAccount.objects.update(paused_until=clock.now())

    assert not accounts.reopen_channel(workspace, user=owner)
    assert AuditRecord.objects.count() == 0
