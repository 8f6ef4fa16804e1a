from __future__ import annotations

import base64
import os
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from core import rotation
from core.crypto import needs_rotation, open_sealed, seal
from core.rotation import sealed_columns
from sms.models import ProviderAccount
from tests.people import make_workspace
from tests.sms.messages import make_account
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db
SECRET = {"username": "peyk-user", "password": "canary-secret"}


def key() -> bytes:
    return base64.urlsafe_b64decode(base64.urlsafe_b64encode(os.urandom(32)))


@pytest.fixture
def keys(settings: Settings) -> dict[str, bytes]:
    """An old key, and a newer one that is not in use yet."""
    made = {"old": key(), "new": key()}
    settings.DATA_KEYS = {"old": made["old"]}
    return made


def accounts() -> list[ProviderAccount]:
    return list(ProviderAccount.unscoped.order_by("pk"))


def rotated() -> str:
    out = StringIO()
    call_command("rotate_keys", stdout=out)
    return out.getvalue()


@pytest.fixture
def three(workspace: Workspace, keys: dict[str, bytes], settings: Settings) -> dict[str, bytes]:
    """Three accounts sealed with the old key; both keys are configured, the new one first."""
    for number in range(3):
        make_account(workspace, title=f"a{number}", is_primary=False, credentials=SECRET)
    settings.DATA_KEYS = {"new": keys["new"], "old": keys["old"]}
    return keys


def test_every_secret_is_sealed_with_the_newest_key(three: dict[str, bytes], settings: Settings) -> None:
    assert "3 sealed again, 0 current, 0 unreadable" in rotated()

    settings.DATA_KEYS = {"new": three["new"]}
    opened = [open_sealed(row.sealed_credentials, bound_to=row.seal_binding) for row in accounts()]
    assert all("canary-secret" in one for one in opened)


def test_a_second_run_changes_nothing(three: dict[str, bytes]) -> None:
    rotated()
    before = [row.sealed_credentials for row in accounts()]

    assert "0 sealed again, 3 current" in rotated()
    assert [row.sealed_credentials for row in accounts()] == before


def test_a_run_that_was_stopped_half_way_is_finished_by_the_next(
    three: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rotation, "CHUNK", 1)
    (column,) = [one for one in sealed_columns() if one.name == "provider credentials"]
    done = rotation.Rotated()
    rotation._rotate_row(column, accounts()[0], done)  # what a killed run had got to

    assert "2 sealed again, 1 current" in rotated()
    assert not any(needs_rotation(row.sealed_credentials) for row in accounts())


def test_a_secret_replaced_meanwhile_stays(three: dict[str, bytes]) -> None:
    (column,) = [one for one in sealed_columns() if one.name == "provider credentials"]
    stale = accounts()[0]
    fresh = seal("typed just now", bound_to=stale.seal_binding)
    ProviderAccount.unscoped.filter(pk=stale.pk).update(sealed_credentials=fresh)

    rotation._rotate_row(column, stale, done := rotation.Rotated())

    assert (done.sealed_again, done.current) == (0, 1)
    assert accounts()[0].sealed_credentials == fresh


def test_secrets_of_all_workspaces_are_rotated(
    workspace: Workspace, keys: dict[str, bytes], settings: Settings
) -> None:
    make_account(workspace, credentials=SECRET)
    make_account(make_workspace("other"), credentials=SECRET)
    settings.DATA_KEYS = {"new": keys["new"], "old": keys["old"]}

    assert "2 sealed again" in rotated()


def test_a_secret_whose_key_is_gone_is_counted_and_left(three: dict[str, bytes], settings: Settings) -> None:
    settings.DATA_KEYS = {"new": three["new"]}
    before = [row.sealed_credentials for row in accounts()]

    with pytest.raises(CommandError, match=r"3 secret"):
        rotated()
    assert [row.sealed_credentials for row in accounts()] == before


def test_nothing_secret_is_printed(three: dict[str, bytes]) -> None:
    out = rotated()

    assert "canary-secret" not in out
    assert "peyk-user" not in out
