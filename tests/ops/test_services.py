"""Programs and ports of the throwaway servers."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from script import processes, services


def installed(root: Path, *versions: str) -> None:
    for version in versions:
        folder = root / version / "bin"
        folder.mkdir(parents=True)
        (folder / "initdb").touch()
        (folder / "postgres").touch()


def test_a_free_port_can_be_listened_on() -> None:
    assert processes.is_port_free(processes.free_port())


@pytest.mark.skipif(not processes.CLIENT_PORTS.exists(), reason="Linux says which ports clients get")
def test_no_connection_is_ever_given_a_free_port() -> None:
    first, last = map(int, processes.CLIENT_PORTS.read_text().split())

    assert not [port for port in (processes.free_port() for _ in range(50)) if first <= port <= last]


def test_there_is_a_free_port_where_clients_may_get_any(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything = tmp_path / "ports"
    everything.write_text("1024\t65535\n")
    monkeypatch.setattr(processes, "CLIENT_PORTS", everything)

    assert processes.is_port_free(processes.free_port())


def test_a_busy_port_is_seen() -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]

        assert not processes.is_port_free(port)
        assert processes.answers(port)


def test_nothing_answers_on_a_free_port() -> None:
    assert not processes.answers(processes.free_port())


def test_the_newest_postgresql_is_taken(tmp_path: Path) -> None:
    installed(tmp_path, "9.6", "15", "13")

    assert services.postgres_folder(tmp_path) == tmp_path / "15" / "bin"


def test_a_client_without_a_server_is_not_a_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "16" / "bin").mkdir(parents=True)
    (tmp_path / "16" / "bin" / "psql").touch()
    monkeypatch.setenv("PATH", str(tmp_path))

    assert services.postgres_folder(tmp_path) is None


def test_a_missing_program_that_may_not_be_installed_is_named_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "may_install", lambda: False)
    absent = services.Program("Redis", "redis-server", lambda: None)

    with pytest.raises(services.ServiceError, match="apt-get install redis-server") as caught:
        services.require(absent, log=tmp_path / "log", say=print)

    assert "\n" not in str(caught.value)


def test_a_program_that_is_there_is_not_installed(tmp_path: Path) -> None:
    present = services.Program("Redis", "redis-server", lambda: tmp_path)

    assert services.require(present, log=tmp_path / "log", say=print) == tmp_path


def test_a_chromium_that_the_environment_names_must_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHROMIUM", "/nowhere/chromium")

    assert services.find_chromium() is None
