"""How much the gateway adds to a bare urllib3 pool, and what one call for many messages saves.

    python -m bench.gateway --seconds 20

Rounds of both are interleaved in one run against one provider process, so that a busy machine slows both.
The goal: messages a second through the gateway at least 0.8 of the pool's.
"""

from __future__ import annotations

import argparse
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlencode

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings_test")

import urllib3

from sms.providers.melipayamak import MelipayamakConfig, MelipayamakGateway
from sms.types import OutboundSms, Outcome

GOAL = 0.8
PATH = "/api/SendSMS/SendSMS"
HEADERS = {"Content-Type": "application/x-www-form-urlencoded"}
TEXT = "سلام، تخفیف ویژه‌ی این هفته برای شما آماده است.\nلغو11"
ROUND_S = 0.5
Send = Callable[[int], None]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20, help="for each number of threads")
    parser.add_argument("--delay-ms", type=int, default=0, help="before the provider answers")
    options = parser.parse_args()
    port = free_port()
    script = Path(__file__).with_name("provider.py")
    with subprocess.Popen([sys.executable, str(script), str(port)], stdout=subprocess.DEVNULL) as provider:
        try:
            wait_for(port)
            urllib3.request("GET", f"http://127.0.0.1:{port}/delay?ms={options.delay_ms}")
            compare(port, options.seconds)
        finally:
            provider.terminate()


def compare(port: int, seconds: float) -> None:
    bare, gateway = bare_sender(port), gateway_of(port)
    print(f"{'threads':>8} {'bare/s':>9} {'gateway/s':>10} {'ratio':>6}")
    for threads in (1, 8, 32):
        rates: dict[str, list[float]] = {"bare": [], "gateway": []}
        with ThreadPoolExecutor(threads) as pool:
            run(pool, threads, bare, 0.2)
            run(pool, threads, one_by_one(gateway), 0.2)
            for turn in range(max(2, int(seconds / ROUND_S / 2))):
                senders = [("bare", bare), ("gateway", one_by_one(gateway))]
                for name, send in senders if turn % 2 else reversed(senders):
                    rates[name].append(run(pool, threads, send, ROUND_S))
        first, second = statistics.median(rates["bare"]), statistics.median(rates["gateway"])
        ratio = statistics.median(g / b for b, g in zip(rates["bare"], rates["gateway"], strict=True))
        verdict = "" if ratio >= GOAL else f"  below {GOAL}"
        print(f"{threads:>8} {first:>9.0f} {second:>10.0f} {ratio:>6.2f}{verdict}")
    single = statistics.median(single_thread(one_by_one(gateway)) for _ in range(5))
    many = statistics.median(single_thread(in_batches(gateway)) for _ in range(5)) * 100
    print(
        f"\none thread, one by one {single:.0f} messages/s; a hundred in one call {many:.0f}: {many / single:.0f} times"
    )


def bare_sender(port: int) -> Send:
    """What the gateway is measured against: body, one POST over a kept-alive pool, the whole answer."""
    pool = urllib3.HTTPConnectionPool("127.0.0.1", port, maxsize=64, block=True, retries=False)

    def send(number: int) -> None:
        form = {
            "username": "peyk", "password": "simulator", "to": f"0912{number:07}", "from": "50004001",
            "text": TEXT, "isFlash": "false",
        }  # fmt: skip
        answer = pool.urlopen("POST", PATH, body=urlencode(form), headers=HEADERS, retries=False, timeout=10)
        assert answer.status == 200
        assert answer.data

    return send


def gateway_of(port: int) -> MelipayamakGateway:
    return MelipayamakGateway(
        MelipayamakConfig(
            username="peyk", password="simulator", base_url=f"http://127.0.0.1:{port}", sender="50004001"
        )
    )


def one_by_one(gateway: MelipayamakGateway) -> Send:
    def send(number: int) -> None:
        result = gateway.send(OutboundSms(to=f"0912{number:07}", text=TEXT), deadline_s=10)
        assert result.outcome is Outcome.ACCEPTED

    return send


def in_batches(gateway: MelipayamakGateway) -> Send:
    def send(number: int) -> None:
        many = [OutboundSms(to=f"0912{(number * 100 + n) % 10**7:07}", text=TEXT) for n in range(100)]
        results = gateway.send_many(many, deadline_s=10)
        assert all(result.outcome is Outcome.ACCEPTED for result in results)

    return send


def run(pool: ThreadPoolExecutor, threads: int, send: Send, seconds: float) -> float:
    """Calls a second."""
    begun = time.perf_counter()
    counts = pool.map(lambda thread: until(send, begun + seconds, thread * 100_000), range(threads))
    return sum(counts) / (time.perf_counter() - begun)


def until(send: Send, moment: float, number: int) -> int:
    first = number
    while time.perf_counter() < moment:
        send(number)
        number += 1
    return number - first


def single_thread(send: Send) -> float:
    begun = time.perf_counter()
    return until(send, begun + ROUND_S, 0) / (time.perf_counter() - begun)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def wait_for(port: int) -> None:
    given_up = time.monotonic() + 10
    while time.monotonic() < given_up:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise SystemExit("the provider did not start")


if __name__ == "__main__":
    main()
