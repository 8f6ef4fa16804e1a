"""The commands of the operator: each says what it does, and finds nothing wrong on the first day."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import call_command, get_commands
from django.core.management.base import CommandError

from tests.clocks import MovableClock

OURS = sorted(
    name
    for name, app in get_commands().items()
    if app in ("automation", "campaigns", "core", "sms", "targets", "workspaces")
)


@pytest.mark.parametrize("name", OURS)
def test_a_command_says_what_it_does(name: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        call_command(name, "--help")
    assert ended.value.code == 0
    assert f"{name} [-h]" in capsys.readouterr().out


@pytest.mark.django_db
@pytest.mark.parametrize(
    "name", ["automation_tick", "automation_reap", "conservation_check", "check_counters", "reconcile_sms"]
)
def test_on_an_empty_database_it_finds_nothing_wrong(name: str, clock: MovableClock):
    try:
        call_command(name, stdout=StringIO())
    except (CommandError, SystemExit) as ended:
        pytest.fail(f"{name}: {ended}")
