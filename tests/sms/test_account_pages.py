"""Accounts of every kind of provider: their boxes, the order they stand in, the kinds of their lines."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from core.crypto import open_sealed
from sms.channel import gateway_of
from sms.models import ProviderAccount
from sms.simulator.server import PASSWORD, USERNAME, Simulator
from tests.people import client_of
from tests.sms.messages import make_account
from tests.sms.simulator_fixture import KEY, LINE
from workspaces.models import AuditRecord, User, Workspace

CANARY = "hunter2-canary"
ADD = "/settings/sms/accounts/new"


def form_of(kind: str, **changed: object) -> dict[str, object]:
    shared = {"title": "Main", "kind": kind, "lines": LINE, "rate_per_second": "5", "is_active": "on"}
    own: dict[str, dict[str, object]] = {
        "melipayamak": {"username": "peyk", "password": CANARY},
        "melipayamak_soap": {"username": "peyk", "password": CANARY, "batch_size": "100"},
        "melipayamak_console": {"password": CANARY},
        "generic": {
            "base_url": "https://127.0.0.1/send", "method": "post_json", "password": CANARY,
            "fields": "to = {to}\ntext = {text}\nkey = canary-in-a-field",
            "headers": "Authorization: Bearer {password}", "success_path": "status", "success_value": "ok",
            "id_path": "data.id", "code_path": "code", "codes": "7 = refused\nhttp_500 = not_sent",
        },
    }  # fmt: skip
    return {**shared, **own[kind], **changed}


@pytest.fixture
def english(owner: User) -> Client:
    return client_of(owner, language="en")


def add(client: Client, kind: str, **changed: object) -> Any:
    return client.post(reverse("sms:account-add"), form_of(kind, **changed))


def opened(account: ProviderAccount) -> dict[str, Any]:
    stored: dict[str, Any] = json.loads(
        open_sealed(account.sealed_credentials, bound_to=account.seal_binding)
    )
    return stored


@pytest.mark.parametrize("kind", ["melipayamak", "melipayamak_soap", "melipayamak_console", "generic"])
def test_an_account_of_every_kind_is_added_and_works(
    english: Client, workspace: Workspace, kind: str
) -> None:
    assert add(english, kind).status_code == 302

    account = ProviderAccount.objects.get()
    assert account.kind == kind
    assert gateway_of(account).key == kind


@pytest.mark.parametrize("kind", ["melipayamak", "melipayamak_soap", "melipayamak_console", "generic"])
def test_each_kind_shows_its_own_boxes(english: Client, kind: str) -> None:
    page = english.get(reverse("sms:account-add") + f"?kind={kind}").content.decode()

    assert f'name="kind" value="{kind}"' in page
    assert ('name="username"' in page) == (kind != "melipayamak_console")
    assert ('name="fields"' in page) == (kind == "generic")
    assert ('name="batch_size"' in page) == (kind != "generic")


def test_an_unknown_kind_shows_the_first_one(english: Client) -> None:
    page = english.get(reverse("sms:account-add") + "?kind=pigeon").content.decode()

    assert 'name="kind" value="melipayamak"' in page


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        ("melipayamak_console", "password", ""),
        ("melipayamak_soap", "username", ""),
        ("melipayamak_soap", "batch_size", "0"),
        ("melipayamak_soap", "batch_size", "101"),
        ("melipayamak_soap", "batch_size", "many"),
        ("generic", "base_url", ""),
        ("generic", "base_url", "http://sms.example/send"),
        ("generic", "base_url", "https://[::1"),
        ("generic", "base_url", "https://127.0.0.1:many/"),
        ("generic", "base_url", "https://10.0.0.1/send"),
        ("generic", "base_url", "https://169.254.169.254/latest"),
        ("generic", "base_url", "https://sms.example:8443/send"),
        ("generic", "base_url", "https://user@sms.example/send"),
        ("generic", "base_url", "https://sms.example/{token}/send"),
        ("generic", "method", "put"),
        ("generic", "fields", ""),
        ("generic", "fields", "to = {to}"),
        ("generic", "fields", "text = {text}"),
        ("generic", "fields", "to = {to}\ntext = {text}\nx = {password.__class__}\ny = {secret_key}"),
        ("generic", "fields", "to = {to}\nto = {to98}\ntext = {text}"),
        ("generic", "fields", "just words"),
        ("generic", "fields", "a b = {to}\ntext = {text}"),
        ("generic", "fields", "\n".join(f"f{n} = {{to}}{{text}}" for n in range(31))),
        ("generic", "headers", "Host: evil.example"),
        ("generic", "headers", "Content-Length: 5"),
        ("generic", "headers", "X-Text: {text}"),
        ("generic", "headers", "X-Key: کلید"),
        ("generic", "success_path", "a b"),
        ("generic", "id_path", "data..id"),
        ("generic", "codes", "7 = accepted"),
        ("generic", "codes", "7 = in_doubt"),
        ("generic", "codes", "7"),
    ],
)
def test_a_wrong_value_is_told_at_its_box(english: Client, kind: str, field: str, value: str) -> None:
    response = add(english, kind, **{field: value})

    page = response.content.decode()
    assert response.status_code == 422
    assert f'href="#id_{field}"' in page
    assert CANARY not in page
    assert ProviderAccount.objects.count() == 0


def test_a_description_needs_a_proof_of_acceptance(english: Client) -> None:
    response = add(english, "generic", success_path="", success_value="", id_path="")

    assert response.status_code == 422
    assert "Say how to tell that a message was accepted" in response.content.decode()


def test_what_people_write_into_fields_and_headers_is_sealed(english: Client, workspace: Workspace) -> None:
    add(english, "generic")

    account = ProviderAccount.objects.get()
    assert "canary-in-a-field" not in json.dumps(account.options) + account.sealed_credentials
    assert opened(account)["fields"]["key"] == "canary-in-a-field"
    kept = json.dumps([[row.old, row.new] for row in AuditRecord.objects.all()], default=str)
    assert "canary" not in kept


def test_a_description_is_shown_as_it_was_written(english: Client, workspace: Workspace) -> None:
    add(english, "generic")
    account = ProviderAccount.objects.get()

    page = english.get(reverse("sms:account", args=[account.pk])).content.decode()

    assert "to = {to}\ntext = {text}" in page
    assert "Authorization: Bearer {password}" in page
    assert "7 = refused" in page
    assert CANARY not in page


def test_saving_a_description_again_changes_nothing(english: Client, workspace: Workspace) -> None:
    add(english, "generic")
    account = ProviderAccount.objects.get()
    before = (account.options, opened(account))

    english.post(reverse("sms:account", args=[account.pk]), form_of("generic", password=""))

    account.refresh_from_db()
    assert (account.options, opened(account)) == before


@pytest.mark.parametrize(
    ("box", "typed"),
    [
        ("fields", "to = {to}\ntext = {text}\nkey = canary-of-tomorrow"),
        ("headers", "X-Key: canary-of-tomorrow"),
    ],
)
def test_changing_only_what_is_sealed_is_kept_and_audited(
    english: Client, workspace: Workspace, box: str, typed: str
) -> None:
    add(english, "generic")
    account = ProviderAccount.objects.get()

    english.post(reverse("sms:account", args=[account.pk]), form_of("generic", password="", **{box: typed}))

    account.refresh_from_db()
    assert "canary-of-tomorrow" in opened(account)[box].values()
    record = AuditRecord.objects.get(event="sms.account_changed")
    assert (record.old, record.new) == ({"credentials": "not set"}, {"credentials": "set"})


def test_a_described_provider_can_be_tried(
    english: Client, workspace: Workspace, simulator: Simulator
) -> None:
    fields = "user = {username}\nsecret = {password}\nto = {to}\nline = {sender}\nmessage = {text}"
    address = simulator.url + "/generic/send"
    add(english, "generic", base_url=address, fields=fields, username=USERNAME, password=PASSWORD, headers="")
    account = ProviderAccount.objects.get()
    trial = {"number": "09123456789", "sender": LINE, "text": "hello", "key": str(uuid4())}

    page = english.post(reverse("sms:account-test", args=[account.pk]), trial, follow=True).content.decode()

    assert "The provider accepted the message." in page
    assert simulator.accepted()[0].text == "hello"


@pytest.mark.parametrize("kind", ["melipayamak_soap", "melipayamak_console"])
def test_the_other_interfaces_can_be_tried(
    english: Client, workspace: Workspace, simulator: Simulator, kind: str
) -> None:
    secrets = {"username": USERNAME, "password": KEY if kind == "melipayamak_console" else PASSWORD}
    account = make_account(workspace, simulator.url, kind=kind, credentials=secrets)
    trial = {"number": "09123456789", "sender": LINE, "text": "hello", "key": str(uuid4())}

    english.post(reverse("sms:account-test", args=[account.pk]), trial)

    assert len(simulator.accepted()) == 1


def test_an_account_can_change_its_kind_and_keep_its_password(english: Client, workspace: Workspace) -> None:
    account = make_account(workspace)

    english.post(
        reverse("sms:account", args=[account.pk]), form_of("melipayamak_soap", username="", password="")
    )

    account.refresh_from_db()
    assert gateway_of(account).key == "melipayamak_soap"


def move(client: Client, account: ProviderAccount, how: str) -> None:
    client.post(reverse("sms:account-fallback", args=[account.pk]), {"move": how})


def chain() -> list[str]:
    rows = ProviderAccount.objects.filter(fallback_position__isnull=False).order_by("fallback_position")
    return list(rows.values_list("title", flat=True))


@pytest.fixture
def accounts(workspace: Workspace) -> dict[str, ProviderAccount]:
    make_account(workspace)
    return {title: make_account(workspace, title=title, is_primary=False) for title in "ABC"}


def test_accounts_stand_in_in_the_order_they_are_given(
    english: Client, accounts: dict[str, ProviderAccount]
) -> None:
    for title in "ABC":
        move(english, accounts[title], "in")
    assert chain() == ["A", "B", "C"]

    move(english, accounts["C"], "up")
    assert chain() == ["A", "C", "B"]

    move(english, accounts["A"], "out")
    assert chain() == ["C", "B"]


def test_the_first_one_can_not_go_further_up(english: Client, accounts: dict[str, ProviderAccount]) -> None:
    for title in "AB":
        move(english, accounts[title], "in")

    move(english, accounts["A"], "up")

    assert chain() == ["A", "B"]


def test_the_primary_account_stands_in_for_nobody(
    english: Client, accounts: dict[str, ProviderAccount]
) -> None:
    move(english, ProviderAccount.objects.get(is_primary=True), "in")
    assert chain() == []

    move(english, accounts["A"], "in")
    english.post(reverse("sms:account-primary", args=[accounts["A"].pk]))
    assert chain() == []


@pytest.mark.parametrize("how", ["", "sideways"])
def test_a_move_that_there_is_not_changes_nothing(
    english: Client, accounts: dict[str, ProviderAccount], how: str
) -> None:
    move(english, accounts["A"], how)

    assert chain() == []


def test_the_order_is_audited(english: Client, accounts: dict[str, ProviderAccount]) -> None:
    move(english, accounts["A"], "in")

    row = AuditRecord.objects.get(event="sms.fallback_changed")
    assert (row.old, row.new) == ({"fallback": []}, {"fallback": ["A"]})


def test_lines_get_their_kinds(english: Client, workspace: Workspace) -> None:
    account = make_account(workspace, lines=["50001", "9000", "4321"])
    kinds = {
        "kind_0": "promotional", "kind_1": "service", "kind_2": "pattern", "text_2": "کد شما {0} است.",
    }  # fmt: skip

    english.post(reverse("sms:account-lines", args=[account.pk]), kinds)

    account.refresh_from_db()
    assert account.line_details == {
        "9000": {"kind": "service"},
        "4321": {"kind": "pattern", "text": "کد شما {0} است."},
    }


@pytest.mark.parametrize(
    "changed",
    [
        {"kind_0": "pigeon"},
        {"kind_0": ""},
        {"kind_0": "pattern"},
        {"kind_0": "pattern", "text_0": "{0} {2}"},
        {"kind_0": "pattern", "text_0": "x" * 1001},
        {"kind_1": "pattern", "text_1": "hello"},  # its number is not that of a text
    ],
)
def test_wrong_kinds_are_refused(english: Client, workspace: Workspace, changed: dict[str, str]) -> None:
    account = make_account(workspace, lines=["4321", "50004001984220"])
    kinds = {"kind_0": "promotional", "kind_1": "promotional", **changed}

    response = english.post(reverse("sms:account-lines", args=[account.pk]), kinds)

    account.refresh_from_db()
    assert response.status_code == 422
    assert account.line_details == {}


def test_a_provider_without_approved_texts_offers_none(english: Client, workspace: Workspace) -> None:
    account = make_account(workspace, kind="generic", lines=["4321"])

    page = english.get(reverse("sms:account", args=[account.pk])).content.decode()

    assert 'value="service"' in page
    assert 'value="pattern"' not in page


def test_a_line_that_goes_takes_its_kind_along(english: Client, workspace: Workspace) -> None:
    account = make_account(workspace, lines=["9000"], line_details={"9000": {"kind": "service"}})

    english.post(reverse("sms:account", args=[account.pk]), form_of("melipayamak", lines="50001"))

    account.refresh_from_db()
    assert account.line_details == {}


def test_an_approved_text_is_tried_with_its_values(
    english: Client, workspace: Workspace, simulator: Simulator
) -> None:
    approved = {"4321": {"kind": "pattern", "text": "سلام {0}، کد شما {1} است."}}
    account = make_account(workspace, simulator.url, lines=["4321"], line_details=approved)
    trial = {"number": "09123456789", "sender": "4321", "text": "چیز دیگر", "kind": "service"}
    trial["key"] = str(uuid4())

    refused = english.post(reverse("sms:account-test", args=[account.pk]), trial)
    taken = english.post(
        reverse("sms:account-test", args=[account.pk]), {**trial, "text": "سلام علی، کد شما 12 است."}
    )

    assert (refused.status_code, taken.status_code) == (409, 302)
    assert [message.text for message in simulator.accepted()] == ["سلام علی، کد شما 12 است."]


KEYS = "to = {to}\ntext = {text}\ntype = sms\napi_key = 1234\nnote = a-long-literal-key"


def test_words_that_may_be_keys_are_dots_when_a_description_is_shown_again(
    english: Client, workspace: Workspace
) -> None:
    add(
        english,
        "generic",
        fields=KEYS,
        headers="X-Sign: abc\nAuthorization: Bearer 0123456789abcdef {password}",
    )
    account = ProviderAccount.objects.get()

    page = english.get(reverse("sms:account", args=[account.pk])).content.decode()

    assert "api_key = ••••••••\nnote = ••••••••" in page
    assert "Authorization: Bearer •••••••• {password}" in page
    assert "type = sms" in page
    assert not [key for key in ("1234\n", "a-long-literal", "0123456789abcdef", "abc\n") if key in page]


def test_dots_keep_the_stored_words_and_edited_dots_are_refused(
    english: Client, workspace: Workspace
) -> None:
    add(english, "generic", fields=KEYS)
    account = ProviderAccount.objects.get()
    address = reverse("sms:account", args=[account.pk])
    dotted = KEYS.replace("1234", "••••••••").replace("a-long-literal-key", "••••••••")

    english.post(address, form_of("generic", password="", fields=dotted.replace("= sms", "= text")))
    account.refresh_from_db()
    edited = english.post(address, form_of("generic", password="", fields=dotted.replace("note", "other")))

    stored = opened(account)["fields"]
    assert (stored["api_key"], stored["note"], stored["type"]) == ("1234", "a-long-literal-key", "text")
    assert edited.status_code == 422
    assert "Write the whole value of other" in edited.content.decode()


def test_a_rate_of_nothing_is_refused_in_words(english: Client, workspace: Workspace) -> None:
    response = add(english, "melipayamak", rate_per_second="0")

    assert response.status_code == 422
    assert "To send nothing by this account" in response.content.decode()


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"delivery_url": "https://127.0.0.1/state/{id}"}, "Say where in the answer it is."),
        ({"delivery_url": "https://127.0.0.1/state", "delivery_path": "s"}, "{id} has to stand in it"),
        ({"credit_url": "https://10.0.0.1/left", "credit_path": "c"}, "has to begin like the address"),
        ({"credit_url": "https://127.0.0.1/{text}", "credit_path": "c"}, "Only {id}, {username}"),
        ({"credit_url": "https://[::1", "credit_path": "c"}, "Write an address that begins with https://."),
        ({"delivery_words": "10 = arrived"}, "arrived is none of delivered"),
    ],
)
def test_questions_that_cannot_be_asked_are_told_at_their_boxes(
    english: Client, workspace: Workspace, changed: dict[str, str], words: str
) -> None:
    response = add(english, "generic", **changed)

    assert response.status_code == 422
    assert words in response.content.decode()


def test_a_promotional_text_cannot_be_tried_on_a_service_line(
    english: Client, workspace: Workspace, simulator: Simulator
) -> None:
    account = make_account(workspace, simulator.url, line_details={LINE: {"kind": "service"}})
    trial = {"number": "09123456789", "sender": LINE, "text": "hello", "key": str(uuid4())}
    address = reverse("sms:account-test", args=[account.pk])

    refused = english.post(address, {**trial, "kind": "promotional"})
    sent_before = len(simulator.accepted())
    english.post(address, {**trial, "kind": "service"})

    assert (refused.status_code, sent_before, len(simulator.accepted())) == (422, 0, 1)
    assert "This line is not for promotional messages." in refused.content.decode()
