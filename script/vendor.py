"""Browser files taken from npm packages, pinned and committed under static/vendor.

    python script/vendor.py check    set-up and CI: compares the files with the lock; no network, no node
    python script/vendor.py fetch    maintainers: downloads with `npm pack` and writes files and lock anew

`vendor.json` says which files of which package version are wanted; `vendor.lock.json` what they hashed to.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

VENDOR = Path(__file__).resolve().parent.parent / "static" / "vendor"
LISTS = ("vendor.json", "vendor.lock.json")
MAP_COMMENT = b"sourceMappingURL="
MAP_LINE_LIMIT = 200  # a longer line is code that happens to carry the comment at its end


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def without_map_comment(content: bytes) -> bytes:
    """`content` without its source map line: a map that is not vendored makes collectstatic fail."""
    lines = content.split(b"\n")
    return b"\n".join(line for line in lines if MAP_COMMENT not in line or len(line) > MAP_LINE_LIMIT)


def _pack(spec: str, folder: str) -> tuple[Path, str]:
    command = ["npm", "pack", spec, "--json", "--pack-destination", folder]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    answer = json.loads(done.stdout)
    entry = answer[0] if isinstance(answer, list) else next(iter(answer.values()))
    return next(Path(folder).glob("*.tgz")), entry["integrity"]


def _fetch_package(package: dict[str, Any]) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        archive, integrity = _pack(f"{package['npm']}@{package['version']}", folder)
        with tarfile.open(archive) as tar:
            for source, target in package["files"].items():
                member = tar.extractfile(f"package/{source}")
                if member is None:
                    raise SystemExit(f"{package['npm']} has no file {source}")
                content = member.read()
                if target.endswith((".js", ".css")):
                    content = without_map_comment(content)
                path = VENDOR / target
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
                entries.append(
                    {"file": target, "sha256": _sha256(content), "bytes": len(content), "npm": package["npm"]}
                    | {"version": package["version"], "licence": package["licence"], "integrity": integrity}
                )
    return entries


def fetch() -> None:
    """Download every package of `vendor.json`, write its files and the lock."""
    lock = [
        entry for package in json.loads((VENDOR / LISTS[0]).read_text()) for entry in _fetch_package(package)
    ]
    (VENDOR / LISTS[1]).write_text(json.dumps(lock, indent=1) + "\n")
    print(f"{len(lock)} files written")


def differences(vendor: Path = VENDOR) -> list[str]:
    """Files that are missing, changed or not in the lock, sorted."""
    want = {entry["file"]: entry["sha256"] for entry in json.loads((vendor / LISTS[1]).read_text())}
    have = {
        path.relative_to(vendor).as_posix(): _sha256(path.read_bytes())
        for path in vendor.rglob("*")
        if path.is_file() and path.name not in LISTS
    }
    return sorted(name for name in want.keys() | have.keys() if want.get(name) != have.get(name))


def check() -> None:
    """Exit 1 naming the files that differ from the lock."""
    if bad := differences():
        raise SystemExit("vendored files differ from the lock: " + ", ".join(bad))
    print("vendored files match the lock")


if __name__ == "__main__":
    commands = {"fetch": fetch, "check": check}
    if len(sys.argv) != 2 or sys.argv[1] not in commands:
        raise SystemExit(__doc__)
    commands[sys.argv[1]]()
