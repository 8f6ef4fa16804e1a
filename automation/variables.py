"""Variables of message texts: what they are called, and a made-up person for previews."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from engine.types import Facts


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """One value a text may use as `{name}`. `sample` stands in for it in previews."""

    name: str  # with its namespace: target.first_name
    label: str | Promise
    sample: Any = ""

    @property
    def namespace(self) -> str:
        return self.name.partition(".")[0]

    @property
    def placeholder(self) -> str:
        """The variable as it is written into a text."""
        return "{" + self.name + "}"


BUILT_IN = (
    Variable(name="target.first_name", label=_("First name"), sample="سارا"),
    Variable(name="target.last_name", label=_("Last name"), sample="احمدی"),
    Variable(name="target.name", label=_("Full name"), sample="سارا احمدی"),
    Variable(name="target.mobile", label=_("Mobile number"), sample="09120000000"),
    Variable(name="target.landline", label=_("Landline"), sample="02100000000"),
    Variable(name="target.email", label=_("E-mail"), sample="sara@example.com"),
    Variable(name="target.province", label=_("Province"), sample="تهران"),
    Variable(name="target.city", label=_("City"), sample="تهران"),
    Variable(name="workspace.name", label=_("Name of the workspace"), sample="پیک"),
    Variable(name="campaign.name", label=_("Name of the campaign"), sample="کمپین پاییز"),
    Variable(name="execution.cycle", label=_("Number of the round"), sample=1),
)

# Short spellings of the catalogue's names, offered to people who know them; the engine resolves them.
ALIASES = {"name": "target.name", "phone": "target.landline"}


def sample_facts(variables: Iterable[Variable], *, workspace_name: str = "") -> Facts:
    """The made-up person of previews: every variable has its sample as value."""
    spaces: dict[str, dict[str, Any]] = {"target": {}, "workspace": {}, "campaign": {}, "execution": {}}
    for variable in variables:
        space, _dot, key = variable.name.partition(".")
        spaces.setdefault(space, {})[key] = variable.sample
    if workspace_name:
        spaces["workspace"]["name"] = workspace_name
    return Facts(
        target=spaces["target"],
        workspace=spaces["workspace"],
        campaign=spaces["campaign"],
        execution=spaces["execution"],
    )
