"""One campaign against a small model of what was promised, through random days of a tiny world.

Beside what happens to single people (`campaign_machine.py`), colleagues publish new versions of the workflow,
close the campaign to new people, and change many at once by jobs that die, come twice or get lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final

import pytest
from django.test import TestCase
from hypothesis import Phase
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule, run_state_machine_as_test

from automation import publishing
from automation.builder import drafts
from automation.control_moves import Operation
from automation.models import WorkflowExecution, WorkflowVersion
from automation.publish_contract import CampaignFate, Fate, contract_of
from automation.runtime.tick import run_tick
from campaigns import actions as campaign_actions
from campaigns import changing, jobs
from campaigns.details import CampaignDetails
from campaigns.enrollment import batches, committer
from campaigns.models import CampaignJob, EnrollmentBatch, JobStatus
from campaigns.people import PeopleFilter
from core.errors import Refused
from core.queue import Payload
from engine.types import Definition
from targets.models import Target
from targets.queries import Visibility
from tests.automation.runtime.campaign_machine import CampaignMachine
from tests.automation.runtime.promises import Person
from workspaces.models import AuditRecord

# Shrinking a day of a campaign takes minutes; the failing day itself is printed step by step.
HOW_MUCH: Final = hypothesis_settings(
    max_examples=16, stateful_step_count=30, deadline=None, derandomize=True, phases=[Phase.generate],
    report_multiple_bugs=False,
)  # fmt: skip
Op = Operation
# Everybody at once, and whom the filter over the campaign's people shows.
ORDERS: Final = st.sampled_from(
    [
        (Op.PAUSE, ""), (Op.PAUSE, "waiting"), (Op.PAUSE, "active"), (Op.RESUME, ""), (Op.RESUME, "held"),
        (Op.RESUME, "paused"), (Op.RESTART, ""), (Op.RETRY_STEP, "failed"), (Op.REMOVE, "held"),
    ]
)  # fmt: skip
EDITS: Final = st.sampled_from(["other texts", "one message less", "a limit of its own"])


@dataclass(slots=True)
class Order:
    """One job for many: who was there when it was asked for, and with whom it did something."""

    operation: Operation
    last: int
    touched: set[int] = field(default_factory=set)
    cancelled: bool = False


class CrowdMachine(CampaignMachine):
    """What colleagues do with the workflow, the door and everybody at once, among all the rest."""

    def __init__(self) -> None:
        super().__init__()
        self.draft: WorkflowVersion | None = None
        self.reviewed: list[tuple[Target, int]] = []
        self.orders: dict[int, Order] = {}
        self.numbers = 1

    # -- new versions ---------------------------------------------------------------------------

    @precondition(lambda self: self.draft is None and self.numbers < 4)
    @rule(edit=EDITS, at_once=st.booleans())
    def somebody_draws_a_new_version(self, edit: str, at_once: bool) -> None:
        workflow = self.scenario.version.workflow
        draft = publishing.new_draft(workflow, None)
        changed = _edited(publishing.load_definition(draft), edit)
        self.draft = drafts.save_definition(workflow, draft, base=None, definition=changed, user=None)
        if at_once:
            self.the_new_version_is_published()

    @precondition(lambda self: self.draft is not None)
    @rule()
    def the_new_version_is_published(self) -> None:
        """Nobody inside is moved, and whoever comes late gets the campaign's own version too."""
        assert self.draft is not None
        workflow = self.draft.workflow
        workflow.refresh_from_db()
        contract = contract_of(workflow, self.draft, "Asia/Tehran")
        mine = [line for line in contract.campaigns if line.campaign_id == self.scenario.campaign.pk]
        self._is_the_contract_true(mine[0] if mine else None)
        before = list(WorkflowExecution.objects.order_by("pk").values())
        publishing.publish(workflow, user=None)
        assert list(WorkflowExecution.objects.order_by("pk").values()) == before
        fresh = campaign_actions.create_campaign(
            workflow_id=workflow.pk, details=CampaignDetails(name="تازه"), user=None
        )
        assert fresh.workflow_version_id == self.draft.pk
        self.draft, self.numbers = None, self.numbers + 1

    def _is_the_contract_true(self, line: CampaignFate | None) -> None:
        everybody = self.model.everybody()
        if line is None:  # over, and nobody is left inside
            assert self.model.cancelled
            return
        assert (line.fate, line.version_number) == (Fate.PINNED, 1)
        assert line.people <= sum(not person.over for person in everybody)
        assert self.model.cancelled or line.people >= sum(person.is_surely_inside for person in everybody)

    @invariant()
    def one_version_is_published_and_none_forgotten(self) -> None:
        numbers = WorkflowVersion.objects.order_by("version_number").values_list("status", flat=True)
        drawn = ["draft"] if self.draft else []
        assert list(numbers) == ["superseded"] * (self.numbers - 1) + ["published", *drawn]

    # -- the door -------------------------------------------------------------------------------

    @rule()
    def close_or_open_the_door(self) -> None:
        if self.model.cancelled:
            with pytest.raises(Refused) as refused:
                self._set_the_door(is_open=not self.model.intake)
            assert refused.value.code == "campaign_over"
            return
        self.model.intake = not self.model.intake
        self._set_the_door(is_open=self.model.intake)

    def _set_the_door(self, *, is_open: bool) -> None:
        campaign_actions.set_intake(self.scenario.campaign.pk, is_open=is_open, user=None)

    @precondition(lambda self: len(self.scenario.targets) + len(self.reviewed) < 3)
    @rule(at_once=st.booleans())
    def somebody_new_is_chosen(self, at_once: bool) -> None:
        number = f"0914{Target.objects.count():07d}"
        target = Target.objects.create(
            workspace_id=self.scenario.campaign.workspace_id, first_name="دیرآمده", mobile=number
        )
        with self._turned_away() as turned_away:
            batch = batches.create(self._campaign(), [target.pk], user=None)
        if not turned_away:
            self.reviewed.append((target, batch.pk))
            if at_once:
                self.the_choice_is_confirmed()

    @precondition(lambda self: self.reviewed)
    @rule()
    def the_choice_is_confirmed(self) -> None:
        target, batch_id = self.reviewed.pop()
        batch = EnrollmentBatch.objects.select_related("campaign").get(pk=batch_id)
        with self._turned_away() as turned_away:
            committer.commit(batch, user=None)
        if turned_away:  # what was chosen stays chosen
            self.reviewed.append((target, batch_id))
        else:
            self.scenario.targets.append(target)
            self.model.people[target.mobile] = Person(target.mobile)

    @contextmanager
    def _turned_away(self) -> Iterator[list[str]]:
        """Newcomers are refused exactly when they must be; the code of the refusal is in the list then."""
        codes: list[str] = []
        try:
            yield codes
        except Refused as refused:
            codes.append(refused.code)
        assert codes == [code for code in [self.model.refuses_newcomers] if code]

    def _campaign(self) -> Any:
        self.scenario.campaign.refresh_from_db()
        return self.scenario.campaign

    # -- everybody at once ----------------------------------------------------------------------

    @precondition(lambda self: len(self.orders) < 5)
    @rule(order=ORDERS)
    def ask_for_everybody(self, order: tuple[Operation, str]) -> None:
        operation, status = order
        campaign = self._campaign()
        shown = PeopleFilter({"status": status}, campaign=campaign)
        last = WorkflowExecution.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
        with TestCase.captureOnCommitCallbacks(execute=True):
            job = changing.change_all(campaign, shown, operation, Visibility.everyone(), user=None)
        self.orders[job.pk] = Order(operation, last)

    @precondition(lambda self: self.orders)
    @rule()
    def the_newest_job_is_stopped(self) -> None:
        pk, order = max(self.orders.items())
        job = jobs.job_for(pk)
        if job.status == JobStatus.WORKING:
            jobs.cancel(job)
            order.cancelled = True
        else:
            with pytest.raises(Refused) as refused:
                jobs.cancel(job)
            assert refused.value.code == "job_over"

    def _work(self, message: tuple[str, Payload], mode: str, *, dies_at: str = "") -> None:
        if message[0] != jobs.TASK:
            super()._work(message, mode, dies_at=dies_at)
            return
        before = self._revisions()
        super()._work(message, mode, dies_at="job_part" if dies_at else "")
        after = self._revisions()
        self._note_changes(message[1]["job_id"], {pk for pk in after if after[pk] != before[pk]})

    def _revisions(self) -> dict[int, int]:
        return dict(WorkflowExecution.objects.values_list("pk", "revision"))

    def _note_changes(self, job_id: int, changed: set[int]) -> None:
        """One part is one person: nobody twice, nobody who came later, nobody after it was stopped."""
        order = self.orders[job_id]
        assert len(changed) <= 1
        assert not changed & order.touched
        assert all(pk <= order.last for pk in changed)
        assert not (changed and order.cancelled)
        order.touched |= changed
        for pk in changed:
            subject = WorkflowExecution.objects.values_list("subject_id", flat=True).get(pk=pk)
            (target,) = [target for target in self.scenario.targets if target.pk == subject]
            self.model.people[target.mobile].is_changed(order.operation)

    # -- the end --------------------------------------------------------------------------------

    def _heal_and_finish(self) -> None:
        self._finish_the_jobs()
        super()._heal_and_finish()

    def _finish_the_jobs(self) -> None:
        """Whatever happened to their workers and messages, the tick has somebody go on with each."""
        for _ in range(40):
            while self.queue.waiting:
                self._work(self.queue.waiting.pop(0), "accept")
            if not CampaignJob.objects.filter(status=JobStatus.WORKING).exists():
                break
            self.clock.advance(minutes=3)
            run_tick()
        for job in CampaignJob.objects.all():
            order = self.orders[job.pk]
            assert job.status == (JobStatus.CANCELLED if order.cancelled else JobStatus.DONE), job.error
            assert job.counts.get(changing.CHANGED, 0) == len(order.touched)
            assert sum(job.counts.values()) == job.done
        lines = AuditRecord.objects.filter(new__has_key="unchanged_people")
        assert lines.count() == len(self.orders)


def _edited(old: Definition, edit: str) -> Definition:
    if edit == "a limit of its own":
        return replace(old, settings={**old.settings, "daily_limit": 1})
    nodes = tuple(
        replace(node, config={**node.config, "body": "متنِ دیگر"}) if node.config.get("body") else node
        for node in old.nodes
    )
    sends = [node.key for node in nodes if node.config.get("body")]
    if edit == "other texts" or len(sends) == 1:
        return replace(old, nodes=nodes)
    gone = sends[-1]
    after = next(edge.target for edge in old.edges if edge.source == gone)
    edges = tuple(
        replace(edge, target=after if edge.target == gone else edge.target)
        for edge in old.edges
        if edge.source != gone
    )
    return replace(old, nodes=tuple(node for node in nodes if node.key != gone), edges=edges)


@pytest.fixture
def _one_person_at_a_time(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.CHUNK_SIZE, settings.QUEUE, settings.LEASE_SECONDS = 1, "inline", 300
    monkeypatch.setattr(changing, "PART", 1)
    monkeypatch.setattr(jobs, "TASK_SECONDS", 0.0)  # each part is a message of its own


@pytest.mark.django_db
@pytest.mark.usefixtures("_one_person_at_a_time")
def test_a_campaign_keeps_its_promises_whatever_happens():
    run_state_machine_as_test(CrowdMachine, settings=HOW_MUCH)


@pytest.mark.soak
@pytest.mark.django_db
@pytest.mark.usefixtures("_one_person_at_a_time")
def test_a_campaign_keeps_its_promises_for_many_days():
    longer = hypothesis_settings(HOW_MUCH, max_examples=600, stateful_step_count=50, derandomize=False)
    run_state_machine_as_test(CrowdMachine, settings=longer)
