"""Failpoints do what they say, only where they may, and every one of them is known."""

from __future__ import annotations

import ast
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from core import failpoints
from core.checks import check_failpoints
from core.failpoints import FailpointError, FailpointRaised, failpoint

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = ("automation", "blacklist", "campaigns", "config", "core", "sms", "targets", "workspaces")


@pytest.fixture(autouse=True)
def _disarmed() -> Iterator[None]:
    yield
    failpoints.arm("")


def calls() -> list[ast.expr]:
    """The arguments of every call of `failpoint` in the product."""
    files = [file for folder in PRODUCT for file in (ROOT / folder).rglob("*.py")]
    nodes = [node for file in files for node in ast.walk(ast.parse(file.read_text("utf-8")))]
    return [
        node.args[0]
        for node in nodes
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "failpoint"
    ]


def test_the_list_names_every_failpoint_in_the_code_once():
    names = [str(argument.value) for argument in calls() if isinstance(argument, ast.Constant)]
    assert len(names) == len(calls()), "a failpoint's name must be a plain word"
    assert sorted(names) == sorted(failpoints.NAMES)


def test_nothing_happens_unless_armed():
    failpoint("after_reserve")


def test_an_error_from_the_third_hit_on():
    failpoints.arm("after_reserve=raise@3")
    failpoint("after_reserve")
    failpoint("after_reserve")
    for _ in range(2):
        with pytest.raises(FailpointRaised):
            failpoint("after_reserve")


def test_once_is_once():
    failpoints.arm("after_reserve=raise,once; before_socket=raise@2,once")
    with pytest.raises(FailpointRaised):
        failpoint("after_reserve")
    failpoint("after_reserve")


def test_a_pause_lasts_until_its_file_is_gone(tmp_path: Path):
    file = tmp_path / "here"
    failpoints.arm(f"after_http=pause:{file}")
    waiting = Thread(target=failpoint, args=("after_http",))
    waiting.start()
    while not file.exists():
        time.sleep(0.005)
    assert waiting.is_alive()
    file.unlink()
    waiting.join(timeout=5)
    assert not waiting.is_alive()


@pytest.mark.parametrize(
    "spec", ["nowhere=kill", "after_http=explode", "after_http", "after_http=kill@x", "after_http=kill,twice"]
)
def test_a_mistake_in_the_specification_is_refused(spec: str):
    with pytest.raises(FailpointError):
        failpoints.arm(spec)


def test_production_settings_obey_nothing(settings: Any, monkeypatch: pytest.MonkeyPatch):
    settings.TESTING = False
    monkeypatch.setenv(failpoints.VARIABLE, "after_http=raise")
    monkeypatch.setattr(failpoints, "_armed", None)
    failpoint("after_http")
    with pytest.raises(FailpointError):
        failpoints.arm("after_http=raise")


def test_production_settings_refuse_the_variable(settings: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(failpoints.VARIABLE, "after_http=kill")
    assert check_failpoints() == []
    settings.TESTING = False
    assert [problem.id for problem in check_failpoints()] == ["peyk.E003"]


def test_a_place_that_names_what_it_is_about_acts_for_that_alone():
    failpoints.arm("in_walk=raise#7+9")
    failpoint("in_walk", 8)
    for key in (7, 9):
        with pytest.raises(FailpointRaised):
            failpoint("in_walk", key)
