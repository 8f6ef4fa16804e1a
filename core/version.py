"""Which release this is."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path


@cache
def version() -> str:
    """The version of `pyproject.toml`; "" where the file was left behind."""
    path = Path(__file__).resolve().parent.parent / "pyproject.toml"
    try:
        return str(tomllib.loads(path.read_text(encoding="utf-8"))["project"]["version"])
    except (OSError, ValueError, KeyError):
        return ""
