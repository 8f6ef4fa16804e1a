"""A process that has loaded the product and forks ready-made ticks and workers on demand.

Starting Python and Django takes a second, forking them a few milliseconds; each child is a real
process with connections of its own and dies a real death. One JSON object a line comes in, one goes
out: `{"op": "fork", "job": "work", ...}` -> `{"pid": 7}`, `{"op": "poll", "pid": 7}` -> `{"status": null}`
while it runs, else its wait status. The end of the input kills whatever is left.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import django

PR_SET_PDEATHSIG = 1
Job = Callable[[dict[str, Any]], None]
_ended: dict[int, int] = {}
_living: set[int] = set()


def main() -> None:
    django.setup()
    jobs = _jobs()
    _answer({"ready": True})
    for line in sys.stdin:
        order = json.loads(line)
        match order["op"]:
            case "fork":
                _answer({"pid": _fork(jobs, order)})
            case "poll":
                _answer({"status": _status(order["pid"])})
    for pid in _living:
        with suppress(ProcessLookupError, PermissionError):  # a worker's own processes end with it
            os.killpg(pid, signal.SIGKILL)
        os.kill(pid, signal.SIGKILL)


def _answer(document: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(document) + "\n")
    sys.stdout.flush()


def _status(pid: int) -> int | None:
    if pid not in _ended:
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            return None
        with suppress(ProcessLookupError, PermissionError):  # only those with children lead a group
            os.killpg(pid, signal.SIGKILL)  # what it left behind ends with it, as under systemd
        _, status = os.waitpid(pid, 0)
        _living.discard(pid)
        _ended[pid] = status
    return _ended[pid]


def _fork(jobs: dict[str, Job], order: dict[str, Any]) -> int:
    pid = os.fork()
    if pid:
        _ended.pop(pid, None)  # the system gives out the numbers of the dead again
        _living.add(pid)
        return pid
    code = 1
    try:
        _become(order)
        jobs[order["job"]](order.get("argument", {}))
        code = 0
    except BaseException:  # noqa: BLE001  # nothing of the zygote's own loop may run in a child
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _become(order: dict[str, Any]) -> None:
    """Turn the copy into the process that was asked for."""
    from django.conf import settings
    from django.db import connections

    from core import clock, failpoints
    from tests.faults import mutants

    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    log = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for descriptor in (1, 2):
        os.dup2(log, descriptor)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for name, value in order.get("settings", {}).items():
        setattr(settings, name, value)
    connections["default"].settings_dict.update(order.get("database", {}))
    if order.get("clock"):
        clock.use_process_clock(clock.FileClock(Path(order["clock"])))
    for name in order.get("mutants", ()):
        mutants.apply(name)
    failpoints.arm(order.get("failpoints", ""))
    if order.get("memory_mb"):
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + order["memory_mb"] * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _jobs() -> dict[str, Job]:
    from django.core.files import File
    from django.core.management import call_command
    from django.test import Client

    from automation.runtime.tick import run_tick
    from config.celery import app as celery_app
    from core.queue import queue, run
    from core.tenancy import workspace_scope
    from sms.simulator.server import Simulator
    from targets.importing import jobs

    def tick(_nothing: dict[str, Any]) -> None:
        run_tick()

    def work(_nothing: dict[str, Any]) -> None:
        queue().drain(seconds=60)

    def tick_and_work(nothing: dict[str, Any]) -> None:
        tick(nothing)
        work(nothing)

    def tick_for_ever(nothing: dict[str, Any]) -> None:
        while True:
            tick(nothing)
            time.sleep(0.1)

    def work_for_ever(nothing: dict[str, Any]) -> None:
        while True:
            work(nothing)
            time.sleep(0.02)

    def task(message: dict[str, Any]) -> None:
        """One message of any task, as a worker of any queue would run it."""
        run(message["name"], message["payload"])

    def post(request: dict[str, Any]) -> None:
        """What somebody outside posts to this installation; an answer other than 200 is an error."""
        client = Client(HTTP_HOST="localhost", raise_request_exception=True)
        answer = client.post(request["path"], data=request["body"], content_type="application/json")
        if answer.status_code != 200:
            raise RuntimeError(f"answered {answer.status_code}")

    def upload(file: dict[str, Any]) -> None:
        """Store a file of people and fix its mapping, so that its import may be run."""
        with workspace_scope(file["workspace"]), Path(file["path"]).open("rb") as opened:
            job = jobs.store_upload(File(opened, name=Path(file["path"]).name), user=None)
            jobs.start(job, mapping=job.mapping, target_list=None, user=None)

    def provide(what: dict[str, Any]) -> None:
        """The simulated provider, on the clock of this process."""
        Simulator(what["store"], what["plan"], port=what["port"]).start()
        threading.Event().wait()

    def celery_worker(how: dict[str, Any]) -> None:
        """A permanent worker of Celery with the processes it forks, in a group of their own."""
        os.setsid()
        options = [
            "-Q",
            "automation,default",
            "-P",
            how.get("pool", "prefork"),
            "-c",
            "2",
            "--loglevel",
            "WARNING",
        ]
        celery_app.worker_main(["worker", *options, "--without-gossip", "--without-mingle"])

    def cluster_worker(_nothing: dict[str, Any]) -> None:
        """A permanent cluster of django-q2, in a group of its own."""
        os.setsid()
        call_command("qcluster")

    return {
        "provide": provide,
        "celery_worker": celery_worker,
        "cluster_worker": cluster_worker,
        "tick": tick,
        "work": work,
        "tick_and_work": tick_and_work,
        "tick_for_ever": tick_for_ever,
        "work_for_ever": work_for_ever,
        "task": task,
        "post": post,
        "upload": upload,
    }


if __name__ == "__main__":
    main()
