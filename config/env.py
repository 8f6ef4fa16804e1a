"""Reads the environment once, typed; every missing or wrong variable is named in one error."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit
from zoneinfo import available_timezones

from django.core.exceptions import ImproperlyConfigured

INSECURE_KEY_WORDS = ("change-me", "changeme", "insecure", "secret-key", "your-")


class EnvError(ValueError):
    """One variable is missing or wrong; the text says what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Var:
    """One variable of the settings reference."""

    name: str
    help: str
    parse: Callable[[str], object]
    default: str | None = None  # None: required in production
    secret: bool = False
    shape: str = "text"


def _text(value: str) -> str:
    return value


def _bool(value: str) -> bool:
    words = {
        "1": True,
        "true": True,
        "yes": True,
        "on": True,
        "0": False,
        "false": False,
        "no": False,
        "off": False,
    }
    if value.lower() not in words:
        raise EnvError("must be 1 or 0")
    return words[value.lower()]


def _list(value: str) -> list[str]:
    return [part.strip() for part in value.split(",") if part.strip()]


def _int(low: int, high: int) -> Callable[[str], int]:
    def parse(value: str) -> int:
        if not value.isascii() or not value.isdigit() or not low <= int(value) <= high:
            raise EnvError(f"must be a whole number from {low} to {high}")
        return int(value)

    return parse


def _choice(*words: str) -> Callable[[str], str]:
    def parse(value: str) -> str:
        if value not in words:
            raise EnvError(f"must be one of {', '.join(words)}")
        return value

    return parse


def _zone(value: str) -> str:
    if value not in available_timezones():
        raise EnvError("must be a time zone name such as Asia/Tehran")
    return value


def _secret_key(value: str) -> str:
    if len(value) < 50 or any(word in value.lower() for word in INSECURE_KEY_WORDS):
        raise EnvError("must be at least 50 random characters, not a sample")
    return value


def _data_keys(value: str) -> dict[str, bytes]:
    """`kid:base64key,kid2:base64key`; the first one seals, all of them open."""
    keys: dict[str, bytes] = {}
    for part in _list(value):
        kid, _, encoded = part.partition(":")
        try:
            raw = base64.urlsafe_b64decode(encoded)
        except (ValueError, binascii.Error) as exc:
            raise EnvError("must be id:key pairs, each key 32 bytes in base64") from exc
        if not kid or len(raw) != 32:
            raise EnvError("must be id:key pairs, each key 32 bytes in base64")
        keys[kid] = raw
    if not keys:
        raise EnvError("must hold at least one id:key pair")
    return keys


def database(value: str) -> dict[str, object]:
    """A Django database entry from `postgresql://user:password@host:port/name` or `sqlite:///path`."""
    parts = urlsplit(value)
    if parts.scheme == "sqlite":
        path = parts.path[1:]
        if not path:
            raise EnvError("sqlite:/// needs a file path")
        return {"ENGINE": "django.db.backends.sqlite3", "NAME": path}
    if parts.scheme in ("postgres", "postgresql"):
        name = unquote(parts.path.lstrip("/"))
        if not name:
            raise EnvError("the database name is missing after the host")
        return {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": name,
            "USER": unquote(parts.username or ""),
            "PASSWORD": unquote(parts.password or ""),
            "HOST": unquote(parts.hostname or ""),
            "PORT": str(parts.port or ""),
        }
    raise EnvError("must start with postgresql:// or sqlite:///")


def _redis(value: str) -> str:
    if value and urlsplit(value).scheme not in ("redis", "rediss", "unix"):
        raise EnvError("must start with redis://, rediss:// or unix://")
    return value


VARS: tuple[Var, ...] = (
    Var(
        name="PEYK_SECRET_KEY",
        parse=_secret_key,
        secret=True,
        help="Signs sessions and links. At least 50 random characters.",
    ),
    Var(
        name="PEYK_DATA_KEYS",
        parse=_data_keys,
        secret=True,
        shape="id:base64,...",
        help="Keys that seal provider credentials, `id:key` pairs of 32 bytes in base64; "
        "the first seals, all open.",
    ),
    Var(
        name="PEYK_ALLOWED_HOSTS",
        parse=_list,
        default="localhost,127.0.0.1,[::1]",
        shape="list",
        help="Host names the site answers to, separated by commas.",
    ),
    Var(
        name="PEYK_DEBUG",
        parse=_bool,
        default="0",
        shape="1 or 0",
        help="Development only: tracebacks in the browser and unhashed static files.",
    ),
    Var(
        name="PEYK_HTTPS",
        parse=_bool,
        default="1",
        shape="1 or 0",
        help="Secure cookies, redirect to https and HSTS. Set 0 only on loopback.",
    ),
    Var(
        name="PEYK_PROXY_COUNT",
        parse=_int(0, 10),
        default="0",
        shape="0 to 10",
        help="Reverse proxies in front whose X-Forwarded-For and X-Forwarded-Proto may be believed.",
    ),
    Var(
        name="DATABASE_URL",
        parse=database,
        default="sqlite:///var/peyk.sqlite3",
        shape="url",
        help="postgresql://user:password@host:port/name, or sqlite:///path for one small host.",
    ),
    Var(
        name="REDIS_URL",
        parse=_redis,
        default="",
        shape="url",
        help="Redis for cache, locks and Celery. Empty: memory cache and file locks on one host.",
    ),
    Var(
        name="PEYK_QUEUE",
        parse=_choice("inline", "django_q", "celery"),
        default="django_q",
        shape="word",
        help="inline runs tasks in the caller; django_q keeps them in the database; celery needs REDIS_URL.",
    ),
    Var(
        name="PEYK_TIMEZONE",
        parse=_zone,
        default="Asia/Tehran",
        shape="zone",
        help="Time zone given to a new workspace.",
    ),
    Var(
        name="PEYK_METRICS_TOKEN",
        parse=_text,
        default="",
        secret=True,
        help="Bearer token of /metrics. Empty: the endpoint answers 404.",
    ),
    Var(
        name="PEYK_LOG_LEVEL",
        parse=_choice("DEBUG", "INFO", "WARNING", "ERROR"),
        default="INFO",
        shape="word",
        help="Least severity that is logged.",
    ),
    Var(
        name="PEYK_VAR_DIR",
        parse=_text,
        default="var",
        shape="path",
        help="Folder for locks, uploads and the embedded database.",
    ),
    Var(
        name="PEYK_ENVIRONMENT",
        parse=_text,
        default="",
        shape="word",
        help="Name of this deployment, such as production or staging. A database with another name in it "
        "sends nothing until manage.py adopt_database.",
    ),
    Var(
        name="PEYK_CLOCK_FILE",
        parse=_text,
        default="",
        shape="path",
        help="Demonstrations and tests only: all processes read the time from this file.",
    ),
    Var(
        name="PEYK_LEASE_SECONDS",
        parse=_int(30, 3600),
        default="300",
        shape="seconds",
        help="After this long without a result a claimed execution is taken back.",
    ),
    Var(
        name="PEYK_HTTP_BUDGET_SECONDS",
        parse=_int(1, 60),
        default="10",
        shape="seconds",
        help="Total time of one call to the SMS provider.",
    ),
    Var(
        name="PEYK_SEND_CONCURRENCY",
        parse=_int(1, 64),
        default="32",
        shape="1 to 64",
        help="Provider calls in flight in one worker process.",
    ),
    Var(
        name="PEYK_CHUNK_SIZE",
        parse=_int(1, 500),
        default="100",
        shape="1 to 500",
        help="Executions worked together, in one pair of transactions. A queue message names one to four "
        "such chunks.",
    ),
    Var(
        name="PEYK_SMS_FINALITY_HOURS",
        parse=_int(1, 720),
        default="72",
        shape="hours",
        help="After this long nothing new is learnt of a message; a line may have its own figure.",
    ),
    Var(
        name="PEYK_RECONCILE_WAIT_MINUTES",
        parse=_int(1, 10_080),
        default="120",
        shape="minutes",
        help="How long a person's walk waits while the provider is asked about an unknown outcome.",
    ),
    Var(
        name="PEYK_RECONCILE_ABSENT_MINUTES",
        parse=_int(1, 1440),
        default="15",
        shape="minutes",
        help="How old a message must be before its absence from the provider's list proves anything.",
    ),
    Var(
        name="PEYK_OUTBOX_PAGES",
        parse=_int(1, 100),
        default="10",
        shape="1 to 100",
        help="Pages of the provider's list of sent messages that are read for one account in one round.",
    ),
    Var(
        name="PEYK_SMS_QUESTIONS_PER_SECOND",
        parse=_int(1, 1000),
        default="10",
        shape="a second",
        help="Delivery questions to one provider account at most.",
    ),
    Var(
        name="PEYK_CREDIT_CHECK_MINUTES",
        parse=_int(1, 1440),
        default="30",
        shape="minutes",
        help="How often the credit of a provider account is asked for.",
    ),
    Var(
        name="PEYK_PROVIDER_HOSTS",
        parse=_list,
        default="rest.payamak-panel.com",
        shape="list",
        help="Hosts an SMS provider's address may name; loopback is added in debug mode.",
    ),
)


@dataclass(frozen=True, slots=True)
class Environment:
    """The parsed variables by name."""

    values: Mapping[str, object] = field(repr=False)

    def __getitem__(self, name: str) -> object:
        return self.values[name]

    def text(self, name: str) -> str:
        value = self.values[name]
        assert isinstance(value, str)
        return value

    def number(self, name: str) -> int:
        value = self.values[name]
        assert isinstance(value, int)
        return value

    def keys(self, name: str) -> dict[str, bytes]:
        value = self.values[name]
        assert isinstance(value, dict)
        return value

    def flag(self, name: str) -> bool:
        return bool(self.values[name])

    def words(self, name: str) -> list[str]:
        value = self.values[name]
        assert isinstance(value, list)
        return value


def read(environ: Mapping[str, str], *, defaults: Mapping[str, str] | None = None) -> Environment:
    """Parse every variable of `VARS`. Raises ImproperlyConfigured naming all that are missing or wrong."""
    values: dict[str, object] = {}
    problems: list[str] = []
    fallback = defaults or {}
    for var in VARS:
        raw = environ.get(var.name) or fallback.get(var.name, var.default)
        if raw is None:
            problems.append(f"{var.name} is missing ({var.help})")
            continue
        try:
            values[var.name] = var.parse(raw)
        except (EnvError, ValueError) as exc:
            problems.append(f"{var.name} {exc}")
    if values.get("PEYK_QUEUE") == "celery" and not values.get("REDIS_URL"):
        problems.append("REDIS_URL is missing (PEYK_QUEUE=celery needs it)")
    if problems:
        raise ImproperlyConfigured("Settings: " + "; ".join(problems) + ". See docs/settings.md.")
    return Environment(values)
