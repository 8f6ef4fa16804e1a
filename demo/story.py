"""The story itself: a messy spreadsheet becomes a campaign, and the campaign runs to its end."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from zoneinfo import ZoneInfo

from django.core.files.base import File
from django.db.models import Count, QuerySet

from automation.catalogue import default_window
from automation.models import WorkflowExecution
from blacklist.actions import add as blacklist
from blacklist.models import Source
from campaigns import actions as campaigns
from campaigns.details import CampaignDetails
from campaigns.enrollment import batches, committer, selection
from campaigns.models import BatchStatus, Campaign, EnrollmentBatch
from core import clock
from core.tenancy import workspace_scope
from demo import people, proof, witness
from demo.cast import Cast
from demo.clockwork import Clockwork, Stuck, live_people
from demo.ledger import Ledger
from demo.show import Screen
from script import processes
from sms import delivery
from sms.models import SmsLog
from targets.actions import create_list
from targets.importing import jobs
from targets.models import ImportJob, ImportStatus
from targets.queries import Visibility

ZONE = ZoneInfo("Asia/Tehran")
BLOCKED_BEFORE = (3, 58, 120, 233, 301)  # people on the blacklist before anybody is enrolled
BLOCKED_LATER = (12, 95, 140, 260)  # people who say no after the first day
POLL_AT_ONCE, POLL_SECONDS = 500, 120.0
POSITIONS = ("sheet_rows", "last_row")  # what an import counts for itself
MARGIN = timedelta(days=7)


@dataclass(slots=True)
class Outcome:
    """What the story came to."""

    imported: Mapping[str, int]
    enrolled: Mapping[str, int]
    days: Sequence[Mapping[str, Any]]
    walks: Mapping[str, int]
    messages: Mapping[str, int]
    checks: Sequence[proof.Check]
    recorded: int
    busiest_day: int
    first: datetime
    last: datetime
    seconds: float

    @property
    def holds(self) -> bool:
        """Whether every promise was kept."""
        return proof.holds(self.checks)

    def as_json(self) -> str:
        """Everything, for `--json`."""
        return json.dumps(
            {
                "holds": self.holds,
                "imported": self.imported,
                "enrolled": self.enrolled,
                "days": self.days,
                "ended_as": self.walks,
                "messages": self.messages,
                "recorded_by_the_provider": self.recorded,
                "busiest_day": self.busiest_day,
                "from": self.first.isoformat(),
                "to": self.last.isoformat(),
                "seconds": round(self.seconds, 1),
                "proof": proof.as_data(self.checks),
            },
            ensure_ascii=False,
            indent=1,
        )


def faults(seed: int) -> dict[str, Any]:
    """How the simulated provider behaves: a few of every trouble, the same ones every time."""
    never = [people.mobile_number(index) for index in (30, 77, 199)]
    return {
        "seed": seed,
        "latency_ms": [2, 12],
        "rules": [
            {"do": "code", "code": "6", "when": {"to": never}},  # until the tries are used up
            {"do": "code", "code": "35", "when": {"to": people.mobile_number(88)}},
            {"do": "code", "code": "6", "when": {"attempt": 1}, "share": 0.04},
            {"do": "http", "status": 503, "when": {"attempt": 1}, "share": 0.02},
            {"do": "close", "accept": True, "share": 0.006},  # accepted, the answer lost
            {"do": "close", "accept": False, "share": 0.004},
        ],
        "delivery": {
            "after_s": [15, 90],
            "shares": {"delivered": 0.94, "undelivered": 0.03, "operator_error": 0.02, "blacklist": 0.01},
        },
    }


def default_cap(rows: int) -> int:
    """How many messages a day: a hundred, and a tenth of a larger crowd, or it would take years."""
    return max(100, rows // 1000 * 100)


def starting_moment(now: datetime, rows: int, cap: int) -> datetime:
    """A Saturday morning so far back that the story ends before `now`: afterwards time is real again."""
    days_of_sending = rows / cap * 7 / 5.5
    length = max(timedelta(days=60 + days_of_sending), timedelta(days=3 * days_of_sending)) * 1.1 + MARGIN
    day = (now - length).astimezone(ZONE).date()
    day -= timedelta(days=(day.weekday() - 5) % 7)
    return datetime(day.year, day.month, day.day, 8, 30, tzinfo=ZONE)


@dataclass(slots=True)
class Teller:
    """Tells the story on a stage that is built: the worker and the simulator run, the clock file is set."""

    cast: Cast
    clockwork: Clockwork
    screen: Screen
    file: Path
    record: Path
    rows: int
    cap: int
    blocked: dict[str, datetime] = field(default_factory=dict)

    def tell(self) -> Outcome:
        """From the spreadsheet to the proof. Raises Stuck when something does not move."""
        began = monotonic()
        with workspace_scope(self.cast.workspace.pk):
            imported, list_id = self._import()
            campaign = self._campaign(list_id)
            self._block(BLOCKED_BEFORE)
            enrolled = self._enrol(campaign, list_id)
            campaigns.activate(campaign.pk, user=self.cast.owner)
            ledger = self._run(campaign, enrolled["added"])
            checks = self._prove(campaign)
            return self._outcome(campaign, imported, enrolled, ledger, checks, monotonic() - began)

    def _import(self) -> tuple[Mapping[str, int], int]:
        """The spreadsheet, the way the import page does it: what became of its rows, and their list."""
        owner = self.cast.owner
        people_list = create_list("مشتریان فروشگاه", user=owner)
        with self.file.open("rb") as upload:
            job = jobs.store_upload(File(upload, name=self.file.name), user=owner)
        jobs.start(job, mapping=job.mapping, target_list=people_list, user=owner)
        jobs.run(job)
        if not processes.wait_until(lambda: not _is_running(job), seconds=300):
            raise Stuck("The worker did not finish the import; see its log.")
        job.refresh_from_db()
        if job.status != ImportStatus.DONE:
            raise Stuck(f"The import of {self.file.name} failed: {job.error}.")
        counts = {name: int(count) for name, count in job.counts.items() if name not in POSITIONS}
        self.screen.say(f"import of {self.file.name}: {_in_words(counts)}")
        return counts, people_list.pk

    def _campaign(self, list_id: int) -> Campaign:
        details = CampaignDetails(
            name="آشنایی با مشتریان", daily_limit=self.cap, send_window=default_window()
        )
        return campaigns.create_campaign(
            workflow_id=self.cast.workflow_id, details=details, user=self.cast.owner, source_list_id=list_id
        )

    def _block(self, indexes: Sequence[int]) -> bool:
        """Put people on the blacklist, at this moment of the story; True."""
        numbers = [people.mobile_number(index) for index in indexes if index < self.rows]
        blacklist(
            workspace_id=self.cast.workspace.pk, channel="sms", values=numbers, source=Source.MANUAL,
            reason="opt_out", user=self.cast.owner,
        )  # fmt: skip
        self.blocked |= dict.fromkeys(numbers, clock.now())
        return True

    def _enrol(self, campaign: Campaign, list_id: int) -> Mapping[str, int]:
        ids = selection.on_list(list_id, Visibility.everyone())
        batch = batches.create(campaign, ids, user=self.cast.owner)
        self.screen.say(f"review: {_in_words(batch.counts)}")
        if not committer.commit(batch, user=self.cast.owner):
            done = processes.wait_until(lambda: _status(batch) != BatchStatus.COMMITTING, seconds=300)
            if not done or _status(batch) != BatchStatus.COMMITTED:
                raise Stuck("The worker did not add the people to the campaign; see its log.")
        batch.refresh_from_db()
        added = int(batch.counts["added"])
        return {"selected": len(ids), "added": added, "left_out": len(ids) - added}

    def _run(self, campaign: Campaign, enrolled: int) -> Ledger:
        """Round after round, until nobody is on the way and no report is outstanding."""
        ledger = Ledger(campaign.pk, ZONE)
        until = clock.now() + timedelta(days=3650)
        said_no = False
        self.screen.header()
        while True:
            closed = ledger.add(self.clockwork.round())
            if closed:
                self.screen.day(closed)
            if ledger.days and not said_no:
                said_no = self._block(BLOCKED_LATER)
            live = live_people(campaign.pk)
            self.screen.bar(enrolled - live, enrolled, self.clockwork.now.astimezone(ZONE).date())
            if self.clockwork.now > until:
                raise Stuck("The story has run for ten years of its own time and has not ended.")
            if not self.clockwork.advance():
                break
        closed = ledger.close()
        if closed:
            self.screen.day(closed)
        self.screen.total(ledger.days)
        return ledger

    def _prove(self, campaign: Campaign) -> list[proof.Check]:
        found = witness.evidence(self.cast, campaign.pk, self.record, self.blocked)
        return proof.prove(found, witness.rules(self.cast, cap=self.cap))

    def _outcome(
        self, campaign: Campaign, imported: Mapping[str, int], enrolled: Mapping[str, int], ledger: Ledger,
        checks: list[proof.Check], seconds: float,
    ) -> Outcome:  # fmt: skip
        seen = witness.record(self.record)
        moments = [one.at for one in seen] or [clock.now()]
        return Outcome(
            imported=imported,
            enrolled=enrolled,
            days=[day.as_data() for day in ledger.days],
            walks=_by_status(WorkflowExecution.objects.filter(campaign_id=campaign.pk)),
            messages=_by_status(SmsLog.objects.filter(campaign_id=campaign.pk)),
            checks=checks,
            recorded=len(seen),
            busiest_day=proof.busiest_day(seen, ZONE),
            first=min(moments),
            last=max(moments),
            seconds=seconds,
        )


def poll() -> int:
    """Fetch every delivery report that is due; how many messages the provider was asked about here.

    The tick asks the worker for the same. Whoever comes first does it; the other waits or finds nothing.
    """
    asked = 0
    give_up = monotonic() + POLL_SECONDS
    while monotonic() < give_up:
        report = delivery.poll_due(clock.now(), limit=POLL_AT_ONCE)
        asked += report.asked
        if report.busy:
            sleep(0.02)
        elif report.asked < POLL_AT_ONCE:
            return asked
    raise Stuck("Delivery reports could not be fetched in time; see the worker's log.")


def _is_running(job: ImportJob) -> bool:
    return ImportJob.objects.filter(pk=job.pk, status=ImportStatus.RUNNING).exists()


def _status(batch: EnrollmentBatch) -> str:
    return EnrollmentBatch.objects.values_list("status", flat=True).get(pk=batch.pk)


def _by_status(rows: QuerySet[Any]) -> dict[str, int]:
    return dict(rows.order_by("status").values_list("status").annotate(Count("pk")))


def _in_words(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items()) if count)
