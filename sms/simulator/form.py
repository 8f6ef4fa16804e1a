"""An interface like those of many small providers: `/generic/send`, by GET, form or JSON.

Beside it `/generic/state` and `/generic/credit` tell what became of a message and what is left.
Answers `{"status": "ok", "data": {"id": ...}}`, or `{"status": "error", "code": ...}` with HTTP 200.
"""

from __future__ import annotations

from collections.abc import Mapping

from sms.simulator.answers import json_bytes, message, on_the_wire
from sms.simulator.panel import Offer, Panel
from sms.simulator.wire import HttpAnswer, HttpRequest

PATH = "/generic/send"
DELIVERY, CREDIT = "/generic/state", "/generic/credit"  # GET, with the same names


class FormInterface:
    def __init__(self, panel: Panel) -> None:
        self._panel = panel

    def answer(self, request: HttpRequest) -> HttpAnswer | None:
        """None for a path of another interface."""
        if request.path in (DELIVERY, CREDIT) and request.verb == "GET":
            return self._question(request)
        if request.path != PATH:
            return None
        if request.verb not in ("GET", "POST"):
            return message(405, "GET or POST")
        fields: Mapping[str, str] = request.fields if request.verb == "POST" else request.query
        who = fields.get("user", "")
        offer = Offer(
            method="generic/send",
            who=who,
            account=self._panel.account(who, fields.get("secret", "")),
            numbers=(fields.get("to", ""),),
            texts=(fields.get("message", ""),),
            sender=fields.get("line", ""),
        )
        taken = self._panel.offer(offer)
        slot = taken.code or ",".join(taken.slots)
        good = slot.isdigit() and len(slot) >= 10
        document: dict[str, object] = {"status": "error", "code": slot}
        if good:
            document = {"status": "ok", "data": {"id": int(slot)}}
        return on_the_wire(json_bytes(document), taken)

    def _question(self, request: HttpRequest) -> HttpAnswer:
        who = request.query.get("user", "")
        account = self._panel.account(who, request.query.get("secret", ""))
        taken = self._panel.asked(request.path.removeprefix("/"), request.query.get("id", ""))
        document: dict[str, object] = {"status": "error", "code": "0"}
        if account is not None and request.path == CREDIT:
            document = {"status": "ok", "data": {"credit": self._panel.left(account)}}
        elif account is not None:
            state = self._panel.delivery(account, request.query.get("id", ""))
            document = {"status": "ok", "data": {"state": state}}
        return on_the_wire(json_bytes(document), taken)
