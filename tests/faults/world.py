"""A small campaign in a workspace of its own, and how it is brought to its end whatever was killed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Max, Min
from django_q.models import OrmQ

from automation.models import WorkflowExecution
from automation.states import CLAIMABLE, CLAIMED
from blacklist import actions as blacklist_actions
from campaigns.models import Campaign
from core.crypto import seal
from core.tenancy import workspace_scope
from sms.models import ProviderAccount, SmsLog, SmsSettings
from tests.clocks import MONDAY_MORNING
from tests.faults.house import House
from tests.people import make_workspace
from tests.scenario import OFFICE_HOURS, Scenario, send, wait
from workspaces.models import Workspace

FIRST, SECOND = "یک", "دو"
ROUNDS = 40
HOUR = timedelta(hours=1)
LEASE = timedelta(seconds=27)  # a little more than the processes are given


@dataclass(slots=True)
class Block:
    """A number that was blocked: no message row of it with a higher id may ever leave."""

    number: str
    last_row: int
    last_accepted: int


@dataclass(slots=True, kw_only=True)
class World:
    """One workspace with one campaign. `people` walk through two messages an hour apart."""

    house: House
    workspace: Workspace
    scenario: Scenario
    cap: int
    username: str = "peyk"
    blocks: list[Block] = field(default_factory=list)
    doubtful: int = 0  # how many attempts the injected faults may have left in doubt

    @contextmanager
    def inside(self) -> Iterator[None]:
        with workspace_scope(self.workspace.pk):
            yield

    # -- what people do ---------------------------------------------------------------------------

    def block(self, number: str) -> None:
        """An opt-out; remembers which rows and messages were there when it was answered."""
        blacklist_actions.add(
            workspace_id=self.workspace.pk,
            channel="sms",
            values=[number],
            source="opt_out",
            reason="opt_out",
            user=None,
        )
        rows = SmsLog.unscoped.filter(workspace_id=self.workspace.pk).aggregate(last=Max("pk"))
        self.blocks.append(Block(number, rows["last"] or 0, len(self.house.accepted())))

    # -- running ----------------------------------------------------------------------------------

    def note_interrupted(self) -> int:
        """Count the attempts that a killed process left on the wire: their outcome is in doubt."""
        left = SmsLog.unscoped.filter(workspace_id=self.workspace.pk, status="sending").count()
        self.doubtful += left
        return left

    def after_lease(self) -> None:
        self.house.clock.set(self.house.clock.now() + LEASE)

    def recover(self) -> None:
        """One tick and two workers at once, as after a restart."""
        self.house.run("tick")
        for pid in [self.house.start("work") for _ in range(2)]:
            self.house.wait(pid)

    def drain(self, *, rounds: int = ROUNDS, patience: timedelta = HOUR) -> None:
        """From due moment to due moment until nobody is on the way."""
        for _ in range(rounds):
            self.house.run("tick_and_work")
            if not self.move_on(patience):
                return
        raise AssertionError("the campaign did not come to its end")

    def move_on(self, patience: timedelta = HOUR) -> bool:
        """Put the clock to the next moment at which something can happen; False when nothing can.

        `patience`: so long until another look at somebody who waits for something that has no moment.
        """
        rows = WorkflowExecution.unscoped.filter(workspace_id=self.workspace.pk)
        now = self.house.clock.now()
        if rows.filter(status__in=CLAIMED).exists():
            self.house.clock.set(now + LEASE)
            return True
        soonest: datetime | None = rows.filter(status__in=CLAIMABLE).aggregate(at=Min("next_run_at"))["at"]
        if soonest is None:
            return False
        # Whoever is due and was not claimed waits for room under the cap, or for the open channel.
        self.house.clock.set(soonest if soonest > now else now + patience)
        return True

    def leave(self) -> None:
        """Take the campaign out of the way of the next one in the same database."""
        Campaign.unscoped.filter(workspace_id=self.workspace.pk).update(status="completed", draining=False)
        ProviderAccount.unscoped.filter(workspace_id=self.workspace.pk).update(is_active=False)
        OrmQ.objects.all().delete()


def make_world(
    house: House,
    slug: str,
    *,
    people: int = 6,
    cap: int = 5,
    username: str = "peyk",
    url: str = "",
    window: Any = OFFICE_HOURS,
    steps: tuple[dict[str, Any], ...] = (),
) -> World:
    """A fresh workspace and campaign that everybody is due in, on Monday morning."""
    house.clock.set(MONDAY_MORNING + timedelta(minutes=30))
    workspace = make_workspace(slug)
    with workspace_scope(workspace.pk):
        scenario = Scenario(
            *(steps or (send(FIRST), wait(1, "hour"), send(SECOND))),
            people=people, cap=cap, window=window, provider_url=url or house.simulator.url,
        )  # fmt: skip
        SmsSettings.objects.update(backoff_minutes=1)
        ProviderAccount.objects.update(rate_per_second=0)  # waiting for a turn is tested where it belongs
        if username != "peyk":
            use_account(username)
    return World(house=house, workspace=workspace, scenario=scenario, cap=cap, username=username)


def use_account(username: str) -> None:
    """Sign in at the provider as another customer."""
    account = ProviderAccount.objects.get()
    secrets = {"username": username, "password": "simulator"}
    account.sealed_credentials = seal(json.dumps(secrets), bound_to=account.seal_binding)
    account.save()
