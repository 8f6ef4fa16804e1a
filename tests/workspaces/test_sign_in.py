"""Signing in, staying signed in, signing out; and what guessing meets."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.contrib.sessions.models import Session
from django.test import Client, override_settings
from pytest_django import Settings

from tests.clocks import MovableClock
from tests.people import PASSWORD, Answer, client_of, in_language, make_user
from workspaces.models import User

pytestmark = pytest.mark.django_db

EMAIL = "parisa@kaveh.example"
GUESSES = settings.AXES_FAILURE_LIMIT


@pytest.fixture
def person() -> User:
    return make_user(EMAIL)


def sign_in(
    client: Client, password: str = PASSWORD, email: str = EMAIL, address: str = "10.0.0.1", **data: str
) -> Answer:
    form = {"username": email, "password": password, **data}
    return client.post("/sign-in", form, REMOTE_ADDR=address)


def is_in(client: Client) -> bool:
    return client.get("/workspaces").status_code == 200


def test_the_right_password_opens_the_start_page(person: User, client: Client) -> None:
    response = sign_in(client)

    assert (response.status_code, response["Location"]) == (302, "/")
    assert is_in(client)


def test_the_email_is_found_however_it_is_written(person: User, client: Client) -> None:
    sign_in(client, email="Parisa@KAVEH.example")

    assert is_in(client)


def test_somebody_signed_in_does_not_see_the_form(person: User) -> None:
    assert client_of(person).get("/sign-in")["Location"] == "/"


@pytest.mark.parametrize("language", ["fa", "en"])
def test_a_stranger_and_a_wrong_password_read_the_same(person: User, language: str) -> None:
    client = in_language(Client(), language)
    wrong = sign_in(client, "not-the-password")
    unknown = sign_in(client, "not-the-password", email="nobody@kaveh.example")

    assert wrong.status_code == unknown.status_code == 422
    assert wrong.context["form"].non_field_errors() == unknown.context["form"].non_field_errors()


def test_a_closed_account_reads_like_a_wrong_password(person: User, client: Client) -> None:
    User.objects.filter(pk=person.pk).update(is_active=False)

    assert sign_in(client).context["form"].has_error("__all__", "wrong")


def test_an_unknown_person_costs_a_hash_too(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    hashed: list[str] = []
    encode = PBKDF2PasswordHasher.encode

    class Counting(PBKDF2PasswordHasher):
        iterations = 1

        def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
            hashed.append(salt)
            return encode(self, password, salt, 1)

    monkeypatch.setattr("django.contrib.auth.hashers.get_hasher", lambda algorithm="default": Counting())
    sign_in(client, email="nobody@kaveh.example")

    assert len(hashed) == 1


def test_a_typed_password_is_not_sent_back(person: User, client: Client) -> None:
    assert b"not-the-password" not in sign_in(client, "not-the-password").content


@pytest.mark.parametrize(
    "address",
    [
        "//evil.example",
        "/\\evil.example",
        "http:evil",
        "javascript:alert(1)",
        "\\\\evil",
        "/\t/evil",
        "https://good@evil",
    ],
)
def test_the_way_back_never_leaves_the_site(person: User, client: Client, address: str) -> None:
    assert sign_in(client, next=address)["Location"] == "/"


@pytest.mark.parametrize("address", ["/account", "/settings/audit?event=member.added", "/%2F%2Fevil.example"])
def test_the_way_back_within_the_site_is_kept(person: User, client: Client, address: str) -> None:
    assert sign_in(client, next=address)["Location"] == address


def test_a_session_planted_before_signing_in_is_worthless(person: User, client: Client) -> None:
    client.session.save()
    planted = client.session.session_key
    client.cookies[settings.SESSION_COOKIE_NAME] = str(planted)
    sign_in(client)

    assert client.session.session_key != planted
    assert not Session.objects.filter(pk=planted).exists()


def test_signing_out_ends_the_session_for_good(person: User) -> None:
    client = client_of(person)
    cookie = client.cookies[settings.SESSION_COOKIE_NAME].value
    assert client.post("/sign-out")["Location"] == "/sign-in"
    client.cookies[settings.SESSION_COOKIE_NAME] = cookie

    assert not is_in(client)


def test_signing_out_is_never_a_link(person: User) -> None:
    client = client_of(person)

    assert client.get("/sign-out").status_code == 405
    assert is_in(client)


def test_a_person_who_is_switched_off_is_out_at_the_next_request(person: User) -> None:
    client = client_of(person)
    User.objects.filter(pk=person.pk).update(is_active=False)

    assert not is_in(client)


def test_coming_back_every_day_moves_the_end_of_the_session(person: User, clock: MovableClock) -> None:
    client = client_of(person)
    client.get("/workspaces")
    first = client.session["renewed"]
    clock.advance(hours=25)
    client.get("/workspaces")

    assert client.session["renewed"] == first + 25 * 3600


def test_within_a_day_a_visit_writes_no_session(person: User, clock: MovableClock) -> None:
    client = client_of(person)
    client.get("/workspaces")
    clock.advance(hours=23)

    assert settings.SESSION_COOKIE_NAME not in client.get("/workspaces").cookies


def test_guessing_one_password_closes_the_door_for_a_while(person: User, client: Client) -> None:
    answers = [sign_in(client, f"guess-{n}").status_code for n in range(GUESSES)]

    assert answers == [422] * (GUESSES - 1) + [429]
    assert sign_in(client).status_code == 429


def test_a_closed_door_says_when_to_come_back(person: User, client: Client) -> None:
    for n in range(GUESSES):
        answer = sign_in(client, f"guess-{n}")

    assert answer["Retry-After"] == "900"
    assert "workspaces/locked_out.html" in [template.name for template in answer.templates]


def test_a_machine_is_told_in_json(person: User, client: Client) -> None:
    for n in range(GUESSES):
        answer = client.post(
            "/sign-in", {"username": EMAIL, "password": f"guess-{n}"}, headers={"Accept": "application/json"}
        )

    assert answer.json()["code"] == "too_many_attempts"


def test_one_address_guessing_at_many_people_is_stopped(person: User) -> None:
    for n in range(GUESSES):
        sign_in(Client(), "summer2026", email=f"person{n}@kaveh.example")

    assert sign_in(Client(), "summer2026", email="next@kaveh.example").status_code == 429


def test_many_addresses_guessing_at_one_person_are_stopped(person: User) -> None:
    for n in range(GUESSES):
        sign_in(Client(), f"guess-{n}", address=f"10.1.0.{n}")

    assert sign_in(Client(), address="10.2.0.1").status_code == 429


def test_a_browser_the_person_has_used_before_is_not_locked_out_by_others(person: User) -> None:
    known = Client()
    sign_in(known)
    known.post("/sign-out")
    for n in range(GUESSES):
        sign_in(Client(), f"guess-{n}", address=f"10.1.0.{n}")

    assert sign_in(known, address="10.2.0.1").status_code == 302


def test_a_known_browser_is_known_for_its_own_person_only(person: User) -> None:
    make_user("other@kaveh.example")
    known = Client()
    sign_in(known)
    known.post("/sign-out")
    for n in range(GUESSES):
        sign_in(Client(), f"guess-{n}", email="other@kaveh.example", address=f"10.1.0.{n}")

    assert sign_in(known, email="other@kaveh.example", address="10.2.0.1").status_code == 429


def test_a_forged_mark_of_a_known_browser_counts_for_nothing(person: User) -> None:
    client = Client()
    client.cookies["peyk_device"] = "InBhcmlzYUBrYXZlaC5leGFtcGxlIg:1vXYZ:forged"
    for n in range(GUESSES):
        sign_in(Client(), f"guess-{n}", address=f"10.1.0.{n}")

    assert sign_in(client, address="10.2.0.1").status_code == 429


def test_an_account_of_ones_own_does_not_wash_off_guesses_at_others(person: User) -> None:
    make_user("insider@kaveh.example")
    for n in range(GUESSES - 1):
        sign_in(Client(), f"guess-{n}")
    assert sign_in(Client(), email="insider@kaveh.example").status_code == 302

    assert sign_in(Client(), "guess-last").status_code == 429


def test_a_forged_forwarded_header_is_not_an_address(person: User) -> None:
    for n in range(GUESSES):
        client = Client(headers={"X-Forwarded-For": f"1.2.3.{n}"})
        sign_in(client, f"guess-{n}", email=f"person{n}@kaveh.example")

    assert AccessAttempt.objects.values("ip_address").distinct().get() == {"ip_address": "10.0.0.1"}


def test_behind_a_configured_proxy_the_visitors_address_counts(person: User, settings: Settings) -> None:
    settings.PROXY_COUNT = 1
    sign_in(Client(headers={"X-Forwarded-For": "1.2.3.4, 5.6.7.8"}), "guess")

    assert AccessAttempt.objects.get().ip_address == "5.6.7.8"


def test_the_attempts_that_are_kept_hold_no_password(person: User, client: Client) -> None:
    sign_in(client, "canary-password-1")
    kept = AccessAttempt.objects.get()

    assert "canary" not in f"{kept.post_data}{kept.get_data}"


@pytest.fixture
def _https() -> Iterator[None]:
    with override_settings(SESSION_COOKIE_SECURE=True, CSRF_COOKIE_SECURE=True):
        yield


@pytest.mark.usefixtures("_https")
def test_cookies_of_a_signed_in_person_are_for_this_site_and_no_script(person: User, client: Client) -> None:
    sign_in(client)
    kept = [client.cookies[settings.SESSION_COOKIE_NAME], client.cookies["peyk_device"]]

    assert [(c["httponly"], c["secure"], c["samesite"]) for c in kept] == [(True, True, "Lax")] * 2
