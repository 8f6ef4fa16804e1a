"""The running simulator: the provider's interfaces, the control paths under `/_sim/`, and its thread."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from core.clock import now
from sms.providers.addresses import is_loopback
from sms.simulator import relay
from sms.simulator.answers import json_answer, message
from sms.simulator.console import ConsoleInterface
from sms.simulator.form import FormInterface
from sms.simulator.panel import Panel
from sms.simulator.plan import DELIVERY_OUTCOMES, Plan, parse_plan
from sms.simulator.record import AcceptedMessage, SeenRequest, read_requests
from sms.simulator.rest import RestInterface
from sms.simulator.soap import SoapInterface
from sms.simulator.wire import Connection, HttpAnswer, HttpRequest

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
        self.served = 0  # requests of any kind, those for the record and for the WSDL included
        self.store = Path(store)
        self._address = (host, port)
        self._panel = Panel(store, parse_plan(plan or {}), clock, fsync=fsync)
        self._interfaces = (
            RestInterface(self._panel),
            SoapInterface(self._panel, lambda: self.url),
            ConsoleInterface(self._panel),
            FormInterface(self._panel),
        )
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

    def force_delivery(self, message_id: str, outcome: str) -> None:
        """Make a message's final outcome, a name of `DELIVERY_OUTCOMES`, known now. Else ValueError."""
        if outcome not in DELIVERY_OUTCOMES:
            raise ValueError(f"outcome is one of {', '.join(DELIVERY_OUTCOMES)}")
        self._panel.force_delivery(message_id, DELIVERY_OUTCOMES[outcome])

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
        for listening in server.sockets if server else ():
            self._loop.remove_reader(listening.fileno())
        self._turn()  # a client that was just let in becomes a connection before its server closes
        if server:
            server.close()
        for connection in list(self._connections):
            connection.abort()
        self._turn()
        self._loop.close()
        self._panel.close()
        self._ready.set()

    def _turn(self) -> None:
        for _ in range(3):
            self._loop.run_until_complete(asyncio.sleep(0))

    def answer(self, request: HttpRequest) -> HttpAnswer:
        """Answer one request: one of the provider's interfaces, or the control paths."""
        self.served += 1
        if request.path.startswith(CONTROL) and is_loopback(request.host):
            return self._control(request)
        for interface in self._interfaces:
            if (answer := interface.answer(request)) is not None:
                return answer
        return message(404, "No HTTP resource was found that matches the request URI.")

    def _control(self, request: HttpRequest) -> HttpAnswer:
        name = (request.verb, request.path.removeprefix(CONTROL))
        after = int(request.query.get("after", "0"))
        match name:
            case ("GET", "health"):
                return json_answer({"ok": True})
            case ("GET", "accepted"):
                return json_answer([_row(one) for one in self.accepted()[after:]])
            case ("GET", "requests"):
                return json_answer([_row(one) for one in self.requests()[after:]])
            case ("PUT", "faults"):
                return self._replace_plan(request.body)
            case ("POST", "delivery"):
                return self._force(request)
            case ("POST", "inbound"):
                return self._push(request, self._push_inbound)
            case ("POST", "report"):
                return self._push(request, self._push_report)
        return message(404, "no such control")

    def _replace_plan(self, body: bytes) -> HttpAnswer:
        try:
            self.behave(json.loads(body))
        except (ValueError, TypeError) as exc:
            return message(400, str(exc))
        return json_answer({"ok": True})

    def _force(self, request: HttpRequest) -> HttpAnswer:
        try:
            self.force_delivery(request.fields.get("id", ""), request.fields.get("outcome", ""))
        except ValueError as exc:
            return message(400, str(exc))
        return json_answer({"ok": True})

    def _push(self, request: HttpRequest, push: Callable[[Mapping[str, str]], object]) -> HttpAnswer:
        """Push in the background: the receiver may ask this simulator something before it answers."""
        url = request.fields.get("url", "")
        if not is_loopback(urlsplit(url).hostname or ""):
            return message(400, "the simulator calls this machine only")
        self._loop.run_in_executor(None, push, dict(request.fields))
        return json_answer({"ok": True})

    def _push_inbound(self, fields: Mapping[str, str]) -> None:
        relay.relay(
            fields["url"],
            sender=fields.get("from", ""),
            line=fields.get("to", ""),
            text=fields.get("text", ""),
            message_id=fields.get("id", ""),
            verb=fields.get("verb", "GET").upper(),
            times=int(fields.get("times", "1")),
        )

    def _push_report(self, fields: Mapping[str, str]) -> None:
        entry = (fields.get("id", ""), fields.get("status", "delivered"))
        relay.report(fields["url"], [entry], times=int(fields.get("times", "1")))


def _row(one: AcceptedMessage | SeenRequest) -> dict[str, Any]:
    return asdict(one) | {"wall": one.wall.isoformat(), "clock": one.clock.isoformat()}
