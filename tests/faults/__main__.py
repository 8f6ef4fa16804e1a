"""`python -m tests.faults --minutes N --seed S`: a soak on a PostgreSQL server of its own."""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
from pathlib import Path

from script import processes, services

LOG = Path("var/log/soak.log")


def main() -> int:
    parser = argparse.ArgumentParser(prog="script/soak", description="Random faults over real processes.")
    parser.add_argument("--minutes", type=float, default=3.0, help="how long to do harm (default 3)")
    parser.add_argument("--seed", type=int, help="repeat the choices of an earlier run")
    asked = parser.parse_args()
    seed = asked.seed if asked.seed is not None else random.SystemRandom().randrange(10**6)
    sys.stdout.write(f"soak: seed {seed}, {asked.minutes:g} minutes\n")
    sys.stdout.flush()
    programs = services.require(services.POSTGRES, log=LOG, say=print)
    with processes.unwinding_on_signals(), tempfile.TemporaryDirectory(prefix="peyk-soak-") as name:
        folder = Path(name)
        folder.chmod(0o711)
        with services.postgres(folder, programs=programs) as url:
            return _soak(folder, url, seed, asked.minutes)


def _soak(folder: Path, url: str, seed: int, minutes: float) -> int:
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings_test"
    os.environ["TEST_DATABASE_URL"] = url
    os.environ["PEYK_VAR_DIR"] = str(folder / "own")
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection

    from core import clock
    from tests.faults.house import open_house
    from tests.faults.soak import soak

    call_command("migrate", verbosity=0)
    with open_house(folder, connection.settings_dict) as house:
        clock.use_process_clock(house.clock)
        found = soak(house, seed=seed, seconds=minutes * 60)
        sys.stdout.write(f"{found}\n")
        if found.breaches:
            tail = (folder / "processes.log").read_text(encoding="utf-8", errors="replace")[-4000:]
            sys.stdout.write(f"the end of the processes' log:\n{tail}\n")
        connection.close()
    return 1 if found.breaches else 0


if __name__ == "__main__":
    sys.exit(main())
