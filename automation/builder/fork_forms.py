"""The forms of condition, switch and split: lists of rules, cases and arms that grow and shrink."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from automation.builder import rules
from automation.builder.offers import Offers
from automation.builder.rule_rows import GroupRow, rows
from automation.builder.rules import Group, Rule
from automation.builder.step_forms import StepForm, Surroundings
from core.formfields import DigitsDecimalField
from core.text import to_latin_digits
from engine.comparing import ConditionError
from engine.compile_shape import MAX_BRANCHES
from engine.conditions import normalize_condition
from engine.types import NodeSpec, Port

MAX_CASES = 20


def _one_more(group: Group) -> Group:
    """A condition without any question shows an empty one to begin with."""
    return group if group.parts else replace(group, parts=(Rule(),))


def _same_condition(one: object, other: object) -> bool:
    try:
        return normalize_condition(one) == normalize_condition(other)
    except ConditionError:
        return False


class ConditionForm(StepForm):
    has_switch = True
    template = "automation/workflows/editors/_condition.html"
    PREFIX: ClassVar[str] = "c"

    def __init__(self, data: QueryDict | None, *, node: NodeSpec, around: Surroundings) -> None:
        super().__init__(data, node=node, around=around)
        is_posted = data is not None and f"{self.PREFIX}.n" in data
        self.group = (
            rules.from_post(data, self.PREFIX)
            if is_posted and data is not None
            else rules.from_config(node.config)
        )

    def edit(self, what: str) -> None:
        verb, _colon, path = what.partition(":")
        self.group = rules.edit(self.group, verb, path)

    def config(self) -> dict[str, Any]:
        made = rules.to_config(self.group, self.around.timezone)
        return dict(self.node.config) if _same_condition(self.node.config, made) else made

    def condition_rows(self) -> GroupRow:
        return rows(_one_more(self.group), self.PREFIX)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One case of a switch; `was` is the exit it had when the form was opened ("" for a new one)."""

    label: str = ""
    group: Group = Group()  # noqa: RUF009  # frozen, so it may be shared
    was: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRow:
    index: int
    number: int
    label: str
    was: str
    condition: GroupRow
    is_first: bool
    is_last: bool


class SwitchForm(StepForm):
    has_switch = True
    template = "automation/workflows/editors/_switch.html"

    def __init__(self, data: QueryDict | None, *, node: NodeSpec, around: Surroundings) -> None:
        super().__init__(data, node=node, around=around)
        self.cases = self._posted(data) if data is not None and "cases" in data else self._stored()

    def _stored(self) -> list[Case]:
        entries = self.node.config.get("cases")
        return [
            Case(
                label=str(entry.get("label") or ""),
                group=rules.from_config(entry.get("definition")),
                was=f"case_{number}",
            )
            for number, entry in enumerate(entries if isinstance(entries, list) else [], start=1)
            if isinstance(entry, Mapping)
        ]

    def _posted(self, data: QueryDict) -> list[Case]:
        return [
            Case(
                label=rules.storable(data.get(f"label-{index}", ""), 100),
                group=rules.from_post(data, f"c{index}"),
                was=data.get(f"was-{index}", ""),
            )
            for index in range(_count(data.get("cases", ""), MAX_BRANCHES))
        ]

    def edit(self, what: str) -> None:
        verb, _colon, rest = what.partition(":")
        if verb == "addcase" and len(self.cases) < MAX_CASES:
            self.cases.append(Case())
            return
        number, _colon, path = rest.partition(":")
        index = int(number) if number.isdecimal() else -1
        if not 0 <= index < len(self.cases):
            return
        if verb == "removecase" and len(self.cases) > 1:
            del self.cases[index]
        elif verb == "upcase" and index:
            self.cases[index - 1 : index + 1] = reversed(self.cases[index - 1 : index + 1])
        elif verb in ("rule", "group", "remove"):
            group = rules.edit(self.cases[index].group, verb, path)
            self.cases[index] = replace(self.cases[index], group=group)

    def config(self) -> dict[str, Any]:
        stored = self.node.config.get("cases")
        made = [
            {"label": case.label, "definition": rules.to_config(case.group, self.around.timezone)}
            for case in self.cases
        ]
        same = isinstance(stored, list) and len(stored) == len(made) and all(
            str(old.get("label") or "") == new["label"]
            and _same_condition(old.get("definition"), new["definition"])
            for old, new in zip(stored, made, strict=True)
        )  # fmt: skip
        return dict(self.node.config) if same else {**self.node.config, "cases": made}

    def ways(self) -> dict[str, str]:
        """Exits keep their steps when cases change places; the last one is for everybody else."""
        known = {f"case_{number + 1}" for number in range(MAX_BRANCHES)}
        found = {
            f"case_{number}": case.was if case.was in known else ""
            for number, case in enumerate(self.cases, start=1)
        }
        return found | {str(Port.DEFAULT): str(Port.DEFAULT)}

    def case_rows(self) -> list[CaseRow]:
        offers, last = Offers(), len(self.cases) - 1
        return [
            CaseRow(
                index=index,
                number=index + 1,
                label=case.label,
                was=case.was,
                condition=rows(_one_more(case.group), f"c{index}", offers),
                is_first=index == 0,
                is_last=index == last,
            )
            for index, case in enumerate(self.cases)
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One way of a split as typed."""

    variant: str = ""
    weight: str = "50"
    was: str = ""


class SplitForm(StepForm):
    has_switch = True
    template = "automation/workflows/editors/_split.html"
    holdout_percent = DigitsDecimalField(
        label=gettext_lazy("Held out, in percent"),
        required=False,
        min_value=0,
        max_value=100,
        help_text=gettext_lazy(
            "These people get none of the messages that follow, so that the rest can be compared with them."
        ),
    )

    def __init__(self, data: QueryDict | None, *, node: NodeSpec, around: Surroundings) -> None:
        super().__init__(data, node=node, around=around)
        self.arms = self._posted(data) if data is not None and "arms" in data else self._stored()

    def read(self, config: Mapping[str, Any]) -> dict[str, Any]:
        return {"holdout_percent": config.get("holdout_percent") or 0}

    def _stored(self) -> list[Arm]:
        entries = self.node.config.get("branches")
        return [
            Arm(
                variant=str(entry.get("variant") or ""),
                weight=_plain(entry.get("weight")),
                was=f"branch_{number}",
            )
            for number, entry in enumerate(entries if isinstance(entries, list) else [], start=1)
            if isinstance(entry, Mapping)
        ]

    def _posted(self, data: QueryDict) -> list[Arm]:
        return [
            Arm(
                variant=rules.storable(data.get(f"variant-{index}", ""), 100),
                weight=to_latin_digits(data.get(f"weight-{index}", "")).replace("٫", ".").strip()[:12],
                was=data.get(f"was-{index}", ""),
            )
            for index in range(_count(data.get("arms", ""), MAX_BRANCHES))
        ]

    def edit(self, what: str) -> None:
        verb, _colon, number = what.partition(":")
        if verb == "addarm" and len(self.arms) < MAX_CASES:
            self.arms.append(Arm(variant=chr(ord("A") + len(self.arms))))
        index = int(number) if number.isdecimal() else -1
        if verb == "removearm" and 0 <= index < len(self.arms) and len(self.arms) > 1:
            del self.arms[index]

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        if any(_weight(arm.weight) is None for arm in self.arms):
            self.add_error(None, _("Every share must be a number of 0 or more."))
        return values

    def config(self) -> dict[str, Any]:
        holdout = self.cleaned_data["holdout_percent"] or 0
        return {
            **self.node.config,
            "branches": [{"weight": _weight(arm.weight) or 0, "variant": arm.variant} for arm in self.arms],
            "holdout_percent": _number(float(holdout)),
        }

    def ways(self) -> dict[str, str]:
        known = {f"branch_{number + 1}" for number in range(MAX_BRANCHES)}
        found = {
            f"branch_{number}": arm.was if arm.was in known else ""
            for number, arm in enumerate(self.arms, start=1)
        }
        return found | {str(Port.HOLDOUT): str(Port.HOLDOUT)}


def _count(text: str, most: int) -> int:
    return min(int(text), most) if text.isascii() and text.isdigit() and len(text) < 5 else 0


def _weight(text: str) -> int | float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return _number(value) if 0 <= value <= 1_000_000 else None


def _number(value: float) -> int | float:
    return int(value) if value == int(value) else value


def _plain(weight: object) -> str:
    return str(weight) if isinstance(weight, (int, float)) else ""
