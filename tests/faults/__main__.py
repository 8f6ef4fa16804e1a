"""`python -m tests.faults --minutes N --seed S --queue Q`: a soak on servers of its own, which it kills."""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
from pathlib import Path

import psycopg

from script import processes, services
from tests.faults.cluster import cluster
from tests.faults.servers import QUEUES, Plan, RedisServer, Servers

LOG, NAME = Path("var/log/soak.log"), "peyk"


def main() -> int:
    parser = argparse.ArgumentParser(prog="script/soak", description="Random faults over real processes.")
    parser.add_argument("--minutes", type=float, default=3.0, help="how long to do harm (default 3)")
    parser.add_argument("--seed", type=int, help="repeat the choices of an earlier run")
    parser.add_argument(
        "--queue", choices=QUEUES, default="drain",
        help="who works the queue: hosts that drain the embedded one (default), permanent clusters of "
        "django-q2, or permanent workers of Celery on Redis",
    )  # fmt: skip
    asked = parser.parse_args()
    seed = asked.seed if asked.seed is not None else random.SystemRandom().randrange(10**6)
    sys.stdout.write(f"soak: seed {seed}, {asked.minutes:g} minutes, queue {asked.queue}\n")
    sys.stdout.flush()
    program = services.require(services.REDIS, log=LOG, say=print)
    with processes.unwinding_on_signals(), tempfile.TemporaryDirectory(prefix="peyk-soak-") as name:
        folder = Path(name)
        folder.chmod(0o711)
        broker = RedisServer(folder=folder / "redis", program=program)
        with cluster(folder) as server:
            broker.start()
            try:
                plan = Plan(seed=seed, seconds=asked.minutes * 60, queue=asked.queue)
                return _soak(folder, Servers(database=server, redis=broker), plan)
            finally:
                broker.kill()


def _soak(folder: Path, servers: Servers, plan: Plan) -> int:
    with psycopg.connect(servers.database.url, autocommit=True) as link:
        link.execute(f"CREATE DATABASE {NAME}")
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings_test"
    os.environ["TEST_DATABASE_URL"] = servers.database.url.rsplit("/", 1)[0] + f"/{NAME}"
    os.environ["PEYK_VAR_DIR"] = str(folder / "own")
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection

    from core import clock
    from tests.faults.house import open_house
    from tests.faults.soak import soak

    call_command("migrate", verbosity=0)
    # The provider hangs often: little patience leaves more time for other misfortunes.
    environment = {"REDIS_URL": servers.redis.url, "PEYK_HTTP_BUDGET_SECONDS": "1"}
    with open_house(folder, connection.settings_dict, environment=environment) as house:
        clock.use_process_clock(house.clock)
        house.provider_apart = True
        found = soak(house, plan, servers=servers)
        sys.stdout.write(f"{found}\n")
        if found.breaches:
            tail = (folder / "processes.log").read_text(encoding="utf-8", errors="replace")[-4000:]
            sys.stdout.write(f"the end of the processes' log:\n{tail}\n")
        connection.close()
    return 1 if found.breaches else 0


if __name__ == "__main__":
    sys.exit(main())
