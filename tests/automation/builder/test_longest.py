"""The longest message of a text among the people of the workspace, found by the database."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from automation.builder.longest import longest
from sms.models import Script
from sms.usage.prices import add_price
from targets.models import Target
from tests.clocks import MovableClock
from tests.people import client_of
from tests.scenario import open_scripted_channel
from workspaces.models import Membership, User, Workspace

pytestmark = pytest.mark.django_db
TODAY = date(2026, 11, 30)


def person(workspace: Workspace, number: int, **fields: object) -> Target:
    return Target.objects.create(workspace=workspace, mobile=f"0912{number:07}", **fields)


def found(workspace: Workspace, owner: User, body: str, **config: object) -> Any:
    open_scripted_channel()
    membership = Membership.objects.get(user=owner, workspace=workspace)
    return longest({"body": body, **config}, workspace=workspace, membership=membership, today=TODAY)


def test_the_person_with_the_longest_values_is_found(
    workspace: Workspace, owner: User, clock: MovableClock
) -> None:
    for number in range(60):
        person(workspace, number, first_name="آوا", traits={"product": "x" * (number % 7)})
    long = person(workspace, 99, first_name="سیدمحمدحسین", traits={"product": "یک کالای بسیار دراز"})

    best = found(workspace, owner, "{target.first_name} عزیز، {target.product|کالا} آماده است")

    assert (best.person, best.shown.text.startswith("سیدمحمدحسین عزیز، یک کالای")) == (long, True)


def test_a_latin_text_is_dearest_for_whoever_has_other_letters(
    workspace: Workspace, owner: User, clock: MovableClock
) -> None:
    person(workspace, 1, first_name="Bartholomew-Alexander")
    persian = person(workspace, 2, first_name="آوا")

    best = found(workspace, owner, "Dear {target.first_name}, " + "your order is ready. " * 5)

    assert best.person == persian
    assert (best.shown.count.parts, best.shown.marked) == (2, True)


def test_the_price_of_the_line_is_told(workspace: Workspace, owner: User, clock: MovableClock) -> None:
    person(workspace, 1, first_name="آوا")
    add_price(
        workspace, line="", script=Script.PERSIAN, rials=Decimal(250), valid_from=date(2026, 1, 1), user=owner
    )

    assert found(workspace, owner, "سلام {target.first_name}" + "!" * 70).rials == 500


@pytest.mark.parametrize(
    ("body", "blank"), [("{target.city} باز است", "skip"), ("", "skip"), ("", "send_blank")]
)
def test_whom_the_text_skips_is_not_the_longest(
    workspace: Workspace, owner: User, clock: MovableClock, body: str, blank: str
) -> None:
    person(workspace, 1, first_name="آوا")

    assert found(workspace, owner, body, on_missing_variable=blank) is None


def test_it_costs_the_same_for_any_number_of_people(
    workspace: Workspace, owner: User, clock: MovableClock
) -> None:
    body = "Dear {target.first_name} of {target.city|Tehran}, {target.code|}"
    counts = []
    for start in (0, 200):
        for number in range(start, start + 30):
            person(workspace, number, first_name="آوا", traits={"code": "1" * (number % 9)})
        open_scripted_channel()
        with CaptureQueriesContext(connection) as queries:
            found(workspace, owner, body)
        counts.append(len(queries))

    assert counts[0] == counts[1] <= 14


def test_the_fragment_shows_it_with_its_parts(workspace: Workspace, owner: User, clock: MovableClock) -> None:
    person(workspace, 1, first_name="آوا")
    english: Client = client_of(owner, language="en")

    shown = english.post(reverse("automation:longest"), {"body": "سلام {target.first_name}"}).content.decode()
    nobody = english.post(reverse("automation:longest"), {"body": "{target.city}"}).content.decode()

    assert "سلام آوا" in shown
    assert "There is no price for it yet." in shown
    assert "Nobody in this workspace would get this text." in nobody
