"""Structured logs: one JSON object a line, event names and ids only.

Whatever a caller or a library passes, phone numbers, message texts and secrets do not reach the
output: values under telling keys are dropped, phone numbers are masked wherever they stand, the
secret part of a webhook address is cut, and error texts lose what they quote from rows.
"""

from __future__ import annotations

import logging
import logging.config
import re
from collections.abc import Mapping, MutableMapping
from typing import Any

import structlog
from structlog.typing import EventDict, Processor

from core.address_keys import without_keys_in

HIDDEN = "[hidden]"
# Compared in lower case without separators, so `API-Key`, `api_key` and `apiKey` are one.
SECRET_KEYS = frozenset({
    "password", "passwd", "pwd", "passphrase", "token", "secret", "apikey", "authorization", "cookie",
    "setcookie", "sessionid", "csrftoken", "credentials", "datakeys", "secretkey", "xcsrftoken",
})  # fmt: skip
PERSONAL_KEYS = frozenset({
    "phone", "phones", "mobile", "landline", "number", "to", "recipient", "recipients", "receiver",
    "sender", "body", "text", "sms", "content", "email", "username", "firstname", "lastname", "name",
    "payload", "params", "args", "kwargs", "data", "raw",
})  # fmt: skip
HIDDEN_KEYS = SECRET_KEYS | PERSONAL_KEYS
HIDDEN_ENDINGS = ("password", "token", "secret", "apikey", "phone", "mobile", "body")

_D = "[0-9\u06f0-\u06f9\u0660-\u0669]"
_GAP = "[\\s\u200c\u00a0().-]?"
# An Iranian number, mobile or landline, in any digits and with a gap anywhere, not part of a longer id.
_PHONE = re.compile(
    f"(?<!{_D})(?:(?:\\+|[0\u06f0\u0660]{{2}})?[9\u06f9\u0669][8\u06f8\u0668]{_GAP}|[0\u06f0\u0660])"
    f"(?:{_D}{_GAP}){{9}}{_D}(?!{_D})"
    f"|(?<!{_D})[9\u06f9\u0669](?:{_GAP}{_D}){{9}}(?!{_D})"
)
_WEBHOOK = re.compile(r"(/api/webhooks/[^/\s]+/[^/\s]+/)[^/\s?\"']+")
_BEARER = re.compile(r"(?i)\b(bearer|basic|token)\s+[A-Za-z0-9._~+/=-]{8,}")
_API_TOKEN = re.compile(r"\bpeyk_[A-Za-z0-9_-]{43}")
_URL_PASSWORD = re.compile(r"(\w+://[^\s:/@]*:)[^\s@]+@")  # also one with a slash in it
_ROW_VALUES = re.compile(r"(?im)^\s*(DETAIL|CONTEXT|PARAMETERS?):.*$")
_ARABIC_SCRIPT = re.compile("[\u0600-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufeff](?:.*[\u0600-\u06ff])?")
MAX_ERROR_TEXT = 300


def mask(text: str) -> str:
    """`text` without phone numbers, webhook secrets and passwords."""
    text = without_keys_in(text, HIDDEN)
    text = _URL_PASSWORD.sub(rf"\1{HIDDEN}@", text)
    text = _WEBHOOK.sub(rf"\1{HIDDEN}", text)
    text = _BEARER.sub(rf"\1 {HIDDEN}", text)
    text = _API_TOKEN.sub(HIDDEN, text)
    return _PHONE.sub(HIDDEN, text)


def error_text(error: BaseException) -> str:
    """What an exception says, without the values it quotes from rows and messages."""
    text = _ROW_VALUES.sub("", str(error))
    return mask(_ARABIC_SCRIPT.sub("…", text)).strip()[:MAX_ERROR_TEXT]


def _is_hidden(key: str) -> bool:
    plain = re.sub(r"[^a-z0-9]", "", key.lower())
    return plain in HIDDEN_KEYS or plain.endswith(HIDDEN_ENDINGS)


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, Mapping):
        return {str(k): HIDDEN if _is_hidden(str(k)) else _clean(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_clean(item) for item in value]
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return mask(str(value))


def hide_personal_data(_logger: Any, _method: str, event_dict: EventDict) -> EventDict:
    """Processor: drop what telling keys hold and mask the rest."""
    kept = ("event", "level", "logger", "timestamp")
    return {
        key: _clean(value) if key in kept or not _is_hidden(key) else HIDDEN
        for key, value in event_dict.items()
    }


def describe_exception(_logger: Any, _method: str, event_dict: EventDict) -> EventDict:
    """Processor: an exception becomes its type, its cleaned text and the places it passed.

    Local variables and source lines stay out: either may hold a number or a message.
    """
    info = event_dict.pop("exc_info", None)
    event_dict.pop("stack_info", None)
    error = _error_of(info)
    if error is not None:
        event_dict["error"] = type(error).__name__
        event_dict["error_text"] = error_text(error)
        event_dict["at"] = _places(error)
    return event_dict


def _error_of(info: Any) -> BaseException | None:
    if isinstance(info, BaseException):
        return info
    if isinstance(info, tuple):
        return info[1] if isinstance(info[1], BaseException) else None
    if info:
        import sys

        return sys.exc_info()[1]
    return None


def _places(error: BaseException, limit: int = 12) -> list[str]:
    places: list[str] = []
    frame = error.__traceback__
    while frame is not None:
        code = frame.tb_frame.f_code
        places.append(f"{code.co_filename}:{frame.tb_lineno} {code.co_name}")
        frame = frame.tb_next
    return places[-limit:]


def _before_rendering() -> list[Processor]:
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        describe_exception,
    ]


def _renderers(*, json: bool) -> list[Processor]:
    last: Processor = (
        structlog.processors.JSONRenderer(ensure_ascii=False)
        if json
        else structlog.processors.KeyValueRenderer(key_order=["timestamp", "level", "logger", "event"])
    )
    return [structlog.stdlib.ProcessorFormatter.remove_processors_meta, hide_personal_data, _one_line, last]


def _one_line(_logger: Any, _method: str, event_dict: EventDict) -> EventDict:
    """Processor: a line break in an event would make one record look like two."""
    event_dict["event"] = " ".join(str(event_dict.get("event", "")).split())
    return event_dict


def configure(options: Mapping[str, Any]) -> None:
    """Django's LOGGING_CONFIG: `level` is the least severity shown, `json` picks the form.

    Everything, Django and the libraries included, goes to the error stream through one handler.
    """
    level, json = str(options.get("level", "INFO")), bool(options.get("json", True))
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *_before_rendering(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    logging.config.dictConfig(_dict_config(level, json=json))


def _dict_config(level: str, *, json: bool) -> dict[str, Any]:
    loggers: MutableMapping[str, Any] = {
        name: {"handlers": [], "propagate": True, "level": "NOTSET"}
        for name in ("django", "django.server", "django-q", "axes", "celery", "py.warnings")
    }
    loggers["django-q"]["level"] = "WARNING"  # it tells of every message twice
    # A statement's parameters are rows: never logged, whatever the level.
    loggers["django.db.backends"] = {"handlers": [], "propagate": False, "level": "CRITICAL"}
    # urllib3 logs request lines, which hold recipients.
    loggers["urllib3"] = {"handlers": [], "propagate": True, "level": "ERROR"}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {
                "()": structlog.stdlib.ProcessorFormatter,
                "processors": _renderers(json=json),
                "foreign_pre_chain": _before_rendering(),
            }
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": loggers,
    }
