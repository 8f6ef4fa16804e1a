"""One's own name, language and password, and the first password of an invited person."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.test import Client, RequestFactory
from pytest_django import Settings

from tests.people import PASSWORD, client_of, make_user
from workspaces import invitations
from workspaces.models import User

pytestmark = pytest.mark.django_db
NEW = "walnut-bridge-31"


@pytest.fixture
def person() -> User:
    return make_user("parisa@kaveh.example")


@pytest.fixture
def invited() -> User:
    return User.objects.create_user("new@kaveh.example")


def change_password(client: Client, *, old: str = PASSWORD, new: str = NEW, again: str = "") -> int:
    form = {"old_password": old, "new_password1": new, "new_password2": again or new}
    return client.post("/account/password", form).status_code


def link(person: User) -> str:
    return invitations.link_for(RequestFactory().get("/"), person).removeprefix("http://testserver")


def set_first(client: Client, address: str, password: str = NEW) -> int:
    return client.post(address, {"new_password1": password, "new_password2": password}).status_code


def test_a_new_password_ends_every_other_session(person: User) -> None:
    here, elsewhere = client_of(person), client_of(person)
    assert change_password(here) == 302

    assert here.get("/account").status_code == 200
    assert elsewhere.get("/account").status_code == 302


def test_the_new_password_is_the_one_that_counts(person: User) -> None:
    change_password(client_of(person))
    person.refresh_from_db()

    assert person.check_password(NEW)


@pytest.mark.parametrize(
    ("old", "new", "again"),
    [
        ("wrong", NEW, NEW),
        (PASSWORD, NEW, "different-one-1"),
        (PASSWORD, "short", "short"),
        (PASSWORD, "password123", ""),
    ],
)
def test_a_password_is_refused(person: User, old: str, new: str, again: str) -> None:
    assert change_password(client_of(person), old=old, new=new, again=again) == 422


def test_a_person_sets_their_name_and_language(person: User) -> None:
    client_of(person).post("/account", {"full_name": "پریسا رضایی", "language": "en"})
    person.refresh_from_db()

    assert (person.full_name, person.language) == ("پریسا رضایی", "en")


def test_following_the_workspace_forgets_the_choice_of_this_browser(person: User) -> None:
    client = client_of(person, language="en")
    client.post("/account", {"full_name": "", "language": ""})

    assert client.cookies[settings.LANGUAGE_COOKIE_NAME].value == ""


def test_nobody_makes_themselves_somebody_else(person: User) -> None:
    client_of(person).post("/account", {"full_name": "P", "email": "owner@kaveh.example", "is_active": ""})
    person.refresh_from_db()

    assert (person.email, person.is_active) == ("parisa@kaveh.example", True)


def test_an_invitation_sets_the_first_password_and_signs_in(invited: User, client: Client) -> None:
    assert set_first(client, link(invited)) == 302

    invited.refresh_from_db()
    assert invited.check_password(NEW)
    assert client.get("/account").status_code == 200


def test_an_invitation_works_once(invited: User, client: Client) -> None:
    address = link(invited)
    set_first(client, address)

    assert set_first(Client(), address, "another-good-77") == 410


def test_an_invitation_is_over_after_three_days(invited: User, client: Client, settings: Settings) -> None:
    address = link(invited)
    settings.PASSWORD_RESET_TIMEOUT = -1

    assert client.get(address).status_code == 410


def test_an_invitation_is_for_one_person(invited: User, client: Client) -> None:
    other = User.objects.create_user("other@kaveh.example")
    token = link(invited).rsplit("/", 1)[1]
    address = f"{link(other).rsplit('/', 1)[0]}/{token}"

    assert client.get(address).status_code == 410


def test_an_invitation_never_opens_an_account_that_has_a_password(person: User, client: Client) -> None:
    assert client.get(link(person)).status_code == 410


@pytest.mark.parametrize(
    "address", ["/invitation/MQ/x-y", "/invitation/%FF/x", "/invitation/OTk5/abc-def", "/invitation/e/e"]
)
def test_a_made_up_invitation_is_over(client: Client, address: str) -> None:
    assert client.get(address).status_code == 410


def test_a_weak_first_password_is_refused(invited: User, client: Client) -> None:
    assert set_first(client, link(invited), "password") == 422
