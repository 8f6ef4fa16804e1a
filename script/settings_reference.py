"""Write docs/settings.md from the typed settings; `--check` only says whether it is current.

Needs the installed packages: `.venv/bin/python -m script.settings_reference [--check]`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from config.env import VARS, Var

FILE = Path(__file__).resolve().parent.parent / "docs" / "settings.md"
INTRO = """\
# Settings

Written by `python -m script.settings_reference` from `config/env.py`; change it there.

Peyk reads these variables from its environment once, at start. The commands in `script/` (`setup`,
`server`, `worker`, `tick`, `manage`) also read a file `.env` in the checkout, one `NAME=value` a line,
without quotes; what the environment already holds wins. Everything missing or wrong is named in one
message and nothing starts.

Secrets are marked. They never appear in a log or an error page; keep them out of the repository.

| variable | what it does | form | if not set |
|---|---|---|---|
"""


def row(var: Var) -> str:
    """One line of the table."""
    if var.default is None:
        default = "required"
    elif var.default == "":
        default = "empty"
    else:
        default = f"`{var.default}`"
    secret = " **Secret.**" if var.secret else ""
    text = var.help.replace("|", "\\|")
    return f"| `{var.name}` | {text}{secret} | {var.shape} | {default} |"


# Variable, read by, what it does, if not set.
OF_COMMANDS = (
    ("PEYK_BIND", "server", "address and port the web application listens on", "`127.0.0.1:8000`"),
    ("PEYK_WEB_WORKERS", "server", "web processes, four threads each", "`2`"),
    ("PEYK_WORKERS", "worker", "processes of a Celery worker", "`2`"),
    ("PYTHON", "setup, demo, test", "the Python to make `.venv` with", "the first of 3.11 or newer"),
    ("TEST_DATABASE_URL", "test", "a PostgreSQL server whose user may create databases", "one is started"),
    ("TEST_REDIS_URL", "test", "a Redis server to test on", "one is started"),
    ("CHROMIUM", "test", "the Chromium to test in", "`chromium` on the path"),
)
OUTSIDE = """
## Read by the commands in `script/`

| variable | read by | what it does | if not set |
|---|---|---|---|
""" + "".join(f"| `{name}` | {by} | {does} | {default} |\n" for name, by, does, default in OF_COMMANDS)


def page(variables: Iterable[Var] = VARS) -> str:
    """The whole file."""
    return INTRO + "\n".join(row(var) for var in variables) + "\n" + OUTSIDE


def main(arguments: list[str]) -> int:
    """Entry point."""
    if arguments == ["--check"]:
        current = FILE.exists() and FILE.read_text(encoding="utf-8") == page()
        print("docs/settings.md is current" if current else "docs/settings.md is not current")
        return 0 if current else 1
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
