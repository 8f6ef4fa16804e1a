"""What the messages of a campaign will look like and cost: every text for the people who are in it.

The texts are rendered as the send path does, for the people who are live in the campaign now. Of a large
audience the first few thousand stand for all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from automation.action_specs.send_sms import SUBTYPE, SendSmsConfig, read
from automation.definition_cache import compiled
from automation.models import WorkflowExecution
from automation.runtime.policy import RunPolicy
from automation.runtime.subjects import Subject
from automation.runtime.target_subject import load_targets
from automation.states import LIVE
from campaigns.models import Campaign
from campaigns.policy import policy_of
from engine.graph import ActionNode
from engine.text import Text, parse_text, render
from engine.types import Facts
from sms.channel import Channel
from sms.lines import choose
from sms.parts import parts_of
from sms.preview import Preview, preview
from sms.usage.prices import PriceBook

MOST_PEOPLE: Final = 5_000
CHUNK: Final = 1_000


@dataclass(slots=True, kw_only=True)
class StepEstimate:
    """One message step. `texts`: people of the sample who would get it, `skipped` those who lack a value.

    `rials` is for the sample, None without a price; `everybody` scales a figure to the whole audience.
    """

    title: str
    texts: int = 0
    skipped: int = 0
    parts: int = 0
    most_parts: int = 0
    longest: str = ""
    longest_units: int = -1
    longest_name: str = ""
    rials: Decimal | None = Decimal(0)

    @property
    def preview(self) -> Preview:
        return preview(self.longest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    people: int
    sampled: int
    steps: list[StepEstimate]

    @property
    def is_sample(self) -> bool:
        return self.sampled < self.people

    @property
    def parts(self) -> int:
        """Of everybody, if each gets every message once."""
        return self._scaled(sum(step.parts for step in self.steps))

    @property
    def rials(self) -> Decimal | None:
        """None when some text has no price."""
        costs = [step.rials for step in self.steps]
        if not costs or any(cost is None for cost in costs):
            return None
        return Decimal(self._scaled(int(sum(cost or 0 for cost in costs))))

    def _scaled(self, figure: int) -> int:
        return round(figure * self.people / self.sampled) if self.sampled else 0


def estimate(campaign: Campaign, now: datetime) -> Estimate:
    """Constant queries for each thousand people of the sample."""
    live = WorkflowExecution.objects.filter(
        campaign_id=campaign.pk, subject_type="target", status__in=sorted(LIVE)
    )
    policy = policy_of(campaign)
    work = _Work.load(campaign, policy, now)
    sampled = 0
    for subjects in _chunks(campaign.workspace_id, live.order_by("pk").values_list("subject_id", flat=True)):
        sampled += len(subjects)
        for subject in subjects:
            work.take(subject)
    return Estimate(people=live.count(), sampled=sampled, steps=[step for step, *_rest in work.steps])


def _chunks(workspace_id: int, ids: Any) -> Iterator[list[Subject]]:
    wanted = list(ids[:MOST_PEOPLE])
    for start in range(0, len(wanted), CHUNK):
        yield list(load_targets(workspace_id, wanted[start : start + CHUNK]).values())


@dataclass(frozen=True, slots=True)
class _Work:
    """The message steps of a campaign, and what is needed to render them."""

    steps: list[tuple[StepEstimate, SendSmsConfig, Text, str]]
    channel: Channel
    prices: PriceBook
    policy: RunPolicy
    now: datetime

    @classmethod
    def load(cls, campaign: Campaign, policy: RunPolicy, now: datetime) -> _Work:
        channel = Channel.load(campaign.workspace_id)
        steps: list[tuple[StepEstimate, SendSmsConfig, Text, str]] = []
        for node in compiled(campaign.workflow_version_id).graph.nodes.values():
            if isinstance(node, ActionNode) and node.action == SUBTYPE and node.is_enabled:
                config = read(node.config)
                line = _line(channel, config)
                title = config.title or config.body[:60]
                steps.append((StepEstimate(title=title), config, parse_text(config.body), line))
        return cls(steps, channel, PriceBook.load(), policy, now)

    def take(self, subject: Subject) -> None:
        facts = Facts(
            target=subject.facts,
            campaign={"name": self.policy.campaign_name},
            workspace={"name": self.policy.workspace_name},
            workspace_timezone=self.policy.timezone,
        )
        for step, config, text, line in self.steps:
            blank = config.on_missing_variable == "send_blank"
            rendered = render(text, facts, on_missing="blank" if blank else "skip")
            message = "" if rendered.skip else self._compose(rendered.text, config)
            if message and subject.contacts.get("sms"):
                self._count(step, message, line, str(subject.facts.get("name", "")))
            else:
                step.skipped += 1

    def _compose(self, text: str, config: SendSmsConfig) -> str:
        return self.channel.compose(text, append_opt_out=config.append_opt_out)

    def _count(self, step: StepEstimate, message: str, line: str, name: str) -> None:
        parts = parts_of(message)
        step.texts += 1
        step.parts += parts
        step.most_parts = max(step.most_parts, parts)
        if len(message) > step.longest_units:
            step.longest, step.longest_units, step.longest_name = message, len(message), name
        cost = self.prices.cost_of(message, line, self.policy.day(self.now))
        step.rials = None if cost is None or step.rials is None else step.rials + cost


def _line(channel: Channel, config: SendSmsConfig) -> str:
    """The line that the message leaves by unless another account stands in; "" when none may carry it."""
    account = channel.account(config.provider)
    if account is None:
        return config.sender or ""
    line, _refused = choose(account.sender_lines, config.sender or "", config.message_kind)
    return line.number if line else ""
