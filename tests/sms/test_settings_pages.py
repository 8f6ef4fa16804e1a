from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from uuid import uuid4

import pytest
from django import forms
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils.translation import gettext_lazy
from pytest_django import Settings

from core.crypto import open_sealed
from sms import sections
from sms.models import ProviderAccount, SmsLog, SmsSettings
from sms.sections import SettingsSection, register_section
from sms.simulator.server import PASSWORD, USERNAME, Simulator
from tests.clocks import MovableClock
from tests.people import client_of
from tests.sms.messages import make_account, make_settings
from tests.sms.simulator_fixture import LINE
from workspaces.models import AuditRecord, User, Workspace

SECRET = "hunter2-canary"
PAGE = "/settings/sms/"


def account_form(**changed: object) -> dict[str, object]:
    return {
        "title": "Main", "kind": "melipayamak", "username": "peyk-user", "password": SECRET, "lines": LINE,
        "rate_per_second": "5", "base_url": "", "is_active": "on", **changed,
    }  # fmt: skip


@pytest.fixture
def english(owner: User) -> Client:
    return client_of(owner, language="en")


def text_of(response: object) -> str:
    return response.content.decode()  # type: ignore[attr-defined]


def test_without_an_account_the_page_says_what_to_do(english: Client) -> None:
    page = text_of(english.get(PAGE))

    assert "No account yet" in page
    assert reverse("sms:account-add") in page


@pytest.mark.parametrize("role", ["marketer", "operator", "seller"])
def test_the_page_needs_its_permission(role: str, request: pytest.FixtureRequest) -> None:
    client = client_of(request.getfixturevalue(role))

    assert client.get(PAGE).status_code == 403
    assert client.post(reverse("sms:webhook-renew")).status_code == 403


def test_an_account_is_added_through_the_page(english: Client, workspace: Workspace) -> None:
    response = english.post(reverse("sms:account-add"), account_form(lines="۵۰۰۰۴۰۰۱\n 3000 7002 \n50004001"))

    account = ProviderAccount.objects.get()
    assert response.status_code == 302
    assert account.lines == ["50004001", "30007002"]
    assert SECRET in open_sealed(account.sealed_credentials, bound_to=account.seal_binding)


def test_the_order_of_lines_can_be_changed(english: Client, workspace: Workspace) -> None:
    account = make_account(workspace, lines=["1000", "2000", "3000"])

    english.post(reverse("sms:account", args=[account.pk]), account_form(lines="3000\n1000"))

    account.refresh_from_db()
    assert account.lines == ["3000", "1000"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("title", ""),
        ("username", ""),
        ("password", ""),
        ("kind", "pigeon"),
        ("lines", "not-a-line"),
        ("lines", "12"),
        ("rate_per_second", "0"),
        ("base_url", "http://rest.payamak-panel.com"),
        ("base_url", "https://user:pw@rest.payamak-panel.com"),
        ("base_url", "https://169.254.169.254"),
        ("base_url", "https://attacker.example"),
        ("base_url", "javascript:alert(1)"),
    ],
)
def test_a_wrong_value_is_refused_and_the_password_is_not_shown_again(
    english: Client, field: str, value: str
) -> None:
    response = english.post(reverse("sms:account-add"), account_form(**{field: value}))

    assert response.status_code == 422
    assert SECRET not in text_of(response)
    assert ProviderAccount.objects.count() == 0


def test_this_machine_is_no_provider_unless_the_installation_says_so(
    english: Client, settings: Settings
) -> None:
    settings.PROVIDER_HOSTS = ["rest.payamak-panel.com"]
    address = account_form(base_url="http://127.0.0.1:8001")

    assert english.post(reverse("sms:account-add"), address).status_code == 422
    settings.DEBUG = True
    assert english.post(reverse("sms:account-add"), address).status_code == 302


def test_stored_credentials_are_never_shown(english: Client, workspace: Workspace) -> None:
    account = make_account(workspace, credentials={"username": "peyk-user", "password": SECRET})

    pages = text_of(english.get(PAGE)) + text_of(english.get(reverse("sms:account", args=[account.pk])))

    for hidden in (SECRET, "peyk-user", account.sealed_credentials):
        assert hidden not in pages
    assert "Set. Leave it empty to keep it." in pages


def test_saving_without_a_password_keeps_it(english: Client, workspace: Workspace) -> None:
    account = make_account(workspace, credentials={"username": "peyk-user", "password": SECRET})

    form = account_form(title="Renamed", username="", password="")
    english.post(reverse("sms:account", args=[account.pk]), form)

    account.refresh_from_db()
    assert account.title == "Renamed"
    assert SECRET in open_sealed(account.sealed_credentials, bound_to=account.seal_binding)


def test_an_account_whose_credentials_are_unreadable_asks_for_them(
    english: Client, workspace: Workspace
) -> None:
    account = make_account(workspace)
    ProviderAccount.objects.update(sealed_credentials="v1:gone:AAAA:AAAA")

    assert "User name or password missing" in text_of(english.get(PAGE))
    form = account_form(username="", password="")
    assert english.post(reverse("sms:account", args=[account.pk]), form).status_code == 422


@pytest.mark.parametrize("name", ["account", "account-primary", "account-check", "account-test"])
def test_another_workspaces_account_is_not_found(
    english: Client, other_workspace: Workspace, name: str
) -> None:
    theirs = make_account(other_workspace)

    assert english.post(reverse(f"sms:{name}", args=[theirs.pk]), {}).status_code == 404


def test_an_account_that_is_paused_is_not_called_ready(
    english: Client, workspace: Workspace, clock: MovableClock
) -> None:
    make_account(workspace, paused_until=clock.now() + timedelta(minutes=5), paused_since=clock.now())

    page = english.get(reverse("sms:settings")).content.decode()

    assert "Paused" in page
    assert "Ready" not in page


def test_another_account_is_made_primary(english: Client, workspace: Workspace) -> None:
    make_account(workspace)
    second = make_account(workspace, title="Second", is_primary=False)

    page = english.post(reverse("sms:account-primary", args=[second.pk]), follow=True)

    assert ProviderAccount.objects.get(is_primary=True) == second
    assert "Messages go out through «Second» now." in text_of(page)


def test_reading_the_page_makes_no_secret(english: Client, workspace: Workspace) -> None:
    assert "/api/webhooks/" not in text_of(english.get(PAGE))
    assert SmsSettings.objects.count() == 0


def test_the_webhooks_address_is_shown_and_renewed(english: Client, workspace: Workspace) -> None:
    old = make_settings(workspace).webhook_token
    anyone = Client()
    assert f"http://testserver/api/webhooks/sms/generic/{old}" in text_of(english.get(PAGE))

    english.post(reverse("sms:webhook-renew"))

    new = SmsSettings.objects.get().webhook_token
    assert old not in text_of(english.get(PAGE))
    for token, status in ((old, 404), (new, 200)):
        address = f"/api/webhooks/sms/generic/{token}"
        assert anyone.post(address, "{}", content_type="application/json").status_code == status


def test_texts_and_pauses_are_saved_in_any_digits(english: Client, workspace: Workspace) -> None:
    form = {"opt_out_text": "لغو11", "backoff_minutes": "۱۰"}

    page = english.post(reverse("sms:channel"), form, follow=True)

    row = SmsSettings.objects.get()
    assert (row.opt_out_text, row.backoff_minutes) == ("لغو11", 10)
    assert "The settings were saved." in text_of(page)


def test_a_wrong_pause_is_refused_with_the_form(english: Client) -> None:
    response = english.post(reverse("sms:channel"), {"backoff_minutes": "0"})

    assert response.status_code == 422
    assert 'aria-invalid="true"' in text_of(response)


def test_a_pause_is_shown_with_its_reason_and_can_be_ended(
    english: Client, workspace: Workspace, clock: MovableClock
) -> None:
    account = make_account(workspace)
    assert "Problem solved, continue" not in text_of(english.get(PAGE))
    account.paused_until, account.paused_reason = clock.now() + timedelta(minutes=30), "2"
    account.save()

    page = text_of(english.get(PAGE))
    assert "Problem solved, continue" in page
    assert "The SMS account has run out of credit." in page
    assert "The SMS account has run out of credit." in text_of(english.get("/"))

    english.post(reverse("sms:reopen"))
    assert ProviderAccount.objects.get().paused_until is None
    assert AuditRecord.objects.filter(event="sms.channel_reopened").count() == 1
    assert "The SMS account has run out of credit." not in text_of(english.get("/"))


def trial_form(**changed: object) -> dict[str, object]:
    return {"number": "۰۹۱۲ ۳۴۵ ۶۷۸۹", "sender": LINE, "text": "hello", "key": str(uuid4()), **changed}


def test_a_test_message_says_what_the_provider_said(
    english: Client, workspace: Workspace, simulator: Simulator
) -> None:
    account = make_account(workspace, simulator.url)

    page = english.post(reverse("sms:account-test", args=[account.pk]), trial_form(), follow=True)

    assert "The provider accepted the message." in text_of(page)
    assert simulator.accepted()[0].number == "09123456789"


def test_a_refused_test_is_explained(english: Client, workspace: Workspace, simulator: Simulator) -> None:
    simulator.behave({"rules": [{"do": "code", "code": "14"}]})
    account = make_account(workspace, simulator.url)

    page = english.post(reverse("sms:account-test", args=[account.pk]), trial_form(), follow=True)

    assert "The text contains a link, which this line may not send." in text_of(page)


@pytest.mark.parametrize(
    ("field", "value"),
    [("number", "0912CALLNOW"), ("number", "02188888888"), ("sender", "1"), ("text", ""), ("key", "")],
)
def test_a_wrong_test_is_refused(
    english: Client, workspace: Workspace, simulator: Simulator, field: str, value: str
) -> None:
    account = make_account(workspace, simulator.url)

    response = english.post(reverse("sms:account-test", args=[account.pk]), trial_form(**{field: value}))

    assert response.status_code == 422
    assert simulator.requests() == []


def test_the_same_form_sent_twice_is_one_message(
    english: Client, workspace: Workspace, simulator: Simulator
) -> None:
    account = make_account(workspace, simulator.url)
    form = trial_form()

    statuses = [
        english.post(reverse("sms:account-test", args=[account.pk]), form).status_code for _ in range(2)
    ]

    assert statuses == [302, 409]
    assert len(simulator.requests()) == 1
    assert SmsLog.objects.count() == 1


def test_the_rendered_form_is_one_that_can_be_sent(
    english: Client, workspace: Workspace, simulator: Simulator
) -> None:
    account = make_account(workspace, simulator.url)
    page = text_of(english.get(reverse("sms:account", args=[account.pk])))
    key = re.search(r'name="key" value="([^"]+)"', page)
    assert key is not None

    english.post(reverse("sms:account-test", args=[account.pk]), trial_form(key=key[1]))

    assert len(simulator.accepted()) == 1


def test_credit_and_lines_are_asked_for(english: Client, workspace: Workspace, simulator: Simulator) -> None:
    simulator.behave({"accounts": [{"credit": 1234, "lines": [LINE, "30007002"]}]})
    account = make_account(workspace, simulator.url)

    page = text_of(english.post(reverse("sms:account-check", args=[account.pk])))

    assert "1,234" in page
    assert "30007002" in page
    assert "Some of these lines are not among the sender lines above" in page


def test_a_wrong_password_is_told_when_credit_is_asked_for(
    english: Client, workspace: Workspace, simulator: Simulator
) -> None:
    credentials = {"username": USERNAME, "password": PASSWORD + "x"}
    account = make_account(workspace, simulator.url, credentials=credentials)

    page = text_of(english.post(reverse("sms:account-check", args=[account.pk])))

    assert "The user name or password of the SMS account is wrong." in page


class _LimitForm(forms.Form):
    limit = forms.IntegerField(min_value=0)


@pytest.fixture
def saved(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What a panel of another app was given to save."""
    monkeypatch.setattr(sections, "_sections", {})
    given: list[object] = []

    def save(workspace: Workspace, cleaned: Mapping[str, object], user: User) -> bool:
        given.append(dict(cleaned))
        return True

    register_section(
        SettingsSection(
            key="limits",
            title=gettext_lazy("Limits of the test"),
            make_form=lambda workspace, data: _LimitForm(data),
            save=save,
        )
    )
    return given


def test_another_app_can_add_a_panel_to_the_page(english: Client, saved: list[object]) -> None:
    assert "Limits of the test" in text_of(english.get(PAGE))

    assert english.post(reverse("sms:section", args=["limits"]), {"limit": "5"}).status_code == 302
    assert english.post(reverse("sms:section", args=["limits"]), {"limit": "-5"}).status_code == 422
    assert english.post(reverse("sms:section", args=["nobody"]), {}).status_code == 404
    assert saved == [{"limit": 5}]


def test_the_pages_read_right_to_left_in_persian(
    owner: User, workspace: Workspace, client_of: Callable[..., Client]
) -> None:
    make_account(workspace)

    page = text_of(client_of(owner).get(PAGE))

    assert '<html lang="fa" dir="rtl"' in page
    assert f'<bdi dir="ltr">{LINE}</bdi>' in page


def test_the_number_of_queries_does_not_grow_with_the_accounts(english: Client, workspace: Workspace) -> None:
    english.get(PAGE)  # the first visit of a day renews the session
    counts = []
    for n in range(2):
        for _ in range(1 + 8 * n):
            make_account(workspace, title=f"Account {n}", is_primary=False)
        with CaptureQueriesContext(connection) as queries:
            english.get(PAGE)
        counts.append(len(queries))

    assert counts[0] == counts[1]
