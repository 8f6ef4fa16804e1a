from __future__ import annotations

import base64

import pytest
from django.core.exceptions import ImproperlyConfigured

from config.env import read

KEY = base64.urlsafe_b64encode(bytes(range(32))).decode()
GOOD = {"PEYK_SECRET_KEY": "k" * 60, "PEYK_DATA_KEYS": f"a:{KEY}"}


def test_the_least_is_two_secrets():
    env = read(GOOD)
    assert env.text("PEYK_QUEUE") == "django_q"
    assert env["DATABASE_URL"] == {"ENGINE": "django.db.backends.sqlite3", "NAME": "var/peyk.sqlite3"}


def test_every_missing_and_wrong_variable_is_named_at_once():
    with pytest.raises(ImproperlyConfigured) as error:
        read(
            {
                "PEYK_QUEUE": "kafka",
                "PEYK_DEBUG": "maybe",
                "DATABASE_URL": "mysql://x",
                "PEYK_CHUNK_SIZE": "0",
            }
        )
    for name in (
        "PEYK_SECRET_KEY",
        "PEYK_DATA_KEYS",
        "PEYK_QUEUE",
        "PEYK_DEBUG",
        "DATABASE_URL",
        "PEYK_CHUNK_SIZE",
    ):
        assert name in str(error.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PEYK_SECRET_KEY", "short"),
        ("PEYK_SECRET_KEY", "change-me-" * 10),
        ("PEYK_DATA_KEYS", "a"),
        ("PEYK_DATA_KEYS", "a:" + base64.urlsafe_b64encode(b"short").decode()),
        ("PEYK_DATA_KEYS", "a:***"),
        ("PEYK_TIMEZONE", "Mars/Base"),
        ("REDIS_URL", "http://host"),
        ("DATABASE_URL", "postgresql://host"),
        ("PEYK_LEASE_SECONDS", "۳۰۰"),
        ("PEYK_PROXY_COUNT", "-1"),
    ],
)
def test_a_wrong_value_is_refused_without_showing_it(name: str, value: str):
    with pytest.raises(ImproperlyConfigured, match=name) as error:
        read({**GOOD, name: value})
    if len(value) > 8:
        assert value not in str(error.value)


def test_celery_needs_redis():
    with pytest.raises(ImproperlyConfigured, match="REDIS_URL"):
        read({**GOOD, "PEYK_QUEUE": "celery"})


def test_a_database_url_keeps_escaped_characters():
    env = read({**GOOD, "DATABASE_URL": "postgresql://us%40er:p%2Fw@db.example:6432/peyk"})
    entry = env["DATABASE_URL"]
    assert isinstance(entry, dict)
    assert (entry["USER"], entry["PASSWORD"], entry["PORT"], entry["NAME"]) == (
        "us@er",
        "p/w",
        "6432",
        "peyk",
    )


def test_secrets_stay_out_of_the_repr():
    assert GOOD["PEYK_SECRET_KEY"] not in repr(read(GOOD))
