"""The built-in workflow templates. A workspace's own templates are rows (`WorkflowTemplate`).

The names of steps follow the language of the person who copies a template; the message texts are
Persian, since they are what the recipients read. They name no product and suit everybody.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from engine.types import Definition, EdgeSpec, NodeSpec

OFFICE_HOURS: Final = ("09:00", "18:00")
SHORT_DAY: Final = ("09:00", "13:00")
FULL_DAYS: Final = ("sat", "sun", "mon", "tue", "wed")


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltInTemplate:
    """A recipe to copy. `definition()` is made afresh, in the active language."""

    key: str
    name: str | Promise
    description: str | Promise
    category: str
    definition: Callable[[], Definition]


def default_window() -> dict[str, Any]:
    """Office hours in Iran: Saturday to Wednesday all day, Thursday until one, Friday closed."""
    days: dict[str, Any] = {day: [list(OFFICE_HOURS)] for day in FULL_DAYS}
    return {"timezone": "Asia/Tehran", "days": days | {"thu": [list(SHORT_DAY)], "fri": None}}


def default_settings() -> dict[str, Any]:
    return {"send_window": default_window()}


def _start() -> NodeSpec:
    return NodeSpec(key="start", type="start", subtype="manual", name=_("Start"))


def _send(key: str, name: str, body: str) -> NodeSpec:
    retry = {
        "enabled": True,
        "strategy": "fixed",
        "max_attempts": 3,
        "interval_seconds": 900,
        "on_exhausted": "fail",
    }
    config = {
        "title": name,
        "body": body,
        "provider": None,
        "sender": None,
        "send_only_in_window": True,
        "on_missing_variable": "skip",
        "append_opt_out": False,
        "retry": retry,
    }
    return NodeSpec(key=key, type="action", subtype="send_sms", name=name, config=config)


def _wait(key: str, days: int) -> NodeSpec:
    config = {"mode": "duration", "amount": days, "unit": "day"}
    return NodeSpec(key=key, type="wait", subtype="duration", name=_("Wait"), config=config)


def _end(key: str = "end") -> NodeSpec:
    return NodeSpec(key=key, type="end", subtype="complete", name=_("End"), config={"behavior": "complete"})


def _edge(source: str, target: str, port: str = "default") -> EdgeSpec:
    return EdgeSpec(source=source, port=port, target=target)


def _chain(*nodes: NodeSpec) -> Definition:
    edges = tuple(_edge(a.key, b.key) for a, b in pairwise(nodes))
    return Definition(nodes=nodes, edges=edges, settings=default_settings())


def empty() -> Definition:
    """What a workflow made without a template begins with."""
    return _chain(_start(), _end())


def _three_steps() -> Definition:
    return _chain(
        _start(),
        _send("send_1", _("Introduction"), HELLO),
        _wait("wait_1", 30),
        _send("send_2", _("Follow-up"), STILL_HERE),
        _wait("wait_2", 30),
        _send("send_3", _("Closing message"), STAY_IN_TOUCH),
        _end(),
    )


def _single_message() -> Definition:
    return _chain(_start(), _send("send_1", _("Message"), NEWS), _end())


def _welcome_and_reminder() -> Definition:
    rules = [{"field": "target.status", "operator": "in", "value": ["interested", "converted"]}]
    ask = NodeSpec(
        key="ask",
        type="condition",
        subtype="field_rules",
        name=_("Already interested?"),
        config={"logic": "all", "rules": rules},
    )
    nodes = (
        _start(),
        _send("send_1", _("Welcome"), WELCOME),
        _wait("wait_1", 3),
        ask,
        _end("end_yes"),
        _send("send_2", _("Reminder"), REMINDER),
        _end("end_no"),
    )
    edges = (
        _edge("start", "send_1"),
        _edge("send_1", "wait_1"),
        _edge("wait_1", "ask"),
        _edge("ask", "end_yes", "yes"),
        _edge("ask", "send_2", "no"),
        _edge("send_2", "end_no"),
    )
    return Definition(nodes=nodes, edges=edges, settings=default_settings())


HELLO: Final = (
    "{target.first_name|همراه} گرامی، سلام.\n"
    "از آشنایی با شما خوشحالیم. اگر پرسشی دارید، با ما در تماس باشید.\n"
    "{workspace.name}"
)
STILL_HERE: Final = (
    "{target.first_name|همراه} گرامی، سلام دوباره.\n"
    "یک ماه از آشنایی ما گذشت. اگر راهنمایی می‌خواهید، کنار شما هستیم.\n"
    "{workspace.name}"
)
STAY_IN_TOUCH: Final = (
    "{target.first_name|همراه} گرامی، از همراهی شما سپاسگزاریم.\n"
    "هر زمان مایل به گفت‌وگو بودید، منتظر تماس شما هستیم.\n"
    "{workspace.name}"
)
NEWS: Final = (
    "{target.first_name|همراه} گرامی، سلام.\n"
    "خبر تازه‌ای برای شما داریم؛ برای شنیدن آن با ما تماس بگیرید.\n"
    "{workspace.name}"
)
WELCOME: Final = (
    "{target.first_name|همراه} گرامی، خوش آمدید.\n"
    "خوشحالیم که با ما همراه شدید. هر کمکی لازم بود، در خدمت شما هستیم.\n"
    "{workspace.name}"
)
REMINDER: Final = (
    "{target.first_name|همراه} گرامی، سلام.\n"
    "اگر هنوز فرصت نکرده‌اید با ما صحبت کنید، این پیام فقط یک یادآوری است.\n"
    "{workspace.name}"
)

BUILT_IN: Final = (
    BuiltInTemplate(
        key="three_step_introduction",
        name=gettext_lazy("Three-step introduction"),
        description=gettext_lazy("Three messages, a month apart: introduction, follow-up and closing."),
        category="sms",
        definition=_three_steps,
    ),
    BuiltInTemplate(
        key="welcome_and_reminder",
        name=gettext_lazy("Welcome and reminder"),
        description=gettext_lazy(
            "A welcome; three days later a reminder, only to people who are not interested or converted yet."
        ),
        category="sms",
        definition=_welcome_and_reminder,
    ),
    BuiltInTemplate(
        key="single_message",
        name=gettext_lazy("One message"),
        description=gettext_lazy("One message to everybody, then the end."),
        category="sms",
        definition=_single_message,
    ),
)
_BY_KEY: Final = {template.key: template for template in BUILT_IN}


def find(key: str) -> BuiltInTemplate | None:
    """The built-in template called `key`."""
    return _BY_KEY.get(key)
