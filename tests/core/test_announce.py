"""What htmx answers say to the person."""

from __future__ import annotations

import json

from django.http import HttpResponse

from core.announce import announce, refusal


def test_the_sentence_and_the_focus_travel_in_the_header() -> None:
    response = announce(HttpResponse(), "ذخیره شد", focus="step-3")
    assert json.loads(response["HX-Trigger"]) == {
        "ui:announce": {"text": "ذخیره شد", "tone": "success", "focus": "step-3"}
    }


def test_the_header_is_ascii() -> None:
    assert announce(HttpResponse(), "ذخیره شد")["HX-Trigger"].isascii()


def test_other_events_of_the_answer_stay() -> None:
    response = HttpResponse(headers={"HX-Trigger": '{"ui:close-sheet": {"id": "x"}}'})
    assert set(json.loads(announce(response, "ok")["HX-Trigger"])) == {"ui:close-sheet", "ui:announce"}


def test_a_refusal_changes_nothing_on_the_page() -> None:
    response = refusal("نشد")
    assert (response.status_code, response["HX-Reswap"]) == (409, "none")
