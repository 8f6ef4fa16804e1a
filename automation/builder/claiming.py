"""A draft held for one change: in the state that the change was made on, stored as a whole, recorded once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from automation import audit_events
from automation.builder import history, outline
from automation.builder.kinds import profile_of
from automation.builder.outline import CannotEdit, Outline
from automation.builder.storing import store_difference
from automation.models.definition import VersionStatus, Workflow
from automation.models.definition import WorkflowVersion as Version
from automation.naming import step_label
from automation.problems import reason
from automation.publishing import key_maker, load_definition, locked
from core.errors import NotFound, Refused
from engine.sequence import NotASequence
from engine.types import Definition, NodeSpec, Profile
from workspaces import audit
from workspaces.models import User

MAX_STEPS = 200


class StaleDraft(Refused):
    """The draft changed since the page was opened (or was published): nothing was saved."""

    code = "draft_changed"


@dataclass(frozen=True, slots=True)
class Base:
    """The state of a draft that a change was made on: its version number and revision, `2.5` in forms."""

    version: int
    revision: int

    @classmethod
    def of(cls, draft: Version) -> Base:
        return cls(draft.version_number, draft.revision)

    @classmethod
    def parse(cls, text: str) -> Base:
        """Read the hidden field of a form; what is no such text counts as an old state."""
        version, _dot, revision = text.partition(".")
        is_plain = version.isascii() and version.isdigit() and revision.isascii() and revision.isdigit()
        return cls(int(version[:9]), int(revision[:9])) if is_plain else cls(0, 0)

    def __str__(self) -> str:
        return f"{self.version}.{self.revision}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """A draft locked for one change, in the state the change was made on."""

    workflow: Workflow
    draft: Version
    definition: Definition
    profile: Profile
    user: User | None

    def outline(self) -> Outline:
        """Raises Refused (`not_a_list`) for a draft that the step list cannot show."""
        try:
            return outline.read(self.definition)
        except NotASequence as exc:
            raise Refused(reason(exc.code), code="not_a_list") from exc

    def node(self, key: str) -> NodeSpec:
        """Raises NotFound."""
        for node in self.definition.nodes:
            if node.key == key:
                return node
        raise NotFound(_("This step does not exist any more."))

    def key_maker(self) -> Callable[[], str]:
        """Makes keys that no step of the draft has."""
        return key_maker(node.key for node in self.definition.nodes)


def claim(workflow: Workflow, base: Base, user: User | None) -> Claimed:
    workflow = locked(workflow)
    draft = Version.objects.filter(workflow=workflow, status=VersionStatus.DRAFT).first()
    if draft is None:
        raise StaleDraft(_("There is no draft any more: it was published."), code="version_not_draft")
    if Base.of(draft) != base:
        raise StaleDraft(_("The draft was changed since you opened this page."))
    return Claimed(
        workflow=workflow,
        draft=draft,
        definition=load_definition(draft),
        profile=profile_of(workflow),
        user=user,
    )


def edit_lists(claimed: Claimed, label: str, edit: Callable[[Outline], Outline]) -> bool:
    lists = claimed.outline()
    after = attempt(lambda: edit(lists))
    if after is lists:
        return False
    return store(claimed, after, label)


def attempt(edit: Callable[[], Outline]) -> Outline:
    try:
        return edit()
    except CannotEdit as exc:
        if exc.code == "step_unknown":
            raise NotFound(_("This step does not exist any more.")) from exc
        raise Refused(refusal(exc.code), code=exc.code) from exc


def refusal(code: str) -> str:
    """Why a step cannot stand somewhere, in the active language."""
    sentences = {
        "end_in_between": _("An end can only stand where nothing follows."),
        "fork_in_between": _("Steps follow here, and every branch of this step has an end: nothing fits in."),
        "start_stays": _("The start stays where it is."),
    }
    return sentences.get(code, _("The step cannot stand there."))


def store(claimed: Claimed, after: Outline, label: str) -> bool:
    grows = after.size() > max(MAX_STEPS, len(claimed.definition.nodes))
    if grows:
        raise Refused(
            _("A workflow made here may have %(n)s steps at most.") % {"n": MAX_STEPS}, code="draft_too_big"
        )
    try:
        definition = outline.write(after)
    except NotASequence as exc:
        raise Refused(reason(exc.code), code=exc.code) from exc
    before = claimed.definition
    if _same(before, definition):
        return False
    history.remember(claimed.draft, before, label, claimed.user)
    store_difference(claimed.draft, before, definition)
    grow(claimed.draft)
    return True


def _same(one: Definition, other: Definition) -> bool:
    nodes = {node.key: node for node in one.nodes} == {node.key: node for node in other.nodes}
    return nodes and set(one.edges) == set(other.edges)


def grow(draft: Version, *, settings: bool = False) -> None:
    draft.revision += 1
    columns = ["revision", "updated_at", *(["settings"] if settings else [])]
    draft.save(update_fields=columns)


def _values(node: NodeSpec) -> dict[str, Any]:
    return {"name": node.name, "is_enabled": node.is_enabled, **node.config}


def _about(claimed: Claimed, node: NodeSpec) -> dict[str, Any]:
    return {"version": claimed.draft.version_number, "step": step_label(node)}


def record_step(claimed: Claimed, old: NodeSpec, new: NodeSpec) -> None:
    before, after = _values(old), _values(new)
    was, now = audit.changes(before, after)
    was |= {key: value for key, value in before.items() if key not in after}
    about = _about(claimed, new)
    audit.record(
        audit_events.DRAFT_STEP_CHANGED,
        entity=claimed.workflow,
        old=about | was,
        new=about | now,
        user=claimed.user,
    )


def record_shape(
    event: str,
    claimed: Claimed,
    *,
    old: NodeSpec | None = None,
    new: NodeSpec | None = None,
    about: NodeSpec | None = None,
    others: list[NodeSpec] | None = None,
) -> None:
    step = old or new or about
    assert step is not None
    said = _about(claimed, step)
    inside = {"with_steps": [_values(one) for one in others]} if others else {}
    audit.record(
        event,
        entity=claimed.workflow,
        old=said | (_values(old) if old else {}) | inside,
        new=said | (_values(new) if new else {}),
        user=claimed.user,
    )
