from __future__ import annotations

from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from campaigns import estimate as estimating
from campaigns.estimate import estimate
from core import clock as core_clock
from sms.models import ProviderAccount, SmsPrice
from targets.models import Target
from tests.clocks import MovableClock
from tests.people import client_of
from tests.scenario import Scenario, send, wait
from workspaces.models import User, Workspace

pytestmark = pytest.mark.django_db
TEXT = "سلام {target.first_name}، خبر تازه"


@pytest.fixture(autouse=True)
def _ready(workspace: Workspace, clock: MovableClock) -> None:
    """Every test has a workspace and a clock that stands still."""


def priced(workspace: Workspace, rials: int = 100, *, line: str = "") -> None:
    SmsPrice.objects.create(
        workspace=workspace, line=line, script="ucs2", rials=rials, valid_from=core_clock.now().date()
    )


def test_every_text_is_rendered_for_the_people_of_the_campaign(workspace: Workspace) -> None:
    priced(workspace)
    scenario = Scenario(send(TEXT), wait(1), send("دو"), people=3)
    Target.objects.filter(pk=scenario.targets[1].pk).update(first_name="ن" * 80)

    found = estimate(scenario.campaign, core_clock.now())

    first, second = found.steps
    assert (first.texts, first.parts, first.most_parts) == (3, 4, 2)
    assert "ن" * 80 in first.longest
    assert (first.rials, second.rials, found.rials) == (Decimal(400), Decimal(300), Decimal(700))


def test_people_who_would_be_skipped_cost_nothing(workspace: Workspace) -> None:
    scenario = Scenario(send("{target.city}"), people=2)
    Target.objects.filter(pk=scenario.targets[0].pk).update(city="یزد")

    [step] = estimate(scenario.campaign, core_clock.now()).steps

    assert (step.texts, step.skipped, step.parts) == (1, 1, 1)


def test_without_a_price_nothing_is_guessed() -> None:
    assert estimate(Scenario(send()).campaign, core_clock.now()).rials is None


def test_a_service_message_is_priced_by_the_line_it_prefers(workspace: Workspace) -> None:
    scenario = Scenario(send("کد شما آماده است", message_kind="service"))
    ProviderAccount.objects.update(lines=["50001", "30001"], line_details={"30001": {"kind": "service"}})
    priced(workspace)
    priced(workspace, 70, line="30001")

    assert estimate(scenario.campaign, core_clock.now()).rials == Decimal(70)


def test_a_large_audience_is_scaled_from_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimating, "MOST_PEOPLE", 4)
    found = estimate(Scenario(send("خبر"), people=10).campaign, core_clock.now())

    assert (found.people, found.sampled, found.parts, found.is_sample) == (10, 4, 10, True)


def test_the_number_of_queries_does_not_grow_with_the_people() -> None:
    counts = []
    for people in (3, 3, 40):
        campaign = Scenario(send(TEXT), people=people).campaign
        with CaptureQueriesContext(connection) as queries:
            estimate(campaign, core_clock.now())
        counts.append(len(queries))

    assert counts[1] == counts[2]


@pytest.mark.parametrize("people", [0, 2])
def test_the_page_shows_it(owner: User, people: int) -> None:
    scenario = Scenario(send(TEXT), people=people)

    page = client_of(owner, language="en").get(f"/automation/campaigns/{scenario.campaign.pk}/estimate")

    assert page.status_code == 200
    assert ("The longest text" in page.content.decode()) == bool(people)
    assert ("Nothing to estimate yet" in page.content.decode()) == (not people)
