"""The running simulator: the provider's paths, the control paths under `/_sim/`, and its thread."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from core.clock import now
from sms.providers.http import is_loopback
from sms.simulator.panel import Panel, Verdict
from sms.simulator.plan import DELIVERY_OUTCOMES, GARBAGE, Plan, parse_plan
from sms.simulator.record import AcceptedMessage, SeenRequest, read_requests
from sms.simulator.wire import ENDINGS, Connection, HttpAnswer, HttpRequest

API = "/api/SendSMS/"
CONTROL = "/_sim/"
USERNAME, PASSWORD = Plan().accounts[0].username, Plan().accounts[0].password


class Simulator:
    """A simulated provider on a thread of its own. `start` it, use `url`, `stop` it.

    Binds to this machine only: it holds texts and numbers and asks nobody who they are. `clock`
    gives the time that is recorded and that deliveries follow.
    """

    def __init__(
        self,
        store: str | Path,
        plan: object = None,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        clock: Callable[[], datetime] = now,
        fsync: bool = False,
    ) -> None:
        """Raises ValueError for a plan that is none, or a host that is not this machine."""
        if not is_loopback(host):
            raise ValueError("the simulator listens on this machine only")
        self.url = ""
        self.store = Path(store)
        self._address = (host, port)
        self._panel = Panel(store, parse_plan(plan or {}), clock, fsync=fsync)
        self._connections: set[Connection] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="sms-simulator", daemon=True)
        self._ready = threading.Event()
        self._failure: OSError | None = None

    def start(self) -> str:
        """Begin to listen; returns the address. Raises OSError if the port is taken."""
        self._thread.start()
        self._ready.wait()
        if self._failure is not None:
            self._thread.join()
            raise self._failure
        return self.url

    def stop(self) -> None:
        """Drop every connection and wait until the thread has ended. May be called twice."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()

    def accepted(self) -> list[AcceptedMessage]:
        """Every message taken so far, oldest first."""
        return self._panel.accepted

    def requests(self) -> list[SeenRequest]:
        """Every request to send seen so far, taken or not."""
        return read_requests(self.store)

    @property
    def open_connections(self) -> int:
        """How many clients are connected."""
        return len(self._connections)

    def behave(self, plan: object) -> None:
        """Follow another plan from the next request on. Raises ValueError for one that is none."""
        self._panel.plan = parse_plan(plan)

    def _serve(self) -> None:
        host, port = self._address
        asyncio.set_event_loop(self._loop)
        try:
            listening = self._loop.create_server(
                lambda: Connection(self.answer, self._connections), host, port
            )
            server = self._loop.run_until_complete(listening)
        except OSError as exc:
            self._failure = exc
            self._finish(None)
            return
        bound = server.sockets[0].getsockname()[1]
        self.url = f"http://[{host}]:{bound}" if ":" in host else f"http://{host}:{bound}"
        self._ready.set()
        self._loop.run_forever()
        self._finish(server)

    def _finish(self, server: asyncio.Server | None) -> None:
        if server:
            server.close()
        for connection in list(self._connections):
            connection.abort()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()
        self._panel.close()
        self._ready.set()

    def answer(self, request: HttpRequest) -> HttpAnswer:
        """Answer one request: the provider's interface, or the control paths."""
        if request.path.startswith(CONTROL) and is_loopback(request.host):
            return self._control(request)
        method = request.path.removeprefix(API)
        if method == request.path:
            return _message(404, "No HTTP resource was found that matches the request URI.")
        if request.verb != "POST":
            return _message(405, f"The requested resource does not support http method '{request.verb}'.")
        verdict = self._panel.answer(method, request.fields)
        if verdict is None:
            return _message(404, "No action was found on the controller 'SendSMS'.")
        return on_the_wire(verdict)

    def _control(self, request: HttpRequest) -> HttpAnswer:
        name = (request.verb, request.path.removeprefix(CONTROL))
        after = int(request.query.get("after", "0"))
        match name:
            case ("GET", "health"):
                return _json({"ok": True})
            case ("GET", "accepted"):
                return _json([_row(one) for one in self.accepted()[after:]])
            case ("GET", "requests"):
                return _json([_row(one) for one in self.requests()[after:]])
            case ("PUT", "faults"):
                return self._replace_plan(request.body)
            case ("POST", "delivery"):
                return self._force(request)
        return _message(404, "no such control")

    def _replace_plan(self, body: bytes) -> HttpAnswer:
        try:
            self.behave(json.loads(body))
        except (ValueError, TypeError) as exc:
            return _message(400, str(exc))
        return _json({"ok": True})

    def _force(self, request: HttpRequest) -> HttpAnswer:
        outcome = DELIVERY_OUTCOMES.get(request.fields.get("outcome", ""))
        if outcome is None:
            return _message(400, f"outcome is one of {', '.join(DELIVERY_OUTCOMES)}")
        self._panel.force_delivery(request.fields.get("id", ""), outcome)
        return _json({"ok": True})


def on_the_wire(verdict: Verdict) -> HttpAnswer:
    """A verdict as it reaches the client, with the fault it met, if any."""
    right = json.dumps(verdict.document, ensure_ascii=False).encode()
    fault, delay = verdict.fault, verdict.latency_s
    if fault is None:
        return HttpAnswer(body=right, delay_s=delay)
    match fault.do:
        case "http":
            return HttpAnswer(
                status=fault.status,
                headers=fault.headers,
                body=GARBAGE.encode(),
                delay_s=delay,
                content_type="text/html",
            )
        case "body":
            return HttpAnswer(body=fault.body.encode(), delay_s=delay)
        case "slow":
            return HttpAnswer(body=right, delay_s=delay + fault.ms / 1000)
        case ending if ending in ENDINGS:
            return HttpAnswer(body=right, ending=ending, delay_s=delay, drip_s=fault.ms / 1000)
    return HttpAnswer(body=right, delay_s=delay)


def _json(document: object) -> HttpAnswer:
    return HttpAnswer(body=json.dumps(document, ensure_ascii=False).encode())


def _message(status: int, text: str) -> HttpAnswer:
    """An error page of the framework the real panel is built with."""
    return HttpAnswer(status=status, body=json.dumps({"Message": text}).encode())


def _row(one: AcceptedMessage | SeenRequest) -> dict[str, Any]:
    return asdict(one) | {"wall": one.wall.isoformat(), "clock": one.clock.isoformat()}
