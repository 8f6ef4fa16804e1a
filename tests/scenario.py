"""A campaign in a few words, run through the real tick, queue and worker against a scripted provider.

The provider is a gateway of our own registered as `double`: it records what it was given, with the
clock's time, and answers what the test tells it to. Everything between is the product.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.utils.translation import gettext_lazy as _

from automation import conservation
from automation.definition_cache import compiled
from automation.models import (
    AutomationSettings,
    Workflow,
    WorkflowEdge,
    WorkflowExecution,
    WorkflowNode,
    WorkflowVersion,
)
from automation.runtime.tick import TickReport, run_tick
from automation.states import CLAIMABLE, ExecutionStatus
from campaigns.models import Campaign, CampaignStatus
from core import clock
from core.crypto import seal
from core.tenancy import current_workspace_id
from engine.walk import start_position
from sms.models import ProviderAccount, SmsLog, SmsSettings
from sms.providers.registry import register_gateway
from sms.types import CreditResult, DeliveryReport, OutboundSms, Outcome, SendResult
from targets.models import Target

OFFICE_HOURS: Mapping[str, Any] = {
    "timezone": "Asia/Tehran",
    "days": {
        **{day: [["09:00", "18:00"]] for day in ("sat", "sun", "mon", "tue", "wed")},
        "thu": [["09:00", "13:00"]],
        "fri": None,
    },
}
Answer = Callable[[OutboundSms, int], SendResult]


@dataclass(frozen=True, slots=True)
class Sent:
    """One message the provider accepted."""

    to: str
    text: str
    at: datetime


@dataclass(slots=True)
class Provider:
    """What the scripted provider was asked, and how it answers. `tries` counts requests per number."""

    accepted: list[Sent] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    answer: Answer | None = None

    key = "double"

    def send(self, sms: OutboundSms, *, deadline_s: float) -> SendResult:
        self.asked.append(sms.to)
        result = accept() if self.answer is None else self.answer(sms, self.asked.count(sms.to))
        if result.outcome is Outcome.ACCEPTED:
            self.accepted.append(Sent(sms.to, sms.text, clock.now()))
        return result

    def deliveries(self, ids: Sequence[str]) -> list[DeliveryReport]:
        return []

    def credit(self) -> CreditResult:
        return CreditResult(outcome=Outcome.UNAVAILABLE)

    def lines(self) -> list[str]:
        return []


_ids = itertools.count(5243690627088685351)
_providers: dict[str, Provider] = {}


def accept() -> SendResult:
    return SendResult(outcome=Outcome.ACCEPTED, provider_message_id=str(next(_ids)))


def outcome(kind: Outcome, code: str = "6") -> SendResult:
    return SendResult(outcome=kind, code=code)


register_gateway("double", _("Scripted provider"), lambda config: _providers[config["name"]], {})


def send(body: str = "سلام {target.first_name|همراه}", **config: Any) -> dict[str, Any]:
    return {"type": "action", "subtype": "send_sms", "config": {"body": body, **config}}


def start(**config: Any) -> dict[str, Any]:
    """The start that a scenario has anyway, with a config of its own."""
    return {"type": "start", "subtype": "manual", "config": config}


def end(behavior: str = "complete", **config: Any) -> dict[str, Any]:
    """The end that a scenario has anyway, with a behaviour of its own."""
    return {"type": "end", "subtype": behavior, "config": {"behavior": behavior, **config}}


def wait(amount: int, unit: str = "day") -> dict[str, Any]:
    return {
        "type": "wait",
        "subtype": "duration",
        "config": {"mode": "duration", "amount": amount, "unit": unit},
    }


def open_scripted_channel() -> Provider:
    """Give the active workspace the scripted provider (the one it has already, if any)."""
    workspace_id = current_workspace_id()
    SmsSettings.objects.get_or_create(workspace_id=workspace_id)
    AutomationSettings.objects.get_or_create(workspace_id=workspace_id)
    known = ProviderAccount.objects.filter(is_primary=True, kind="double").first()
    if known is not None:
        return _providers[str(known.pk)]
    account = ProviderAccount(
        workspace_id=workspace_id,
        kind="double",
        title="Double",
        lines=["50001"],
        is_primary=True,
        rate_per_second=0,
    )
    account.sealed_credentials = seal(json.dumps({"name": str(account.pk)}), bound_to=account.seal_binding)
    account.save()
    return _providers.setdefault(str(account.pk), Provider())


def assert_conserved() -> None:
    """Every step of every campaign: entered = moved on + waiting + in work + held + ended."""
    report = conservation.check()
    assert report.holds, report.as_dict()


class Scenario:
    """Builds a published workflow and an active campaign by rows alone; no page or form is involved."""

    def __init__(
        self,
        *steps: dict[str, Any],
        people: int = 1,
        cap: int | None = None,
        window: Mapping[str, Any] | None = None,
        settings: Mapping[str, Any] | None = None,
        campaign_settings: Mapping[str, Any] | None = None,
        provider_url: str = "",
    ) -> None:
        self.provider = Provider()
        if provider_url:
            self._open_simulated_channel(provider_url)
        else:
            self.provider = open_scripted_channel()
        self.version = self._publish(steps or (send(),), settings or {})
        self.campaign = Campaign.objects.create(
            workspace_id=current_workspace_id(), name="کمپین", workflow=self.version.workflow,
            workflow_version=self.version, status=CampaignStatus.ACTIVE, daily_limit=cap,
            send_window=window, settings=dict(campaign_settings or {}),
        )  # fmt: skip
        self.targets = self.enrol(people)

    # -- building ---------------------------------------------------------------------------------

    def _open_simulated_channel(self, url: str) -> None:
        """The real adapter against a simulator, instead of the scripted provider."""
        workspace_id = current_workspace_id()
        SmsSettings.objects.get_or_create(workspace_id=workspace_id)
        account = ProviderAccount(
            workspace_id=workspace_id, kind="melipayamak", title="Simulator", lines=["50004001"],
            base_url=url, is_primary=True, rate_per_second=0,
        )  # fmt: skip
        secrets = {"username": "peyk", "password": "simulator"}
        account.sealed_credentials = seal(json.dumps(secrets), bound_to=account.seal_binding)
        account.save()

    def _publish(self, steps: Sequence[dict[str, Any]], settings: Mapping[str, Any]) -> WorkflowVersion:
        workspace_id = current_workspace_id()
        workflow = Workflow.objects.create(workspace_id=workspace_id, name="گردش", status="active")
        version = WorkflowVersion.objects.create(
            workspace_id=workspace_id, workflow=workflow, version_number=1, settings=dict(settings)
        )
        steps = list(steps)
        if not steps or steps[0]["type"] != "start":
            steps.insert(0, start())
        if steps[-1]["type"] != "end":
            steps.append(end())
        nodes = WorkflowNode.objects.bulk_create(
            WorkflowNode(
                workspace_id=workspace_id, version=version, node_key=f"n_{i:06d}",
                consumes_budget=step["subtype"] == "send_sms", **step,
            )
            for i, step in enumerate(steps)
        )  # fmt: skip
        WorkflowEdge.objects.bulk_create(
            WorkflowEdge(workspace_id=workspace_id, version=version, from_node=a, to_node=b)
            for a, b in itertools.pairwise(nodes)
        )
        version.status, version.published_at = "published", clock.now()
        version.save()
        workflow.published_version = version
        workflow.save()
        return version

    def enrol(self, count: int) -> list[Target]:
        """Add `count` new people and put each of them at the first step, due now."""
        workspace_id, now = current_workspace_id(), clock.now()
        first = Target.objects.count()
        targets = Target.objects.bulk_create(
            Target(workspace_id=workspace_id, first_name=f"نفر{first + i}", mobile=f"0912{first + i:07d}")
            for i in range(count)
        )
        entry = compiled(self.version.pk)
        position, due = start_position(entry.graph, now)
        WorkflowExecution.objects.bulk_create(
            WorkflowExecution(
                workspace_id=workspace_id, campaign=self.campaign, workflow=self.version.workflow,
                workflow_version=self.version, subject_id=target.pk, status=ExecutionStatus.ACTIVE,
                active_key=1, current_node_id=entry.node_ids[position.node], eligible_at=due,
                next_run_at=due, started_at=now, consumes_budget=entry.graph.consumes_budget(position.node),
            )
            for target in targets
        )  # fmt: skip
        return targets

    # -- running ----------------------------------------------------------------------------------

    def tick(self) -> TickReport:
        return run_tick()

    def settle(self) -> None:
        """Tick until nothing that may run now is left."""
        while (report := run_tick()).claimed or report.claimed_light:
            pass

    def run_to_end(self, clock: Any, *, limit: timedelta = timedelta(days=400)) -> None:
        """Jump from due moment to due moment until nobody is on the way."""
        stop = clock.at + limit
        while clock.at < stop:
            self.settle()
            due = WorkflowExecution.objects.filter(status__in=sorted(CLAIMABLE)).order_by("next_run_at")
            moment = due.values_list("next_run_at", flat=True).first()
            if moment is None:
                assert_conserved()
                return
            clock.move_to(moment if moment > clock.at else clock.at + timedelta(hours=1))
        raise AssertionError("the campaign did not come to its end")

    # -- looking ----------------------------------------------------------------------------------

    def execution(self, index: int = 0) -> WorkflowExecution:
        return WorkflowExecution.objects.get(campaign=self.campaign, subject_id=self.targets[index].pk)

    def statuses(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for status in WorkflowExecution.objects.filter(campaign=self.campaign).values_list(
            "status", flat=True
        ):
            counts[status] = counts.get(status, 0) + 1
        return counts

    def logs(self) -> list[SmsLog]:
        return list(SmsLog.objects.filter(campaign_id=self.campaign.pk).order_by("pk"))

    def events(self, index: int = 0) -> list[str]:
        return list(self.execution(index).events.order_by("pk").values_list("type", flat=True))
