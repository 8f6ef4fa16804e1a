"""The SMS step as the editor and the compiler see it; `automation/runtime/actions/` performs it."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.utils.translation import gettext_lazy as _

from automation import registry
from automation.action_specs.approved_text import fits
from automation.problems import register_sentences
from automation.registry import ActionPlugin
from automation.variables import sample_facts
from core.text import normalize_text
from engine.compile import ActionSpec
from engine.retry import DEFAULT_RULE
from engine.text import parse_text, render
from engine.types import NodeSpec, Port, Problem
from sms.lines import NOT_APPROVED, PROMOTIONAL_ON_SERVICE, MessageKind, choose, lines_of
from sms.models import ProviderAccount, SmsSettings
from sms.parts import count_parts
from sms.wording import Wording

SUBTYPE: Final = "send_sms"
MAX_TITLE: Final = 120
MAX_BODY: Final = 5_000  # far past any sensible message: guards storage, the editor warns much earlier
MAX_SENDER: Final = 20
MAX_EXPIRY_MINUTES: Final = 60 * 24 * 30
MAX_FOUND: Final = 10  # forbidden words named of one text
ON_MISSING: Final = ("skip", "send_blank")
WHEN_LATE: Final = ("skip", "hold")
LONG_TEXT: Final = 5  # parts: such a message is allowed, but worth a second look


@dataclass(frozen=True, slots=True, kw_only=True)
class SendSmsConfig:
    """A checked config with its defaults filled in. `provider` None is the workspace's primary one,
    `sender` None that provider's first line. The retry rule is the engine's (`ActionNode.retry`).
    """

    title: str
    body: str
    provider: str | None
    sender: str | None
    send_only_in_window: bool
    on_missing_variable: str
    append_opt_out: bool
    expire_after_minutes: int | None = None  # None: as the workflow says
    when_late: str = "skip"  # or "hold": a person decides whether the walk goes on
    message_kind: str = MessageKind.PROMOTIONAL.value  # what the text is for, see `sms.lines`


def read(config: Mapping[str, Any]) -> SendSmsConfig:
    """The config of a published node; optional keys that are missing or null take their defaults."""
    filled = defaults() | {key: value for key, value in config.items() if value is not None}
    filled.pop("retry", None)
    return SendSmsConfig(**filled)


def defaults() -> dict[str, Any]:
    """A new step's config. Without `retry` a step follows the workflow's rule; here it is spelt out."""
    return {
        "title": "",
        "body": "",
        "provider": None,
        "sender": None,
        "send_only_in_window": True,
        "on_missing_variable": "skip",
        "append_opt_out": False,
        "expire_after_minutes": None,
        "when_late": "skip",
        "message_kind": MessageKind.PROMOTIONAL.value,
        "retry": DEFAULT_RULE.to_json(),
    }


def check(config: Mapping[str, Any]) -> list[Problem]:
    """Every mistake in a config, except those of `retry`, which the engine reads."""
    problems = [
        Problem(code="config_key_unknown", fields={"key": str(key)[:40]})
        for key in config
        if key not in _CHECKS and key != "retry"
    ]
    problems += [
        Problem(code="config_value_invalid", fields={"key": key})
        for key, is_good in _CHECKS.items()
        if config.get(key) is not None and not is_good(config[key])
    ]
    body = config.get("body")
    if body is None or (isinstance(body, str) and not normalize_text(body)):
        problems.append(Problem(code="text_empty"))
    return problems


def _is_text(limit: int) -> Callable[[object], bool]:
    return lambda value: isinstance(value, str) and len(value) <= limit


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_account_id(value: object) -> bool:
    try:
        return isinstance(value, str) and str(uuid.UUID(value)) == value
    except ValueError:
        return False


_CHECKS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "title": _is_text(MAX_TITLE),
    "body": _is_text(MAX_BODY),
    "provider": _is_account_id,
    "sender": lambda value: isinstance(value, str) and 0 < len(value) <= MAX_SENDER,
    "send_only_in_window": _is_flag,
    "on_missing_variable": lambda value: value in ON_MISSING,
    "append_opt_out": _is_flag,
    "expire_after_minutes": lambda value: type(value) is int and 0 < value <= MAX_EXPIRY_MINUTES,
    "when_late": lambda value: value in WHEN_LATE,
    "message_kind": lambda value: value in MessageKind.values,
}


def check_workspace(nodes: Sequence[NodeSpec]) -> list[Problem]:
    """What the steps ask of the workspace and it does not have: an opt-out text, a provider account."""
    opted = [node.key for node in nodes if node.config.get("append_opt_out") is True]
    wanted = {node.key: node.config.get("provider") for node in nodes if node.config.get("provider")}
    problems: list[Problem] = []
    settings = SmsSettings.objects.first()
    if opted and not (settings and settings.opt_out_text):
        problems += [Problem(code="opt_out_text_missing", node=key) for key in opted]
    asked = {value for value in wanted.values() if _is_account_id(value)}
    if asked:
        accounts = ProviderAccount.objects.filter(pk__in=asked, is_active=True)
        known = {str(pk) for pk in accounts.values_list("pk", flat=True)}
        problems += [
            Problem(code="provider_unknown", node=key)
            for key, value in wanted.items()
            if value in asked and value not in known
        ]
    return problems + _check_lines(nodes, settings) + _check_wording(nodes, settings)


def _check_wording(nodes: Sequence[NodeSpec], settings: SmsSettings | None) -> list[Problem]:
    """Words and links that the workspace does not allow, with their places. Asked again of the finished text
    when a message leaves."""
    wording = Wording.of(settings)
    return [
        Problem(
            code=f"text_{found.kind}_forbidden",
            node=node.key,
            fields={"text": found.text[:60], "place": found.start + 1},
        )
        for node in nodes
        for text in _texts(node.config)
        for found in wording.find(text, is_template=True)[:MAX_FOUND]
    ]


def _check_lines(nodes: Sequence[NodeSpec], settings: SmsSettings | None) -> list[Problem]:
    """Promotional texts on lines that may not carry them, and texts that are not the approved one of their
    line. One query; asked again when a message leaves."""
    opt_out = settings.opt_out_text if settings else ""
    accounts = list(ProviderAccount.objects.filter(is_active=True).order_by("-is_primary", "created_at"))
    by_id = {str(row.pk): row for row in accounts}
    problems = []
    for node in nodes:
        config = node.config
        row = by_id.get(str(config.get("provider"))) or next(iter(accounts), None)
        if row is None:
            continue
        kind = str(config.get("message_kind") or MessageKind.PROMOTIONAL)
        known = lines_of(row.lines, row.line_details)
        line, refused = choose(known, str(config.get("sender") or ""), kind)
        if refused:
            problems.append(Problem(code=refused, node=node.key))
        elif line is not None and not fits(line, config, opt_out):
            problems.append(Problem(code=NOT_APPROVED, node=node.key))
    return problems


def lines(config: Mapping[str, Any]) -> list[str]:
    """The sender lines a step may choose from: those of its own provider account, else of the primary one."""
    accounts = list(ProviderAccount.objects.filter(is_active=True).order_by("-is_primary", "created_at"))
    wanted = next((row for row in accounts if str(row.pk) == config.get("provider")), None)
    chosen = wanted or next(iter(accounts), None)
    return [str(line) for line in chosen.lines] if chosen else []


def warn(config: Mapping[str, Any]) -> list[Problem]:
    """A message of many parts, counted with the made-up person of the previews."""
    body = config.get("body")
    if not isinstance(body, str):
        return []
    text = render(parse_text(body), sample_facts(registry.variables()), on_missing="blank").text
    parts = count_parts(text).parts
    return [Problem(code="text_long", fields={"parts": parts})] if parts >= LONG_TEXT else []


def _texts(config: Mapping[str, Any]) -> list[str]:
    body = config.get("body")
    return [body] if isinstance(body, str) else []


PLUGIN: Final = ActionPlugin(
    spec=ActionSpec(
        subtype=SUBTYPE,
        ports=frozenset({Port.DEFAULT, Port.SUCCESS, Port.FAILURE}),
        check=check,
        consumes_budget=lambda _config: True,
        texts=_texts,
    ),
    label=_("Send a message"),
    hint=_("An SMS with the person's own name and details in it"),
    icon="message",
    defaults=defaults,
    check_workspace=check_workspace,
    warn=warn,
)
register_sentences(
    {
        "text_long": _("The message is long: %(parts)s parts are billed for each person."),
        "text_word_forbidden": _("The word «%(text)s» at character %(place)s is not allowed."),
        "text_link_forbidden": _("The link «%(text)s» at character %(place)s is not allowed."),
        PROMOTIONAL_ON_SERVICE: _(
            "The message is promotional and the line is only for service messages. Choose another line, or"
            " say that the message is a service message."
        ),
        NOT_APPROVED: _(
            "The line sends its approved text only, and this text is another one. Write the approved text,"
            " with variables in its places."
        ),
    }
)
