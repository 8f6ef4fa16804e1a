"""What a campaign's page counts from its history and messages, at the visit or kept for a large campaign."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from automation.models import WorkflowExecution, WorkflowNode
from automation.runtime.tick import run_tick
from campaigns import actions, figures, kept_figures
from campaigns.figures import Figures
from campaigns.funnel import arms_of
from campaigns.models import Campaign, CampaignFigures
from campaigns.send_charts import charts_of
from core.charts import bars
from core.heartbeat import beat
from core.models import Heartbeat
from sms.models import ProviderAccount, SmsLog
from targets.queries import Visibility
from tests.campaigns import builders
from tests.campaigns.reading import statements, text_of, url
from tests.clocks import MovableClock
from tests.factories import make
from tests.plans import plan_by
from workspaces.models import Membership, User, Workspace

pytestmark = pytest.mark.usefixtures("workspace", "clock")
TEHRAN = "Asia/Tehran"
SATURDAY = {"days": {"sat": [["09:00", "10:00"]]}}


def messages(campaign: Campaign, workspace: Workspace, *rows: dict[str, Any]) -> None:
    for row in rows:
        make(SmsLog, workspace, **{"campaign_id": campaign.pk, "status": "delivered", **row})


def counted(campaign: Campaign, clock: MovableClock) -> Figures:
    return figures.count(campaign, Visibility.everyone(), TEHRAN, clock.now())


# -- counting -----------------------------------------------------------------------------------------


def test_sends_are_counted_by_the_hours_of_the_workspace(workspace: Workspace, clock: MovableClock) -> None:
    campaign, now = builders.running(), clock.now()  # nine in the morning in Tehran
    messages(
        campaign, workspace, {"request_at": now}, {"request_at": now - timedelta(hours=10)},
        {"request_at": now, "status": "failed"}, {"request_at": now, "status": "skipped"},
        {"request_at": now - timedelta(days=30)},
    )  # fmt: skip
    found = counted(campaign, clock)
    assert found.hours == {"2026-11-30T09": [1, 1], "2026-11-29T23": [1, 0]}
    charts = charts_of(found.hours, TEHRAN, now)
    assert [bar.total for bar in charts.days.bars][-2:] == [1, 2]
    assert [bar.name for bar in charts.hours.bars if bar.total] in (["09:00"], ["۰۹:۰۰"])


def test_delivery_is_counted_by_operator(workspace: Workspace, clock: MovableClock) -> None:
    campaign = builders.running()
    messages(
        campaign, workspace, {"phone_number": "09121111111"}, {"phone_number": "09351111111"},
        {"phone_number": "09129999999", "status": "failed"},
    )  # fmt: skip
    assert counted(campaign, clock).operators == {
        "mci": {"delivered": 1, "failed": 1},
        "irancell": {"delivered": 1},
    }


def test_figures_are_kept_as_they_were_counted(workspace: Workspace, clock: MovableClock) -> None:
    campaign = builders.running()
    builders.enrol(campaign, builders.people(2))
    messages(campaign, workspace, {"request_at": clock.now(), "status": "failed", "error_code": "6"})
    WorkflowExecution.objects.update(variant="ب", is_holdout=False)
    found = counted(campaign, clock)
    assert Figures.from_json(found.to_json()) == found


def test_every_step_tells_what_became_of_those_who_came(web: Client, clock: MovableClock) -> None:
    campaign = builders.running()
    builders.enrol(campaign, builders.people(3))
    run_tick()
    clock.advance(minutes=2)
    run_tick()
    page = web.get(url("live", campaign.pk)).content.decode().partition("table-cards funnel")[2]
    rows = re.findall(r'<th scope="row">(.*?)</tr>', page, re.S)
    cells = [re.sub(r"<[^>]*>|\s", "", cell) for cell in re.findall(r"<td.*?</td>", rows[0], re.S)]
    entered, _share, waiting, active, held, failed, ended, went_on, _suppressed = cells
    assert int(entered) == 3
    assert int(entered) == sum(map(int, (waiting, active, held, failed, ended, went_on)))


def test_the_branches_of_a_split_are_held_against_the_held_out_group(clock: MovableClock) -> None:
    campaign = builders.running()
    builders.enrol(campaign, builders.people(8))
    ended = {"active_key": None, "completed_at": clock.now(), "status": "completed"}
    ids = list(WorkflowExecution.objects.order_by("pk").values_list("pk", flat=True))
    WorkflowExecution.objects.filter(pk__in=ids[:4]).update(variant="branch_1")
    WorkflowExecution.objects.filter(pk__in=ids[4:]).update(is_holdout=True)
    goal = {**ended, "end_reason": "goal_reached"}
    WorkflowExecution.objects.filter(pk__in=[*ids[:3], ids[4]]).update(**goal)
    first, held_out = arms_of(counted(campaign, clock).arms)
    assert (first.reached, first.lift, held_out.lift) == (0.75, 0.5, None)


# -- the page -----------------------------------------------------------------------------------------


def test_reasons_lead_to_the_people_behind_them(
    web: Client, clock: MovableClock, workspace: Workspace
) -> None:
    campaign = builders.running()
    ids = builders.people(3)
    builders.enrol(campaign, ids)
    WorkflowExecution.objects.filter(subject_id=ids[0]).update(
        status="failed", active_key=None, completed_at=clock.now(), end_reason="poison"
    )
    walk = builders.execution_of(campaign, ids[1])
    messages(
        campaign, workspace, {"status": "undelivered", "error_code": "filtered", "execution_id": walk.pk}
    )
    page = web.get(url("live", campaign.pk)).content.decode()
    for query in ("status=failed&amp;reason=poison", "code=filtered"):
        assert f"?{query}" in page
        people = web.get(f"{url('people', campaign.pk)}?{query.replace('&amp;', '&')}").content.decode()
        assert len(re.findall(r"<bdi>نفر\d+</bdi>", people)) == 1


def test_everybody_found_is_only_who_the_filter_shows(web: Client, clock: MovableClock) -> None:
    campaign = builders.running()
    builders.enrol(campaign, builders.people(3))
    node = WorkflowNode.objects.filter(version_id=campaign.workflow_version_id, type="end").get()
    WorkflowExecution.objects.filter(pk=WorkflowExecution.objects.latest("pk").pk).update(current_node=node)
    data = {"scope": "all", "operation": "pause", "step": node.pk}
    web.post(url("people-change", campaign.pk), data)
    assert builders.statuses(campaign) == {"active": 2, "paused": 1}
    web.post(url("people-change", campaign.pk), {**data, "step": "999999999"})
    assert builders.statuses(campaign) == {"active": 2, "paused": 1}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda c: actions.pause(c.pk, user=None), "Frozen"),
        (lambda c: Campaign.objects.update(daily_limit=0), "Today's limit is used up"),
        (lambda c: ProviderAccount.objects.update(paused_until="2026-11-30T10:00Z"), "channel is closed"),
        (lambda c: Campaign.objects.update(send_window=SATURDAY), "sending hours"),
        (lambda c: Heartbeat.objects.all().delete(), "The scheduler is not running"),
        (lambda c: None, "Sending now"),
    ],
    ids=["paused", "limit", "channel", "hours", "no scheduler", "running"],
)  # fmt: skip
def test_one_sentence_says_what_the_campaign_does(
    web: Client, change: Callable[[Campaign], Any], words: str
) -> None:
    beat("tick")
    campaign = builders.running()
    builders.enrol(campaign, builders.people(1))
    change(campaign)
    page = web.get(url("live", campaign.pk)).content.decode().replace("&#x27;", "'")
    assert re.search(rf'id="now-title"[^>]*>[^<]*{words}', page)


# -- large campaigns ----------------------------------------------------------------------------------


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> Campaign:
    """A campaign that counts as large."""
    monkeypatch.setattr(kept_figures, "SMALL", 2)
    campaign = builders.running()
    builders.enrol(campaign, builders.people(5))
    return campaign


def test_a_large_campaign_is_counted_once_in_half_a_minute(
    web: Client, large: Campaign, clock: MovableClock
) -> None:
    assert "Counted on" in text_of(web.get(url("live", large.pk)))
    first = CampaignFigures.objects.get()
    clock.advance(seconds=29)
    web.get(url("live", large.pk))
    assert CampaignFigures.objects.get().counted_at == first.counted_at
    clock.advance(seconds=1)
    web.get(url("live", large.pk))
    assert CampaignFigures.objects.get().counted_at == clock.now()


def test_while_a_count_is_on_its_way_the_old_one_is_shown(
    web: Client, large: Campaign, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    web.get(url("live", large.pk))
    asked: list[str] = []
    monkeypatch.setattr(kept_figures, "enqueue", lambda name, payload: asked.append(name))
    clock.advance(minutes=5)
    for _ in range(3):
        assert "Counted on 30 Nov 2026, 09:00" in text_of(web.get(url("live", large.pk)))
    assert asked == [kept_figures.TASK]


def test_a_first_count_that_is_not_there_yet_is_announced(
    web: Client, large: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_figures, "enqueue", lambda name, payload: None)
    page = web.get(url("live", large.pk))
    assert "are being counted and appear here shortly" in text_of(page)


def test_a_queue_that_is_away_takes_no_page_away(
    web: Client, large: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(_name: str, _payload: object) -> None:
        raise ConnectionError

    monkeypatch.setattr(kept_figures, "enqueue", away)
    assert web.get(url("live", large.pk)).status_code == 200


def test_somebody_with_own_people_has_figures_of_their_own(
    large: Campaign, seller: User, client_of: Callable[..., Client], web: Client
) -> None:
    builders.enrol(large, builders.people(4, owner=seller))
    web.get(url("live", large.pk))
    page = client_of(seller, language="en").get(url("live", large.pk)).content.decode()
    assert CampaignFigures.objects.count() == 2
    row = CampaignFigures.objects.get(viewer=seller)
    assert sum(number for _node, number in row.data["entered"]) == 0
    assert 'id="card-total"' in page


def test_a_member_who_may_see_more_meanwhile_keeps_no_wider_figures_as_their_own(
    large: Campaign, seller: User, workspace: Workspace, clock: MovableClock
) -> None:
    """Back in the old role they would read what was counted over everybody."""
    member = Membership.objects.get(user=seller)
    row = make(CampaignFigures, workspace, campaign=large, viewer=seller, asked_at=clock.now())
    Membership.objects.filter(pk=member.pk).update(role="owner")
    kept_figures.run_task({"workspace": workspace.pk, "figures": row.pk, "membership": member.pk})
    row.refresh_from_db()
    assert row.counted_at is None


def test_a_large_page_costs_less_than_a_small_one(web: Client, large: Campaign) -> None:
    cost = statements(web, url("live", large.pk))
    builders.enrol(large, builders.people(20))
    assert statements(web, url("live", large.pk)) == cost <= 22


@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="plans are PostgreSQL's")
def test_people_and_messages_are_counted_from_the_index_alone(web: Client, large: Campaign) -> None:
    web.get(url("live", large.pk))  # the figures are kept from here on
    with CaptureQueriesContext(connection) as seen:
        web.get(url("live", large.pk))
    counts = [query["sql"] for query in seen if "GROUP BY" in query["sql"]]
    assert len(counts) == 2  # people and messages, and nothing else is counted at each look
    people, messages = counts
    assert "Index Only Scan using execution_counted" in plan_by(
        "execution_counted", WorkflowExecution, people
    )
    assert "Index Only Scan using sms_counted" in plan_by("sms_counted", SmsLog, messages)


# -- charts -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("most", "top"), [(0, 4), (3, 4), (5, 8), (9, 20), (41, 80), (81, 200), (1999, 2000)]
)
def test_the_scale_of_a_chart_ends_at_a_round_number(most: int, top: int) -> None:
    assert bars(["a"], [("x", [most])]).scale[-1][1] == top


def test_a_chart_names_its_highest_bar_and_leaves_nothing_out() -> None:
    chart = bars(["a", "b"], [("one", [1, 0]), ("two", [500, 500])], label_every=2)
    assert chart.total == 1001
    assert chart.most is not None
    assert chart.most.name == "two"
    assert chart.bars[0].parts[0].height >= 1.5
    assert [bar.labelled for bar in chart.bars] == [True, False]


def test_the_numbers_of_the_page_can_be_taken_into_a_spreadsheet(
    web: Client, clock: MovableClock, workspace: Workspace
) -> None:
    campaign = builders.running()
    builders.enrol(campaign, builders.people(3))
    messages(
        campaign,
        workspace,
        {"request_at": clock.now(), "phone_number": "09121111111"},
        {"request_at": clock.now(), "phone_number": "09351111111", "status": "failed", "error_code": "6"},
    )
    for kind in ("csv", "xlsx"):
        assert reverse("campaigns:numbers-export", args=[campaign.pk, kind]) in (
            web.get(url("detail", campaign.pk)).content.decode()
        )
    answer = b"".join(web.get(url("numbers-export", campaign.pk, "csv")))
    rows = list(csv.reader(io.StringIO(answer.decode("utf-8-sig"))))
    assert rows[0] == ["Table", "Row", "Figure", "Value"]
    found = {(table, row, name): value for table, row, name, value in rows[1:]}
    assert found["People", "Ready", "People"] == "3"
    assert found["Today by hour", "09:00", "Not taken"] == "1"
    assert found["Delivery by operator", "Hamrah-e Aval", "Delivered"] == "1"
    assert [key for key in found if key[0] == "Why messages did not arrive"]
    assert sum(int(value) for (table, _row, name), value in found.items() if name == "Came in") == 3


def test_what_was_never_counted_is_not_handed_out(
    web: Client, monkeypatch: pytest.MonkeyPatch, clock: MovableClock
) -> None:
    campaign = builders.running()
    builders.enrol(campaign, builders.people(2))
    monkeypatch.setattr(kept_figures, "SMALL", 1)
    monkeypatch.setattr(kept_figures, "enqueue", lambda *_args: None)
    assert web.get(url("numbers-export", campaign.pk, "csv")).status_code == 503
