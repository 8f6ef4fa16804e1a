"""Is it alive, and how is it doing: /healthz and /metrics."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from django.db import DatabaseError
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import DjangoAssertNumQueries, Settings

from core import clock, metrics
from core.heartbeat import beat
from core.metrics import Gauge
from core.models import Heartbeat

NOW = datetime(2026, 5, 2, 9, 0, tzinfo=UTC)
TOKEN = "metrics-token-of-the-test"


@pytest.fixture
def at_nine() -> Iterator[clock.FrozenClock]:
    with clock.frozen(NOW) as frozen:
        yield frozen


@pytest.fixture
def alive(db: None, at_nine: clock.FrozenClock) -> clock.FrozenClock:
    beat("tick")
    beat("queue")
    return at_nine


def scraped(client: Client) -> dict[str, list[tuple[dict[str, str], float]]]:
    answer = client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 200
    families = text_string_to_metric_families(answer.content.decode())
    return {
        family.name: [(dict(sample.labels), float(sample.value)) for sample in family.samples]
        for family in families
    }


def test_all_is_well_when_everything_gave_a_sign_of_life(client: Client, alive: clock.FrozenClock) -> None:
    alive.at = NOW + timedelta(seconds=59)

    answer = client.get("/healthz")

    assert answer.status_code == 200
    assert answer.json()["status"] == "ok"
    assert answer.json()["age_seconds"] == {"tick": 59, "queue": 59}


def test_a_scheduler_that_stopped_is_named(client: Client, alive: clock.FrozenClock) -> None:
    alive.at = NOW + timedelta(minutes=4)
    beat("queue")

    answer = client.get("/healthz")

    assert (answer.status_code, answer.json()["status"], answer.json()["late"]) == (200, "late", ["tick"])


@pytest.mark.django_db
def test_a_new_installation_is_late_until_its_first_tick(client: Client) -> None:
    assert client.get("/healthz").json()["late"] == ["tick", "queue"]


def test_without_a_database_the_answer_is_503(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_args: object) -> None:
        raise DatabaseError("away")

    monkeypatch.setattr(Heartbeat.objects, "values_list", away)

    answer = client.get("/healthz")

    assert (answer.status_code, answer.json()["status"]) == (503, "down")


@pytest.mark.django_db
def test_health_costs_one_query(client: Client, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(1):
        client.get("/healthz")


@pytest.mark.django_db
def test_there_are_no_metrics_without_a_token(client: Client, settings: Settings) -> None:
    settings.METRICS_TOKEN = ""

    assert client.get("/metrics", headers={"Authorization": "Bearer "}).status_code == 404


@pytest.mark.django_db
@pytest.mark.parametrize("header", [None, "Bearer wrong", f"Basic {TOKEN}", TOKEN, "Bearer"])
def test_metrics_are_refused_without_the_right_token(
    client: Client, settings: Settings, header: str | None
) -> None:
    settings.METRICS_TOKEN = TOKEN

    answer = client.get("/metrics", headers={"Authorization": header} if header else {})

    assert answer.status_code == 401
    assert answer.content == b""


def test_ages_of_the_signs_of_life_are_told(
    client: Client, settings: Settings, alive: clock.FrozenClock
) -> None:
    settings.METRICS_TOKEN = TOKEN
    alive.at = NOW + timedelta(seconds=30)

    found = scraped(client)

    assert ({"part": "tick"}, 30.0) in found["peyk_heartbeat_age_seconds"]
    assert found["peyk_database_up"] == [({}, 1.0)]
    assert "peyk_queue_messages" in found


@pytest.mark.django_db
def test_a_source_that_fails_does_not_hide_the_others(
    client: Client, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> Iterator[Gauge]:
        yield Gauge("peyk_broken", "x", 1)
        raise DatabaseError("no such table")

    settings.METRICS_TOKEN = TOKEN
    monkeypatch.setitem(metrics._sources, "broken", broken)

    found = scraped(client)

    assert "peyk_broken" not in found
    assert "peyk_database_up" in found
