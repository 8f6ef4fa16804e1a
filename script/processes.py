"""Child processes that never outlive the command that started them.

Each child leads its own session, so a Ctrl-C at the terminal reaches only the command, which
then stops its children in order; and on Linux the kernel ends a child whose parent was killed.
"""

from __future__ import annotations

import ctypes
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

PR_SET_PDEATHSIG = 1
GRACE_S = 10.0
SERVER_PORTS = range(16_000, 32_000)
CLIENT_PORTS = Path("/proc/sys/net/ipv4/ip_local_port_range")


def _die_with_parent(number: int) -> Callable[[], None] | None:
    """What the child runs before its program: ask the kernel for a signal when the parent dies."""
    if not sys.platform.startswith("linux"):
        return None
    libc = ctypes.CDLL(None, use_errno=True)

    def ask() -> None:
        libc.prctl(PR_SET_PDEATHSIG, number, 0, 0, 0)

    return ask


def start(
    command: Sequence[str | Path],
    *,
    log: Path,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    user: str | None = None,
    stdin: str | None = None,
    death_signal: int = signal.SIGTERM,
) -> subprocess.Popen[str]:
    """Start `command` as the leader of a new session, its output appended to `log`.

    `user`: run as that user (only root may ask). `stdin`: text handed to the program.
    `death_signal`: what the program gets when this process is killed without a chance to stop it.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a", encoding="utf-8") as out:
        child = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
            stdout=out,
            stderr=subprocess.STDOUT,
            env=None if env is None else dict(env),
            cwd=cwd,
            user=user,
            group=_main_group(user),
            extra_groups=[] if user else None,
            start_new_session=True,
            preexec_fn=_die_with_parent(death_signal),
            text=True,
        )
    if stdin is not None and child.stdin is not None:
        child.stdin.write(stdin)
        child.stdin.close()
    return child


def run(
    command: Sequence[str | Path],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    each_line: Callable[[str], None],
) -> int:
    """Run `command` to its end, handing over each line it prints; its exit code.

    Whatever ends this early (a signal, an error in `each_line`) ends the command and its children.
    """
    child = subprocess.Popen(
        [str(part) for part in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=None if env is None else dict(env),
        cwd=cwd,
        start_new_session=True,
        preexec_fn=_die_with_parent(signal.SIGTERM),
        text=True,
        errors="replace",
    )
    try:
        assert child.stdout is not None
        with child.stdout:
            for line in child.stdout:
                each_line(line)
        return child.wait()
    finally:
        stop(child, first=signal.SIGINT)


def _main_group(user: str | None) -> int | None:
    if user is None:
        return None
    import pwd  # not on every system; only asked where a user is named

    return pwd.getpwnam(user).pw_gid


def stop(child: subprocess.Popen[str], *, first: int = signal.SIGTERM, grace_s: float = GRACE_S) -> None:
    """End `child` and everything it started: `first`, then SIGKILL after `grace_s`. Never raises."""
    _signal_leader(child, first)
    with suppress(subprocess.TimeoutExpired):
        child.wait(timeout=grace_s)
    _end_group(child.pid, grace_s=1.0 if child.returncode is not None else 0.0)
    with suppress(subprocess.TimeoutExpired):  # unkillable (stuck in the kernel): nothing more to do
        child.wait(timeout=grace_s)


def _signal_leader(child: subprocess.Popen[str], number: int) -> None:
    if child.poll() is None:
        with suppress(ProcessLookupError):
            child.send_signal(number)


def _end_group(group: int, *, grace_s: float) -> None:
    """End what a stopped leader left behind in its process group."""
    if not _group_lives(group):
        return
    _signal_group(group, signal.SIGTERM)
    deadline = time.monotonic() + grace_s
    while _group_lives(group) and time.monotonic() < deadline:
        time.sleep(0.05)
    _signal_group(group, signal.SIGKILL)


def _signal_group(group: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # only a zombie of another user is left
        return False
    return True


def free_port() -> int:
    """A loopback TCP port that nobody uses at this moment, for a server that starts later.

    Of those that the system does not hand to connections, where it tells which these are: any client
    could be given one of its own before the server listens, or while it is down, and a client that
    tries a port of that kind while nobody listens may come to be connected to itself.
    """
    for _ in range(100):
        port = secrets.choice(SERVER_PORTS)
        if port < _first_port_of_clients() and is_port_free(port):
            return port
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _first_port_of_clients() -> int:
    """The lowest port that the system gives to outgoing connections; 0 where it does not say."""
    try:
        return int(CLIENT_PORTS.read_text(encoding="ascii").split()[0])
    except OSError:
        return 0


def is_port_free(port: int) -> bool:
    """Whether a server could listen on the loopback `port` now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def answers(port: int) -> bool:
    """Whether something accepts connections on the loopback `port`."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.settimeout(1.0)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait_until(
    ready: Callable[[], bool], *, child: subprocess.Popen[str] | None = None, seconds: float = 30.0
) -> bool:
    """Poll `ready` until it holds; False when time is up or `child` has ended."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if ready():
            return True
        if child is not None and child.poll() is not None:
            return False
        time.sleep(0.05)
    return False


class Stopped(BaseException):
    """The command was asked to end by a signal; unwinds it so that every child is stopped."""

    def __init__(self, number: int) -> None:
        super().__init__(f"stopped by signal {number}")
        self.exit_code = 128 + number
        self.by_person = number == signal.SIGINT


@contextmanager
def unwinding_on_signals() -> Iterator[None]:
    """Turn SIGTERM, SIGHUP and SIGINT into Stopped inside the block, once; later ones are ignored."""
    numbers = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)

    def unwind(number: int, _frame: FrameType | None) -> None:
        for each in numbers:
            signal.signal(each, signal.SIG_IGN)
        raise Stopped(number)

    before = {number: signal.signal(number, unwind) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
