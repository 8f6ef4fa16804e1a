"""create_workspace and create_member: what they make, print and refuse."""

from __future__ import annotations

import io

import pytest
from django.core.management import CommandError, call_command

from core.tenancy import workspace_scope
from tests.people import make_user, make_workspace
from workspaces.models import AuditRecord, Membership, User, Workspace

pytestmark = pytest.mark.django_db


def run(command: str, *flags: str, **options: str) -> str:
    """As typed in a terminal; gives what was printed."""
    out = io.StringIO()
    typed = [part for name, value in options.items() for part in (f"--{name}", value)]
    call_command(command, *typed, *flags, stdout=out)
    return out.getvalue()


def create_workspace(**options: str) -> str:
    return run("create_workspace", **{"name": "Kaveh shop", "slug": "kaveh", **options})


def create_member(*flags: str, **options: str) -> str:
    values = {"workspace": "kaveh", "email": "parisa@kaveh.example", "role": "owner"}
    return run("create_member", *flags, **{**values, **options})


def test_a_workspace_is_made_with_the_hosts_zone_in_persian() -> None:
    create_workspace()
    made = Workspace.objects.get()

    assert (made.name, made.slug, made.timezone, made.language) == (
        "Kaveh shop",
        "kaveh",
        "Asia/Tehran",
        "fa",
    )


def test_making_a_workspace_is_audited_in_it() -> None:
    create_workspace(timezone="Asia/Dubai", language="en")
    with workspace_scope(Workspace.objects.get().pk):
        row = AuditRecord.objects.get()

    assert (row.event, row.user, row.new["timezone"]) == ("workspace.created", None, "Asia/Dubai")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"timezone": "Mars/Base"}, "not a time zone"),
        ({"slug": "کاوه"}, "Latin letters"),
        ({"slug": "x" * 61}, "at most 60"),
        ({"name": " "}, "1 to 120"),
        ({"language": "tlh"}, "language"),
    ],
)
def test_a_wrong_workspace_is_refused_with_the_reason(options: dict[str, str], says: str) -> None:
    with pytest.raises(CommandError, match=says):
        create_workspace(**options)
    assert not Workspace.objects.exists()


def test_a_taken_slug_is_refused() -> None:
    create_workspace()

    with pytest.raises(CommandError, match="exists already"):
        create_workspace(name="Another")


def test_a_new_member_gets_a_password_that_is_printed_once() -> None:
    make_workspace("kaveh")
    printed = create_member().strip().splitlines()[-1].split()[-1]
    person = User.objects.get()

    assert person.check_password(printed)
    assert len(printed) >= 20


def test_a_given_password_is_read_and_not_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    make_workspace("kaveh")
    monkeypatch.setattr("sys.stdin", io.StringIO("walnut-bridge-31\n"))
    printed = create_member("--password-stdin")

    assert User.objects.get().check_password("walnut-bridge-31")
    assert "walnut" not in printed


@pytest.mark.parametrize("weak", ["", "short", "parisa@kaveh.example"])
def test_a_weak_given_password_makes_nobody(monkeypatch: pytest.MonkeyPatch, weak: str) -> None:
    make_workspace("kaveh")
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{weak}\n"))

    with pytest.raises(CommandError, match="password was refused"):
        create_member("--password-stdin")
    assert not User.objects.exists()


def test_an_existing_account_keeps_its_password() -> None:
    make_workspace("kaveh")
    person = make_user("parisa@kaveh.example")
    printed = create_member(email="Parisa@Kaveh.example")
    hashed = person.password
    person.refresh_from_db()

    assert person.password == hashed
    assert "keeps its password" in printed
    assert Membership.unscoped.get().user == person


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"workspace": "nope"}, "no workspace"),
        ({"email": "nope"}, "not an e-mail"),
        ({"role": "wizard"}, "role"),
    ],
)
def test_a_wrong_member_is_refused_with_the_reason(options: dict[str, str], says: str) -> None:
    make_workspace("kaveh")

    with pytest.raises(CommandError, match=says):
        create_member(**options)
    assert not User.objects.exists()


def test_a_member_is_not_made_twice() -> None:
    make_workspace("kaveh")
    create_member()

    with pytest.raises(CommandError, match="already"):
        create_member(role="seller")
