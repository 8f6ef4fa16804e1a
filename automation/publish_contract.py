"""What publishing a draft would mean, for whom, said before anybody presses the button.

Nobody is moved by publishing. A list campaign is pinned: its people stay on the version it was created
with. In a journey whoever is inside finishes the version they entered with, and whoever enters from then
on gets the new one. The contract counts them, by campaign, version and step.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.db.models import Count

from automation.builder.differences import Difference, differences
from automation.builder.message_text import TextPiece, direction, text_pieces
from automation.models.definition import Workflow, WorkflowKind, WorkflowNode, WorkflowVersion
from automation.models.execution import WorkflowExecution
from automation.naming import step_label
from automation.publishing import RUNNING_CAMPAIGNS, load_definition, node_spec
from automation.states import HALTED, LIVE
from engine.types import Definition, NodeSpec

_NOTHING: Mapping[int, Definition] = {}


class Fate(StrEnum):
    """What happens to the people of a campaign when a new version is published."""

    PINNED = "pinned"  # they and whoever is added stay on the campaign's version
    FINISH = "finish"  # they finish their version; whoever enters from now on gets the new one


class StepChange(StrEnum):
    """What the new version has where somebody stands."""

    SAME = "same"
    CHANGED = "changed"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How many people stand at one step, and what the new version has there."""

    node_key: str
    node_name: str
    people: int
    change: StepChange


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignFate:
    """One campaign and version. A journey has a line for each version that people are still inside of."""

    campaign_id: int
    name: str
    status: str
    status_label: str
    version_number: int
    fate: Fate
    steps: tuple[Standing, ...] = ()

    @property
    def people(self) -> int:
        return sum(step.people for step in self.steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextChange:
    """A message whose text differs, side by side. One of the two is "" when the step came or went."""

    node_key: str
    node_name: str
    old: str
    new: str

    @property
    def old_pieces(self) -> tuple[TextPiece, ...]:
        return text_pieces(self.old)

    @property
    def new_pieces(self) -> tuple[TextPiece, ...]:
        return text_pieces(self.new)

    @property
    def old_direction(self) -> str:
        return direction(self.old)

    @property
    def new_direction(self) -> str:
        return direction(self.new)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """`replaces` is the number of the version published now, None for a first publication."""

    number: int
    replaces: int | None
    is_journey: bool
    campaigns: tuple[CampaignFate, ...]
    texts: tuple[TextChange, ...]
    changes: tuple[Difference, ...]

    @property
    def people(self) -> int:
        """Everybody on their way; none of them is moved."""
        return sum(line.people for line in self.campaigns)

    @property
    def keeping(self) -> int:
        """How many campaigns stay on an older version."""
        return len({line.campaign_id for line in self.campaigns if line.fate is Fate.PINNED})


def contract_of(
    workflow: Workflow, draft: WorkflowVersion, timezone: str, loaded: Mapping[int, Definition] = _NOTHING
) -> Contract:
    """The contract of publishing `draft`. `loaded` are definitions the caller has read, by version id.

    Seven queries at most, however many campaigns, people and steps.
    """
    new = loaded.get(draft.pk) or load_definition(draft)
    published = workflow.published_version
    old = Definition(nodes=(), edges=())
    if published is not None:
        old = loaded.get(published.pk) or load_definition(published)
    found = differences(old, new, timezone=timezone) if published else []
    return Contract(
        number=draft.version_number,
        replaces=published.version_number if published else None,
        is_journey=workflow.kind == WorkflowKind.JOURNEY,
        campaigns=tuple(_fates(workflow, new)),
        texts=tuple(_texts(old, new)) if published else (),
        changes=tuple(found),
    )


def _fates(workflow: Workflow, new: Definition) -> Iterable[CampaignFate]:
    campaigns = workflow.campaigns.filter(deleted_at__isnull=True).select_related("workflow_version")
    rows = {row.pk: row for row in campaigns.order_by("pk")}
    standing = _standing(workflow, new)
    shown = {key for key in standing if key[0] in rows}
    shown |= {(pk, row.workflow_version.version_number) for pk, row in rows.items() if _may_run(row)}
    for campaign_id, number in sorted(shown):
        campaign = rows[campaign_id]
        yield CampaignFate(
            campaign_id=campaign_id,
            name=campaign.name,
            status=campaign.status,
            status_label=campaign.get_status_display(),
            version_number=number,
            fate=Fate.FINISH if campaign.kind == WorkflowKind.JOURNEY else Fate.PINNED,
            steps=tuple(standing.get((campaign_id, number), ())),
        )


def _may_run(campaign: Any) -> bool:
    """It runs or may still be started; one that is over and empty concerns nobody."""
    return campaign.status in ("draft", *RUNNING_CAMPAIGNS)


def _standing(workflow: Workflow, new: Definition) -> dict[tuple[int, int], list[Standing]]:
    """Who stands where, by campaign and version number: two queries."""
    campaigns: Any = workflow.campaigns  # the reverse side of the campaign's foreign key, which has an index
    people = WorkflowExecution.objects.filter(campaign__in=campaigns.all(), status__in=sorted(LIVE | HALTED))
    counted = people.values_list("campaign_id", "workflow_version__version_number", "current_node_id")
    counts = counted.annotate(people=Count("pk")).order_by("campaign_id", "current_node_id")
    rows = [(campaign_id, number, node_id, count) for campaign_id, number, node_id, count in counts]
    nodes = WorkflowNode.objects.in_bulk({node_id for _, _, node_id, _ in rows})
    fresh = {node.key: node for node in new.nodes}
    found: dict[tuple[int, int], list[Standing]] = {}
    for campaign_id, number, node_id, count in rows:
        spec = node_spec(nodes[node_id])
        step = Standing(
            node_key=spec.key, node_name=_name(spec), people=count, change=_change(spec, fresh.get(spec.key))
        )
        found.setdefault((campaign_id, number), []).append(step)
    return found


def _change(here: NodeSpec, there: NodeSpec | None) -> StepChange:
    if there is None:
        return StepChange.REMOVED
    return StepChange.SAME if there == here else StepChange.CHANGED


def _texts(old: Definition, new: Definition) -> Iterable[TextChange]:
    """Messages whose text differs, in the order of the new version; those that went come last."""
    before = {node.key: node for node in old.nodes if _body(node)}
    after = {node.key: node for node in new.nodes if _body(node)}
    for key in [*after, *(key for key in before if key not in after)]:
        texts = _body(before.get(key)), _body(after.get(key))
        if texts[0] != texts[1]:
            shown = after.get(key) or before[key]
            yield TextChange(node_key=key, node_name=_name(shown), old=texts[0], new=texts[1])


def _body(node: NodeSpec | None) -> str:
    body = node.config.get("body") if node is not None else None
    return body if isinstance(body, str) else ""


def _name(node: NodeSpec) -> str:
    return step_label(node)
