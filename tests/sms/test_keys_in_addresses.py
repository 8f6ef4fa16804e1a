"""A key does not belong into a provider's address: refused when typed, hidden where it stands already."""

from __future__ import annotations

import json

import pytest
from django.test import Client
from django.urls import reverse

from sms.channel import gateway_of
from sms.models import ProviderAccount
from sms.simulator.server import Simulator
from sms.types import OutboundSms
from tests.people import client_of
from tests.sms.messages import make_account
from tests.sms.simulator_fixture import LINE
from workspaces import audit
from workspaces.models import AuditRecord, User, Workspace

KEY = "0123456789abcdef"
FURTHER = f"https://127.0.0.1/state?apikey={KEY}&id={{id}}"
DOTS = "••••••••"


@pytest.fixture
def english(owner: User) -> Client:
    return client_of(owner, language="en")


def form(**changed: str) -> dict[str, str]:
    return {
        "title": "Main", "kind": "generic", "lines": LINE, "rate_per_second": "5", "is_active": "on",
        "base_url": "https://127.0.0.1/send", "method": "post_form", "password": "",
        "fields": "to = {to}\ntext = {text}", "id_path": "id", **changed,
    }  # fmt: skip


@pytest.fixture
def from_before(workspace: Workspace) -> ProviderAccount:
    """An account whose addresses were stored with the key in them."""
    return make_account(
        workspace, f"https://127.0.0.1/v1/{KEY}/send", kind="generic", lines=[LINE],
        options={
            "method": "post_form", "id_path": "id", "delivery_url": FURTHER, "delivery_path": "s",
            "credit_url": f"https://127.0.0.1/{KEY}/left", "credit_path": "c",
        },
        credentials={"fields": {"to": "{to}", "text": "{text}"}, "headers": {}},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("box", "address", "words"),
    [
        ("base_url", "https://me:hunter2@127.0.0.1/send", "before the @ is not possible"),
        ("base_url", f"https://127.0.0.1/v1/{KEY}/send", "Write {password} in its place"),
        ("base_url", "https://127.0.0.1/send?APIKEY=hunter2", "Write {password} in its place"),
        ("base_url", "https://127.0.0.1/send?user_token=hunter2", "Write {password} in its place"),
        ("base_url", "https://127.0.0.1/send?client-secret=hunter2", "Write {password} in its place"),
        ("delivery_url", "https://127.0.0.1/state?password=hunter2&id={id}", "Write {password} in its place"),
        ("credit_url", "https://127.0.0.1/left?key=hunter2", "Write {password} in its place"),
    ],
)
def test_a_key_written_into_an_address_is_refused_with_the_remedy(
    english: Client, workspace: Workspace, box: str, address: str, words: str
) -> None:
    answer = english.post(
        reverse("sms:account-add"), form(delivery_path="s", credit_path="c", **{box: address})
    )

    page = answer.content.decode()
    assert (answer.status_code, ProviderAccount.objects.count()) == (422, 0)
    assert words in page
    assert f'href="#id_{box}"' in page
    assert not [key for key in ("hunter2", KEY) if key in page]


def test_a_key_in_the_address_of_a_panel_is_refused_too(english: Client, workspace: Workspace) -> None:
    typed = form(kind="melipayamak", username="me", password="x", base_url=f"https://127.0.0.1/{KEY}")

    page = english.post(reverse("sms:account-add"), typed).content.decode()

    assert "Write it into the box for the password or key." in page


def test_a_place_for_the_key_is_no_key(english: Client, workspace: Workspace) -> None:
    address = "https://127.0.0.1/v1/{password}/send?apikey={password}"

    english.post(reverse("sms:account-add"), form(base_url=address, password=KEY))

    assert ProviderAccount.objects.get().base_url == address


def test_addresses_of_before_are_shown_with_dots_and_kept_when_they_come_back(
    english: Client, from_before: ProviderAccount
) -> None:
    page = english.get(reverse("sms:account", args=[from_before.pk])).content.decode()
    back = form(
        title="New", base_url=f"https://127.0.0.1/v1/{DOTS}/send", delivery_path="s", credit_path="c",
        delivery_url=FURTHER.replace(KEY, DOTS), credit_url=f"https://127.0.0.1/{DOTS}/left",
    )  # fmt: skip
    english.post(reverse("sms:account", args=[from_before.pk]), back)

    stored = ProviderAccount.objects.get()
    assert KEY not in page
    assert f"https://127.0.0.1/v1/{DOTS}/send" in page
    assert stored.title == "New"
    assert (stored.base_url, stored.options["delivery_url"], stored.options["credit_url"]) == (
        from_before.base_url, FURTHER, f"https://127.0.0.1/{KEY}/left",
    )  # fmt: skip


def test_dots_in_another_address_are_refused(english: Client, from_before: ProviderAccount) -> None:
    typed = form(base_url=f"https://127.0.0.1/v2/{DOTS}/send")

    answer = english.post(reverse("sms:account", args=[from_before.pk]), typed)

    assert answer.status_code == 422
    assert "Write the whole address" in answer.content.decode()


def test_the_audit_log_and_its_download_tell_no_key_of_an_address(
    english: Client, from_before: ProviderAccount
) -> None:
    audit.record(  # as an older release wrote it
        "sms.account_changed", entity=from_before, user=None,
        old={"options": {"delivery_url": FURTHER}}, new={"base_url": from_before.base_url},
    )  # fmt: skip
    english.post(reverse("sms:account", args=[from_before.pk]), form())

    written = AuditRecord.objects.order_by("-pk")[0]
    page = english.get(reverse("workspaces:audit")).content.decode()
    download = b"".join(english.get(reverse("workspaces:audit-export", args=["csv"]))).decode()
    assert KEY not in json.dumps([written.old, written.new]) + page + download
    assert "127.0.0.1/state?apikey=…" in download


def test_a_key_that_replaces_another_in_an_address_is_audited_as_credentials(
    english: Client, workspace: Workspace, from_before: ProviderAccount
) -> None:
    from sms import accounts

    values = accounts.AccountValues(
        title=from_before.title, kind="generic", base_url=from_before.base_url, lines=[LINE],
        rate_per_second=from_before.rate_per_second, is_active=True, batch_size=from_before.batch_size,
        options={**from_before.options, "delivery_url": FURTHER.replace(KEY, "fedcba9876543210")},
        sealed={"fields": {"to": "{to}", "text": "{text}"}, "headers": {}},
    )  # fmt: skip
    user = User.objects.get(pk=int(english.session["_auth_user_id"]))

    accounts.change_account(from_before, values, user=user)

    record = AuditRecord.objects.get(event="sms.account_changed")
    assert (record.old, record.new) == ({"credentials": "not set"}, {"credentials": "set"})
    assert "fedcba9876543210" in ProviderAccount.objects.get().options["delivery_url"]


def test_an_answer_that_repeats_the_address_is_kept_without_its_key(
    workspace: Workspace, simulator: Simulator
) -> None:
    account = make_account(
        workspace, f"{simulator.url}/generic/send?v={KEY}", kind="generic", lines=[LINE],
        options={"method": "post_form", "id_path": "id"},
        credentials={"fields": {"to": "{to}", "text": "{text}"}, "headers": {}},
    )  # fmt: skip

    simulator.behave({"rules": [{"do": "body", "body": f"no such thing: /generic/send?v={KEY}"}]})

    result = gateway_of(account).send(OutboundSms(to="09123456789", text="x"), deadline_s=5)

    assert "no such thing" in json.dumps(dict(result.raw))
    assert KEY not in json.dumps(dict(result.raw))
    assert KEY not in repr(gateway_of(account)._config)  # type: ignore[attr-defined]
