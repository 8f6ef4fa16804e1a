"""What reaches the log, whoever wrote the record: no number, no text, no secret, one line."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from core import logging as peyk_logging

NUMBER = "09120004455"
BODY = "سلام سارا، کد تخفیف شما ۲۰ درصد"


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    """The log as it would be written, without touching the handlers of the test run."""
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            processors=peyk_logging._renderers(json=True), foreign_pre_chain=peyk_logging._before_rendering()
        )
    )
    root = logging.getLogger()
    root.addHandler(handler)
    yield out
    root.removeHandler(handler)


def written(out: io.StringIO) -> dict[str, object]:
    records = out.getvalue().splitlines()
    assert len(records) == 1, records
    record = json.loads(records[0])
    assert isinstance(record, dict)
    return record


@pytest.mark.parametrize(
    "spelling",
    [
        "09120004455", "+989120004455", "00989120004455", "989120004455", "9120004455", "0912 000 4455",
        "0912-000-4455", "+98 912 000 4455", "۰۹۱۲۰۰۰۴۴۵۵", "٠٩١٢٠٠٠٤٤٥٥", "+۹۸۹۱۲۰۰۰۴۴۵۵", "02155554455",
    ],
)  # fmt: skip
def test_a_phone_number_is_masked_in_every_spelling(spelling: str) -> None:
    assert peyk_logging.mask(f"sent to {spelling}.") == f"sent to {peyk_logging.HIDDEN}."


@pytest.mark.parametrize(
    "text", ["5243690627088685351", "run 1234 of 99", "2026-11-30T14:30:12.123456Z", "id=912"]
)
def test_ids_and_times_are_left_alone(text: str) -> None:
    assert peyk_logging.mask(text) == text


def test_an_event_keeps_its_name_and_ids(lines: io.StringIO) -> None:
    structlog.get_logger("peyk.test").warning("chunk_done", workspace=7, executions=[1, 2], code="ok")

    record = written(lines)
    assert (record["event"], record["workspace"], record["executions"]) == ("chunk_done", 7, [1, 2])
    assert (record["level"], record["logger"]) == ("warning", "peyk.test")


@pytest.mark.parametrize(
    "key", ["phone", "mobile", "body", "text", "password", "api_key", "Authorization", "user_token"]
)
def test_a_telling_key_loses_its_value(lines: io.StringIO, key: str) -> None:
    structlog.get_logger("peyk.test").warning("x", **{key: "canary-7431"})

    assert "canary-7431" not in lines.getvalue()


def test_a_number_under_an_innocent_key_is_masked(lines: io.StringIO) -> None:
    structlog.get_logger("peyk.test").warning("x", detail={"tried": [f"to {NUMBER}"]})

    assert NUMBER not in lines.getvalue()


def test_a_library_that_logs_a_number_is_masked_too(lines: io.StringIO) -> None:
    logging.getLogger("somebody.else").error("could not reach %s", NUMBER)

    assert written(lines)["event"] == f"could not reach {peyk_logging.HIDDEN}"


def test_the_secret_of_a_webhook_address_is_cut(lines: io.StringIO) -> None:
    logging.getLogger("django.request").warning("Not Found: %s", "/api/webhooks/sms/generic/s3cr3t-canary")

    assert written(lines)["event"] == f"Not Found: /api/webhooks/sms/generic/{peyk_logging.HIDDEN}"


def test_an_exception_keeps_its_type_and_places_and_loses_what_it_quotes(lines: io.StringIO) -> None:
    try:
        raise ValueError(
            f'null value\nDETAIL: Failing row contains ({NUMBER}, {BODY})\nfor "{BODY}" and {NUMBER}'
        )
    except ValueError:
        structlog.get_logger("peyk.test").exception("chunk_failed")

    record = written(lines)
    assert record["error"] == "ValueError"
    assert "null value" in str(record["error_text"])
    assert "test_logging.py" in str(record["at"])
    assert NUMBER not in lines.getvalue()
    assert "سارا" not in lines.getvalue()


def test_a_database_password_in_an_address_is_cut() -> None:
    assert "hunter2" not in peyk_logging.mask("postgresql://peyk:hunter2@127.0.0.1:5432/peyk")


def test_a_line_break_cannot_forge_a_second_record(lines: io.StringIO) -> None:
    logging.getLogger("somebody.else").error('first\n{"event": "forged"}')

    assert "forged" in str(written(lines)["event"])
