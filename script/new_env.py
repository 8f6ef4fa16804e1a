"""Write an environment file with fresh keys: `python3 -m script.new_env FILE`. Never overwrites one."""

from __future__ import annotations

import base64
import os
import secrets
import sys
from pathlib import Path


def content() -> str:
    """The lines of a first environment file for one small host."""
    data_key = base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()
    return "\n".join((
        "# Settings of this installation; every variable is described in docs/settings.md.",
        "# Keep a copy of the two keys: without them sealed provider credentials cannot be opened.",
        f"PEYK_SECRET_KEY={secrets.token_urlsafe(48)}",
        f"PEYK_DATA_KEYS=k1:{data_key}",
        f"PEYK_METRICS_TOKEN={secrets.token_urlsafe(32)}",
        "PEYK_ALLOWED_HOSTS=localhost,127.0.0.1",
        "# Loopback without https. Behind a proxy with https set it to 1 and PEYK_PROXY_COUNT to 1.",
        "PEYK_HTTPS=0",
        "",
    ))  # fmt: skip


def write(path: Path) -> None:
    """Create `path`, readable by its owner only. Raises FileExistsError."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as out:
        out.write(content())


def main(arguments: list[str]) -> int:
    """Entry point."""
    if len(arguments) != 1:
        print("usage: python3 -m script.new_env FILE", file=sys.stderr)
        return 2
    try:
        write(Path(arguments[0]))
    except FileExistsError:
        print(f"{arguments[0]} exists already and was left as it is.", file=sys.stderr)
        return 1
    print(f"Fresh keys were written to {arguments[0]}; keep a copy of it.", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
