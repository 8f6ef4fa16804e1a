"""Files people deploy with: every command they name exists, and no secret stands in them."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import get_commands

from script import new_env, settings_reference

ROOT = Path(__file__).resolve().parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = [name for name, service in SERVICES.items() if "build" in service]
COMMANDS = ("demo", "manage", "server", "setup", "test", "tick", "worker")


def documented() -> list[str]:
    """Every `script/...` and `manage.py ...` that the README and the docs tell people to type."""
    text = "\n".join(path.read_text() for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
    return sorted(
        set(re.findall(r"(?:script/manage [a-z_]+|script/[a-z]+\b(?![./])|manage\.py [a-z_]+)", text))
    )


def exists(command: str) -> bool:
    program, *rest = shlex.split(command)
    if program == "manage.py" or (program == "script/manage" and rest):
        return rest[0] in get_commands()
    return os.access(ROOT / program, os.X_OK)


def test_compose_has_all_the_parts_of_a_server() -> None:
    assert set(SERVICES) == {"db", "redis", "setup", "web", "worker", "tick"}


@pytest.mark.parametrize("name", OURS)
def test_the_command_of_a_service_exists(name: str) -> None:
    assert exists(SERVICES[name]["command"][0])


@pytest.mark.parametrize("name", OURS)
def test_a_service_waits_for_what_it_needs(name: str) -> None:
    needed = {"db", "redis"} if name == "setup" else {"setup"}

    assert set(SERVICES[name]["depends_on"]) == needed


def test_every_service_that_is_depended_on_is_there() -> None:
    assert all(
        needed in SERVICES for service in SERVICES.values() for needed in service.get("depends_on", {})
    )


@pytest.mark.parametrize("name", OURS)
def test_a_service_uses_the_database_and_redis_of_the_file(name: str) -> None:
    settings = SERVICES[name]["environment"]

    assert "@db:5432/" in settings["DATABASE_URL"]
    assert settings["REDIS_URL"].startswith("redis://redis:")


def test_no_password_stands_in_compose() -> None:
    assert all("${POSTGRES_PASSWORD:?" in line for line in COMPOSE_LINES if "PASSWORD" in line)


COMPOSE_LINES = (ROOT / "docker-compose.yml").read_text().splitlines()


def test_only_the_web_application_is_reachable_and_only_from_this_machine() -> None:
    published = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}

    assert published == {"web": ["127.0.0.1:8000:8000"]}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_can_be_run_and_is_valid_shell(name: str) -> None:
    path = ROOT / "script" / name

    assert os.access(path, os.X_OK)
    assert subprocess.run(["sh", "-n", path], check=False).returncode == 0


def test_the_dockerfile_starts_with_a_command_that_exists() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    command = next(line for line in lines if line.startswith("CMD"))

    assert exists(yaml.safe_load(command.removeprefix("CMD"))[0])


@pytest.mark.parametrize("command", documented())
def test_a_documented_command_exists(command: str) -> None:
    assert exists(command)


def test_the_settings_page_is_current() -> None:
    assert settings_reference.FILE.read_text() == settings_reference.page()


def test_a_new_environment_file_starts_the_product(tmp_path: Path) -> None:
    new_env.write(tmp_path / ".env")
    from config import env

    pairs = (
        line.split("=", 1)
        for line in (tmp_path / ".env").read_text().splitlines()
        if line[:1] not in ("", "#")
    )

    assert env.read(dict(pairs)).text("PEYK_SECRET_KEY")
    assert (tmp_path / ".env").stat().st_mode & 0o077 == 0


def test_an_environment_file_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("PEYK_SECRET_KEY=mine")

    assert new_env.main([str(tmp_path / ".env")]) == 1
    assert (tmp_path / ".env").read_text() == "PEYK_SECRET_KEY=mine"


ECHO = """
ROOT={root}; VENV_PYTHON=/bin/sh
{load}
load_environment
printf '%s|%s|%s' "$FIRST" "$SECOND" "$KEPT"
"""


def test_the_environment_file_is_read_as_it_stands(tmp_path: Path) -> None:
    source = (ROOT / "script" / "lib.sh").read_text()
    load = source[source.index("load_environment() {") :]
    (tmp_path / ".env").write_text("# words\nFIRST=a b$(touch x)\nSECOND=k1:abc=\nKEPT=file\nBAD NAME=x\n")

    done = subprocess.run(
        ["sh", "-euc", ECHO.format(root=tmp_path, load=load)],
        env={**os.environ, "KEPT": "environment"}, cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert done.stdout == "a b$(touch x)|k1:abc=|environment"
    assert not (tmp_path / "x").exists()
