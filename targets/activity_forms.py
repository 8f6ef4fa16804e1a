"""Forms of activities: one activity, and which ones a list shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from core.formfields import JalaliDateTimeField
from targets import activity_queries, queries
from targets.activities import MAX_DESCRIPTION, MAX_TITLE
from targets.forms import Text
from targets.models import Activity, ActivityKind
from workspaces.models import User

ANY = ("", _("Any"))
USUAL = {"whose": activity_queries.MINE, "when": activity_queries.OPEN}


class ActivityForm(forms.Form):
    """Note down or change an activity. `activity` is the one being changed."""

    kind = forms.ChoiceField(label=_("What is to be done"), choices=ActivityKind.choices)
    title = Text(label=_("Title"), max_length=MAX_TITLE, widget=forms.TextInput({"dir": "auto"}))
    description = Text(
        label=_("Description"),
        required=False,
        max_length=MAX_DESCRIPTION,
        widget=forms.Textarea({"rows": 4, "dir": "auto"}),
    )
    due_at = JalaliDateTimeField(label=_("Due"), help_text=_("Date and time, for example 2026/11/30 14:30."))
    owner: forms.ModelChoiceField[User] = forms.ModelChoiceField(
        label=_("Owner"), required=False, queryset=None, empty_label=_("Nobody")
    )
    is_done = forms.BooleanField(label=_("It is done already"), required=False)

    def __init__(
        self,
        data: Mapping[str, Any] | None = None,
        *,
        workspace_id: int,
        initial: Mapping[str, Any],
        activity: Activity | None = None,
    ) -> None:
        super().__init__(data, initial=dict(initial) if activity is None else _initial(activity))
        self.fields["owner"].queryset = queries.owner_choices(workspace_id)  # type: ignore[attr-defined]
        if activity is not None:
            del self.fields["is_done"]

    def values(self) -> dict[str, Any]:
        """The columns of the activity; call it when the form is valid."""
        data = {key: value for key, value in self.cleaned_data.items() if key not in ("owner", "is_done")}
        owner = self.cleaned_data["owner"]
        return {**data, "owner_id": owner.pk if owner else None}

    @property
    def is_done_already(self) -> bool:
        return bool(self.cleaned_data.get("is_done"))


def _initial(activity: Activity) -> dict[str, Any]:
    names = ("kind", "title", "description", "owner")
    shown = {name: getattr(activity, name) for name in names}
    return {**shown, "due_at": timezone.localtime(activity.due_at)}


class ActivityFilter(forms.Form):
    """Which activities the page lists; what cannot be read means the usual."""

    whose = forms.ChoiceField(
        label=_("Whose"),
        required=False,
        choices=[
            (activity_queries.MINE, _("Mine")),
            (activity_queries.NOBODYS, _("Nobody's")),
            (activity_queries.EVERYBODYS, _("Everybody's")),
        ],
    )
    when = forms.ChoiceField(
        label=_("When"),
        required=False,
        choices=[
            (activity_queries.OPEN, _("Still open")),
            (activity_queries.OVERDUE, _("Overdue")),
            (activity_queries.TODAY, _("Due today")),
            (activity_queries.DONE, _("Done")),
        ],
    )
    kind = forms.ChoiceField(label=_("Kind"), required=False, choices=[ANY, *ActivityKind.choices])

    def wanted(self) -> dict[str, str]:
        self.is_valid()
        found = self.cleaned_data
        return {
            "whose": found.get("whose") or USUAL["whose"],
            "when": found.get("when") or USUAL["when"],
            "kind": found.get("kind") or "",
        }
