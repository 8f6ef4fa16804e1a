"""Everything users, time, the broker and death can do to one campaign, but for what concerns many at once.

Each chunk is one person, so that nothing lies between a reservation and its call; races inside a chunk are
the business of `tests/faults` and `tests/concurrency`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, timedelta
from typing import Any, Final

from django.db import transaction
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from automation import control, definition_cache
from automation.control_moves import Operation
from automation.models import DailyCounter, WorkflowExecution
from automation.runtime.tick import run_tick
from automation.states import CLAIMABLE, CLAIMED, ExecutionStatus
from blacklist import actions as blacklist_actions
from campaigns import actions as campaign_actions
from campaigns import stopping
from campaigns.models import Campaign
from core import clock as core_clock
from core import failpoints
from core.errors import Refused
from core.queue import Payload, run
from core.queue import port as queue_port
from core.tenancy import workspace_scope
from sms.models import ProviderAccount, SmsLog
from sms.types import OutboundSms, Outcome, SendResult
from targets.actions import delete_targets
from targets.models import Target
from tests.automation.runtime.held_queue import Died, HeldQueue
from tests.automation.runtime.promises import TEXTS, Model, Person
from tests.clocks import MONDAY_MORNING, MovableClock
from tests.people import make_workspace
from tests.scenario import OFFICE_HOURS, Scenario, accept, outcome, send, wait

MODES: Final = ("accept", "refuse", "not_sent", "in_doubt", "no_credit")
DEATHS: Final = (
    "before_reserve", "after_budget", "mid_reserve_tx", "after_reserve", "before_socket", "after_http",
    "before_record", "mid_record_tx", "after_record",
)  # fmt: skip
WHO: Final = st.integers(0, 2)


class CampaignMachine(RuleBasedStateMachine):
    """One campaign of two people, and room for a third."""

    def __init__(self) -> None:
        super().__init__()
        self._transaction = transaction.atomic()
        # As Django's own test cases mark theirs: what insists on a transaction of its own gets one inside.
        self._transaction._from_testcase = True  # type: ignore[attr-defined]
        self._transaction.__enter__()
        definition_cache.clear()
        self.clock = MovableClock(MONDAY_MORNING.astimezone(UTC))
        core_clock.use_process_clock(self.clock)
        self.queue = HeldQueue()
        queue_port._queues["inline"] = self.queue
        self._scope = workspace_scope(make_workspace("model").pk)
        self._scope.__enter__()
        self.scenario = Scenario(
            send(TEXTS[0]), wait(1, "hour"), send(TEXTS[1]), people=2, cap=3, window=OFFICE_HOURS
        )
        self.scenario.provider.answer = self._answer
        Campaign.objects.update(activated_at=core_clock.now())
        numbers = [target.mobile for target in self.scenario.targets]
        self.model = Model({number: Person(number) for number in numbers}, cap=3)
        self.mode = "accept"
        self.dying_at = ""
        self.on_the_wire: Callable[[], None] | None = None

    def teardown(self) -> None:
        try:
            self._heal_and_finish()
        finally:
            core_clock.use_process_clock(None)
            queue_port._queues.pop("inline", None)
            self._scope.__exit__(None, None, None)
            transaction.set_rollback(True)
            self._transaction.__exit__(None, None, None)

    # -- the provider ---------------------------------------------------------------------------

    def _answer(self, sms: OutboundSms, _nth: int) -> SendResult:
        now = self.clock.at
        refusal = self.model.refusal(sms.to, sms.text, now)
        assert not refusal, f"{sms.to} {sms.text}: {refusal}"
        self.model.leaves(sms.to, now)
        mode, dies = self.mode, self.dying_at in ("after_http", "before_record", "mid_record_tx")
        interference, self.on_the_wire = self.on_the_wire, None
        if interference:
            interference()
        self.model.ends(sms.to, mode, self.clock.at if interference else now, heard=not dies)
        return {
            "accept": accept,
            "refuse": lambda: outcome(Outcome.REFUSED, "18"),
            "not_sent": lambda: outcome(Outcome.NOT_SENT, "6"),
            "in_doubt": lambda: outcome(Outcome.IN_DOUBT, "answer_timeout"),
            "no_credit": lambda: outcome(Outcome.UNAVAILABLE, "2"),
        }[mode]()

    # -- time and the scheduler -----------------------------------------------------------------

    @rule()
    def tick(self) -> None:
        run_tick()

    @rule(minutes=st.sampled_from([1, 6, 15, 31, 60, 61, 600, 1440]))
    def time_passes(self, minutes: int) -> None:
        self.clock.advance(minutes=minutes)

    @rule()
    def the_clock_is_set_back(self) -> None:
        self.clock.advance(minutes=-3)

    # -- the queue and its workers ----------------------------------------------------------------

    @rule(mode=st.sampled_from(MODES))
    def everything_runs_for_a_minute(self, mode: str) -> None:
        run_tick()
        while self.queue.waiting:
            self._work(self.queue.waiting.pop(0), mode)
        self.clock.advance(minutes=1)

    @precondition(lambda self: self.queue.waiting)
    @rule(mode=st.sampled_from(MODES), last=st.booleans())
    def work(self, mode: str, last: bool) -> None:
        self._work(self.queue.waiting.pop(-1 if last else 0), mode)

    @precondition(lambda self: self.queue.waiting)
    @rule(mode=st.sampled_from(MODES), point=st.sampled_from(DEATHS))
    def work_and_die(self, mode: str, point: str) -> None:
        self._work(self.queue.waiting.pop(0), mode, dies_at=point)

    @precondition(lambda self: self.queue.waiting)
    @rule()
    def lose_a_message(self) -> None:
        self.queue.waiting.pop(0)

    @precondition(lambda self: self.queue.past)
    @rule(which=st.integers(0, 100))
    def an_old_message_comes_again(self, which: int) -> None:
        self.queue.waiting.append(self.queue.past[which % len(self.queue.past)])

    @precondition(lambda self: self.queue.waiting)
    @rule(which=st.integers(0, 1))
    def work_while_somebody_opts_out(self, which: int) -> None:
        self.on_the_wire = lambda: self.block(which)
        self._work(self.queue.waiting.pop(0), "accept")

    @precondition(lambda self: self.queue.waiting)
    @rule(mode=st.sampled_from(["accept", "in_doubt"]))
    def work_slower_than_the_lease(self, mode: str) -> None:
        """The answer comes after the reaper has freed the execution; nobody has worked it again yet."""

        def lease_ends() -> None:
            self.clock.advance(minutes=6)
            run_tick()

        self.on_the_wire = lease_ends
        self._work(self.queue.waiting.pop(0), mode)

    def _work(self, message: tuple[str, Payload], mode: str, *, dies_at: str = "") -> None:
        self.mode, self.dying_at = mode, dies_at
        name, payload = message
        with self._dying(dies_at):
            run(name, payload)
        self.mode, self.dying_at, self.on_the_wire = "accept", "", None
        self._note_the_uncalled()

    @contextmanager
    def _dying(self, point: str) -> Iterator[None]:
        def die() -> None:
            raise Died

        if not point:
            yield
            return
        with failpoints.acting(point, die):
            try:
                yield
            except Died:
                return

    def _note_the_uncalled(self) -> None:
        """A worker that died between its reservation and the call leaves a message nobody can know of."""
        for log in SmsLog.objects.filter(status="sending"):
            person = self.model.people[log.phone_number]
            if person.stage < len(TEXTS) and TEXTS[person.stage] == log.final_message:
                assert log.request_at is not None
                self.model.leaves(log.phone_number, log.request_at)
                self.model.ends(log.phone_number, "in_doubt", log.request_at, heard=False)

    # -- what colleagues do with people -------------------------------------------------------------

    def _person(self, which: int) -> tuple[Person, int]:
        """One of the people so far, and the id of their walk."""
        index = which % len(self.scenario.targets)
        return self.model.people[self.scenario.targets[index].mobile], self.scenario.execution(index).pk

    def _allowed(self, execution_id: int, operation: Operation) -> bool:
        try:
            control.change(execution_id, operation, user=None)
        except Refused:
            return False
        return True

    @rule(which=WHO)
    def hold_somebody(self, which: int) -> None:
        person, walk = self._person(which)
        if self._allowed(walk, Operation.PAUSE):
            person.is_changed(Operation.PAUSE)

    @rule(which=WHO)
    def let_somebody_go_on(self, which: int) -> None:
        person, walk = self._person(which)
        allowed = self._allowed(walk, Operation.RESUME)
        assert allowed or not person.held or self.model.cancelled
        if allowed:
            person.is_changed(Operation.RESUME)

    @rule(which=WHO, chance=st.integers(0, 3))
    def take_somebody_out(self, which: int, chance: int) -> None:
        person, walk = self._person(which)
        if chance == 0 and self._allowed(walk, Operation.REMOVE):
            person.is_changed(Operation.REMOVE)

    @rule(which=WHO, operation=st.sampled_from([Operation.RESTART, Operation.RETRY_STEP]))
    def begin_again(self, which: int, operation: Operation) -> None:
        person, walk = self._person(which)
        if self._allowed(walk, operation):
            person.is_changed(operation)

    @precondition(lambda self: len(self.model.people) < 9)
    @rule(which=WHO)
    def somebody_gets_another_number(self, which: int) -> None:
        person, _walk = self._person(which)
        target = self.scenario.targets[which % len(self.scenario.targets)]
        target.mobile = person.number = f"0913{len(self.model.people):07d}"
        target.save(update_fields=["mobile"])
        person.blocked = False
        self.model.people[target.mobile] = person

    @precondition(lambda self: len(self.queue.past) > 6)
    @rule(which=WHO)
    def somebody_is_deleted(self, which: int) -> None:
        person, _walk = self._person(which)
        target = self.scenario.targets[which % len(self.scenario.targets)]
        delete_targets(Target.objects.filter(pk=target.pk), user=None)
        person.gone, person.held = True, False

    # -- the blacklist and the campaign -------------------------------------------------------------

    @rule(which=WHO)
    def block(self, which: int) -> None:
        number = self._person(which)[0].number
        blacklist_actions.add(
            workspace_id=self.scenario.campaign.workspace_id, channel="sms", values=[number],
            source="opt_out", reason="opt_out", user=None,
        )  # fmt: skip
        person = self.model.people[number]
        person.blocked = person.ever_blocked = True

    @rule(which=WHO)
    def unblock(self, which: int) -> None:
        number = self._person(which)[0].number
        blacklist_actions.remove(
            workspace_id=self.scenario.campaign.workspace_id, channel="sms", values=[number], user=None
        )
        self.model.people[number].blocked = False

    @precondition(lambda self: self.model.running and not self.model.cancelled)
    @rule()
    def pause(self) -> None:
        campaign_actions.pause(self.scenario.campaign.pk, user=None)
        self.model.running = False

    @precondition(lambda self: not self.model.running and not self.model.cancelled)
    @rule()
    def resume(self) -> None:
        campaign_actions.resume(self.scenario.campaign.pk, user=None)
        self.model.running = True

    @precondition(lambda self: not self.model.cancelled and len(self.queue.past) > 4)
    @rule(by_hand=st.booleans())
    def cancel(self, by_hand: bool) -> None:
        stop = campaign_actions.end if by_hand else campaign_actions.cancel
        stop(self.scenario.campaign.pk, user=None)
        self.model.cancelled = True

    @rule(office=st.booleans())
    def change_the_hours(self, office: bool) -> None:
        window = OFFICE_HOURS if office else None
        Campaign.objects.filter(pk=self.scenario.campaign.pk).update(send_window=window)
        self.model.hours = office

    @rule(cap=st.integers(0, 4))
    def change_the_cap(self, cap: int) -> None:
        Campaign.objects.filter(pk=self.scenario.campaign.pk).update(daily_limit=cap)
        self.model.cap = cap

    @rule()
    def stop_everything_or_go_on(self) -> None:
        act = stopping.resume if self.model.stopped else stopping.stop
        act(reason="سبب", user=None)
        self.model.stopped = not self.model.stopped

    # -- what holds after every step ----------------------------------------------------------------

    @invariant()
    def counters_are_the_messages(self) -> None:
        for scope in ("campaign", "workflow", "workspace"):
            rows = DailyCounter.objects.filter(scope_type=scope, used__gt=0).values_list("day", "used")
            assert dict(rows) == dict(+self.model.used), scope

    @invariant()
    def nobody_is_on_the_wire_unless_held(self) -> None:
        held = WorkflowExecution.objects.filter(status=ExecutionStatus.PROCESSING).values_list(
            "pk", flat=True
        )
        sending = SmsLog.objects.filter(status="sending").values_list("execution_id", flat=True)
        assert set(sending) <= set(held)

    @invariant()
    def everybody_is_here(self) -> None:
        assert WorkflowExecution.objects.count() == len(self.model.everybody())

    # -- the end ----------------------------------------------------------------------------------

    def _heal_and_finish(self) -> None:
        if not self.model.running and not self.model.cancelled:
            self.resume()
        if self.model.stopped:
            self.stop_everything_or_go_on()
        self.change_the_cap(99)
        for which in range(len(self.scenario.targets)):
            if self._person(which)[0].held:
                self.let_somebody_go_on(which)
        ProviderAccount.objects.update(
            paused_until=None, paused_since=None, paused_reason="", trial_until=None
        )
        self.model.closed_until = None
        for _ in range(60):
            run_tick()
            while self.queue.waiting:
                self._work(self.queue.waiting.pop(0), "accept")
            if not self._to_the_next_moment():
                break
        self._judge()

    def _to_the_next_moment(self) -> bool:
        rows = WorkflowExecution.objects.all()
        if rows.filter(status__in=CLAIMED).exists():
            self.clock.advance(minutes=6)
            return True
        due: Any = (
            rows.filter(status__in=CLAIMABLE).order_by("next_run_at").values_list("next_run_at", flat=True)
        )
        soonest = due.first()
        if soonest is None:
            return False
        self.clock.move_to(soonest if soonest > self.clock.at else self.clock.at + timedelta(minutes=30))
        return True

    def _judge(self) -> None:
        for index, target in enumerate(self.scenario.targets):
            person, row = self.model.people[target.mobile], self.scenario.execution(index)
            if person.over:
                expected = {person.over}
            elif person.stage == len(TEXTS):
                expected = {ExecutionStatus.COMPLETED}
            elif person.ever_blocked:
                expected = {ExecutionStatus.BLACKLISTED}
            else:
                expected = {ExecutionStatus.CANCELLED}
            if self.model.cancelled or person.gone:
                expected |= {ExecutionStatus.CANCELLED}
            else:
                through = person.stage == len(TEXTS)
                assert person.over or person.ever_blocked or through, "somebody was lost"
            assert row.status in expected, (row.status, row.end_reason, person)
