"""What became of everybody at every step: the funnel of a campaign.

    entered = waiting + in work + held + failed + ended here + went on

`entered` comes from the history, the rest from where people stand; in a large campaign the history was
counted a little earlier, so somebody may stand at a step that the count does not know of yet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Q

from automation.models import NodeKind, WorkflowNode
from automation.panels import step_name
from automation.problems import port_label
from automation.states import CLAIMED, ExecutionStatus
from campaigns.figures import Arm, Figures
from campaigns.models import Campaign

S = ExecutionStatus
Grouped = Sequence[tuple[int, str, int]]  # node, status, people


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRow:
    """One step. `entered`, `share`, `went_on` and `suppressed` are None until the history was counted."""

    node_id: int
    name: str
    kind: str
    waiting: int
    active: int
    held: int
    failed: int
    ended: int
    entered: int | None
    share: float | None
    went_on: int | None
    suppressed: int | None

    @property
    def standing(self) -> int:
        return self.waiting + self.active + self.held


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmRow:
    """One branch of a split beside the others. `lift`: its share of goals less that of the held-out group."""

    label: str
    arm: Arm
    share: float
    reached: float
    lift: float | None


def steps_of(campaign: Campaign, grouped: Grouped, figures: Figures | None, total: int) -> list[StepRow]:
    """Every step in stored order, the start left out; steps of other versions count with their namesakes.

    One query.
    """
    counts: dict[int, Counter[str]] = {}
    for node_id, status, number in grouped:
        counts.setdefault(node_id, Counter())[status] += number
    known = {*counts, *(figures.entered if figures else ())}
    nodes = WorkflowNode.objects.filter(Q(version_id=campaign.workflow_version_id) | Q(pk__in=known))
    alike: dict[str, list[WorkflowNode]] = {}
    for node in sorted(nodes, key=lambda node: (node.version_id != campaign.workflow_version_id, node.pk)):
        if node.type != NodeKind.START:
            alike.setdefault(node.node_key, []).append(node)
    return [_step(same, counts, figures, total) for same in alike.values()]


def _step(
    nodes: Sequence[WorkflowNode], counts: dict[int, Counter[str]], figures: Figures | None, total: int
) -> StepRow:
    people = sum((counts.get(node.pk, Counter()) for node in nodes), Counter[str]())
    waiting = people[S.WAITING] + people[S.PENDING]
    active = people[S.ACTIVE] + sum(people[status] for status in CLAIMED)
    held, failed = people[S.PAUSED] + people[S.BLACKLISTED], people[S.FAILED]
    here = people.total()
    entered = None if figures is None else max(here, sum(figures.entered.get(node.pk, 0) for node in nodes))
    return StepRow(
        node_id=nodes[0].pk, name=step_name(nodes[0]), kind=nodes[0].type, waiting=waiting, active=active,
        held=held, failed=failed, ended=here - waiting - active - held - failed, entered=entered,
        share=None if entered is None or not total else min(1.0, entered / total),
        went_on=None if entered is None else entered - here,
        suppressed=None if figures is None else sum(figures.suppressed.get(node.pk, 0) for node in nodes),
    )  # fmt: skip


def arms_of(arms: Iterable[Arm]) -> list[ArmRow]:
    """The branches with their shares, each beside the group that is held out where there is one."""
    arms = list(arms)
    total = sum(arm.people for arm in arms)
    held_out = next((arm.reached / arm.people for arm in arms if arm.holdout), None)
    return [_arm(arm, total, held_out) for arm in arms]


def _arm(arm: Arm, total: int, held_out: float | None) -> ArmRow:
    reached = arm.reached / arm.people
    return ArmRow(
        label=port_label("holdout" if arm.holdout else arm.name),
        arm=arm,
        share=arm.people / total,
        reached=reached,
        lift=None if held_out is None or arm.holdout else reached - held_out,
    )
