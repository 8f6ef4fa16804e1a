"""A piece of a file becomes rows of the database: set-wise, in the caller's transaction.

Somebody known by mobile number, else landline, else customer code is updated; what the file leaves
empty stays. An import adds and corrects people. It never unblocks anybody, and never moves a person out
of a status that stops messages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from core import clock
from core.bulk import update_from_values
from targets import contacts
from targets.importing.interpret import Draft, Reading, Refusal, Skipped, shown_cells
from targets.models import ImportJob, ImportRow, RowOutcome, Target, TargetListMember, TargetStatus

STOPPED: Final = frozenset({TargetStatus.UNWILLING, TargetStatus.INVALID_NUMBER})
_COLUMNS: Final = (
    "external_id", "name", "first_name", "last_name", "mobile", "landline", "email", "province", "city",
    "status", "priority", "traits", "search_text",
)  # fmt: skip


def write(job: ImportJob, readings: Sequence[Reading]) -> Counter[str]:
    """Write one piece and its result rows; returns how many rows went which way.

    A constant number of statements (SQLite cuts inserts by its own limit). Raises IntegrityError when
    somebody else stored one of the numbers meanwhile: roll back and call again.
    """
    piece = _Piece(job, [r for r in readings if isinstance(r, Draft)])
    for reading in readings:
        match reading:
            case Draft():
                piece.put(reading)
            case Refusal():
                piece.refuse(reading)
            case Skipped():
                piece.counts[reading.why] += 1
    piece.save()
    return piece.counts


class _Piece:
    """People known, people new and people changed while one piece is worked through in order."""

    def __init__(self, job: ImportJob, drafts: Sequence[Draft]) -> None:
        self.job = job
        self.counts: Counter[str] = Counter()
        self._known = contacts.find_known([d.contact for d in drafts], [d.external_id for d in drafts])
        self._new: list[Target] = []
        self._changed: dict[int, Target] = {}
        self._results: list[tuple[ImportRow, Target | None]] = []

    def refuse(self, refusal: Refusal) -> None:
        row = ImportRow(
            workspace_id=self.job.workspace_id,
            job=self.job,
            row_number=refusal.number,
            outcome=RowOutcome.REFUSED,
            column=refusal.column,
            reason=refusal.code,
            fields=refusal.fields,
            cells=shown_cells(refusal.cells),
        )
        self._results.append((row, None))
        self.counts[RowOutcome.REFUSED] += 1

    def put(self, draft: Draft) -> None:
        """Find the person, bring them up to date or make them, and note the result."""
        found = self._find(draft)
        if isinstance(found, Refusal):
            self.refuse(found)
            return
        target, outcome = (found, RowOutcome.SAME) if found else (self._make(), RowOutcome.CREATED)
        self._known.forget(target)
        changed = self._apply(target, draft)
        self._known.remember(target)
        if found and changed:
            outcome = RowOutcome.UPDATED
            if target.pk:
                self._changed[target.pk] = target
        row = ImportRow(
            workspace_id=self.job.workspace_id, job=self.job, row_number=draft.number, outcome=outcome
        )
        self._results.append((row, target))
        self.counts[outcome] += 1

    def _make(self) -> Target:
        target = Target(workspace_id=self.job.workspace_id)
        self._new.append(target)
        return target

    def _find(self, draft: Draft) -> Target | Refusal | None:
        """The person a row means, None for a new one, or why it cannot be told."""
        contact, code = draft.contact, draft.external_id
        by_mobile = self._known.by_mobile.get(contact.mobile)
        by_landline = self._known.by_landline.get(contact.landline)
        by_code = self._known.by_external_id.get(code)
        found = by_mobile or by_landline or by_code
        if found is None:
            return None
        if any(other is not None and other is not found for other in (by_mobile, by_landline, by_code)):
            return self._refusal(draft, "two_people")
        if code and found.external_id not in ("", code):
            return self._refusal(draft, "external_id_differs", code=found.external_id)
        only_landline = found is by_landline and found is not by_mobile and found is not by_code
        if only_landline and contact.mobile and found.mobile:
            return self._refusal(draft, "landline_taken")
        return found

    def _refusal(self, draft: Draft, reason: str, **values: Any) -> Refusal:
        return Refusal(draft.number, reason, "", values, draft.cells)

    def _apply(self, target: Target, draft: Draft) -> bool:
        """Bring the person up to what the row says; whether anything changed."""
        said = {"mobile": draft.contact.mobile, "landline": draft.contact.landline, **draft.values}
        if "status" in said and target.status in STOPPED and said["status"] != target.status:
            del said["status"]
            self.counts["status_kept"] += 1
        changed = False
        for name, value in said.items():
            if value and getattr(target, name) != value:
                setattr(target, name, value)
                changed = True
        traits = {**target.traits, **draft.traits}
        if traits != target.traits:
            target.traits = traits
            changed = True
        if changed:
            target.fill_search_text()
        return changed

    def save(self) -> None:
        """People first: the result rows and memberships name them."""
        Target.objects.bulk_create(self._new)
        self._update()
        self._enlist()
        for row, target in self._results:
            row.target = target
        ImportRow.objects.bulk_create(row for row, _target in self._results)

    def _update(self) -> None:
        now = clock.now()
        rows = [
            {"id": pk, "updated_at": now, **{name: getattr(target, name) for name in _COLUMNS}}
            for pk, target in self._changed.items()
        ]
        update_from_values(Target, rows, guard={"workspace_id": self.job.workspace_id})

    def _enlist(self) -> None:
        if self.job.list_id is None:
            return
        people = {target.pk for _row, target in self._results if target is not None}
        TargetListMember.objects.bulk_create(
            (
                TargetListMember(workspace_id=self.job.workspace_id, list_id=self.job.list_id, target_id=pk)
                for pk in sorted(people)
            ),
            ignore_conflicts=True,
        )
