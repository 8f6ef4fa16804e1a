"""Vendored browser files are the ones in the lock, and collectstatic can take them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.management import call_command
from pytest_django import Settings

from script import vendor


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(vendor.VENDOR, tmp_path / "vendor"))


def test_the_files_match_the_lock() -> None:
    assert vendor.differences() == []


def test_a_changed_file_is_named(copy: Path) -> None:
    (copy / "htmx" / "htmx.min.js").write_text("x")
    assert vendor.differences(copy) == ["htmx/htmx.min.js"]


def test_a_file_that_is_not_in_the_lock_is_named(copy: Path) -> None:
    (copy / "htmx" / "more.js").write_text("x")
    assert vendor.differences(copy) == ["htmx/more.js"]


def test_a_missing_file_is_named(copy: Path) -> None:
    (copy / "vazirmatn" / "LICENSE").unlink()
    assert vendor.differences(copy) == ["vazirmatn/LICENSE"]


def test_every_package_has_its_licence() -> None:
    assert all((folder / "LICENSE").exists() for folder in vendor.VENDOR.iterdir() if folder.is_dir())


def test_the_map_comment_is_taken_away() -> None:
    assert vendor.without_map_comment(b"let a;\n//# sourceMappingURL=a.js.map\n") == b"let a;\n"


def test_no_vendored_script_asks_for_a_map() -> None:
    scripts = list(vendor.VENDOR.rglob("*.js"))
    assert [f.name for f in scripts if b"sourceMappingURL=" in f.read_bytes()] == []


def test_static_files_can_be_collected_with_hashed_names(settings: Settings, tmp_path: Path) -> None:
    settings.STATIC_ROOT = tmp_path
    settings.STORAGES = {**settings.STORAGES, "staticfiles": {"BACKEND": "core.storage.Hashed"}}
    call_command("collectstatic", interactive=False, verbosity=0)
    storage: Any = staticfiles_storage
    main = (tmp_path / storage.stored_name("js/main.js")).read_text(encoding="utf-8")
    assert storage.stored_name("js/announce.js").removeprefix("js/") in main
