"""The one filter over people: the list page, enrolment and automatic enrolment use this class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from django import forms
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from blacklist.queries import blocked_mobile
from core.errors import Invalid
from core.phones import PhoneError, parse_phone
from core.tenancy import current_workspace_id
from core.text import search_key
from targets import queries
from targets.models import Priority, Target, TargetListMember, TargetStatus

ANY = ("", _("Any"))
BLOCKED_CHOICES = (ANY, ("yes", _("Blocked")), ("no", _("Not blocked")))
NUMBER_CHOICES = (ANY, ("mobile", _("Has a mobile number")), ("none", _("Landline only")))


class TargetFilter(forms.Form):
    """Conditions as the address of the list page holds them. Build it inside the workspace's scope.

    `apply` narrows a query set of people. A filter with a condition that cannot be read selects nobody:
    leaving the condition out would select more people than were meant.
    """

    q = forms.CharField(label=_("Name, number or code"), required=False, max_length=100)
    list = forms.TypedChoiceField(label=_("List"), required=False, coerce=int, empty_value=None)
    status = forms.ChoiceField(label=_("Status"), required=False, choices=[ANY, *TargetStatus.choices])
    priority = forms.ChoiceField(label=_("Priority"), required=False, choices=[ANY, *Priority.choices])
    province = forms.CharField(label=_("Province"), required=False, max_length=60, widget=forms.Select)
    city = forms.CharField(label=_("City"), required=False, max_length=60, widget=forms.Select)
    owner = forms.TypedChoiceField(label=_("Owner"), required=False, coerce=int, empty_value=None)
    blocked = forms.ChoiceField(label=_("Blacklist"), required=False, choices=BLOCKED_CHOICES)
    number = forms.ChoiceField(label=_("Numbers"), required=False, choices=NUMBER_CHOICES)

    def __init__(self, data: Mapping[str, Any] | None = None, **kwargs: Any) -> None:
        super().__init__(data if data is not None else {}, **kwargs)
        self._choices("list", [(row.pk, row.name) for row in queries.lists()])
        self._choices(
            "owner", [(user.pk, str(user)) for user in queries.owner_choices(current_workspace_id())]
        )
        for name in ("province", "city"):
            widget = cast(forms.Select, self.fields[name].widget)
            widget.choices = [ANY, *((place, place) for place in queries.places(name))]

    def _choices(self, name: str, choices: Sequence[tuple[Any, str]]) -> None:
        cast(forms.TypedChoiceField, self.fields[name]).choices = [ANY, *choices]

    def stored(self) -> dict[str, Any]:
        """The conditions that are set, as JSON can keep them; `TargetFilter(stored)` means the same.

        Raises Invalid when one cannot be read.
        """
        if not self.is_valid():
            raise Invalid(
                _("One of the conditions cannot be used any more; check them."), code="filter_invalid"
            )
        return {name: value for name, value in self.cleaned_data.items() if value not in ("", None)}

    def apply(self, people: QuerySet[Target]) -> QuerySet[Target]:
        """The people who meet every condition. Order and visibility are the caller's."""
        if not self.is_valid():
            return people.none()
        wanted = self.stored()
        for name in ("status", "priority", "province", "city"):
            if name in wanted:
                people = people.filter(**{name: wanted[name]})
        if "owner" in wanted:
            people = people.filter(owner_id=wanted["owner"])
        if "list" in wanted:
            members = TargetListMember.objects.filter(list_id=wanted["list"])
            people = people.filter(pk__in=members.values("target_id"))
        if "blocked" in wanted:
            blocked = Q(blocked_mobile())
            people = people.filter(blocked if wanted["blocked"] == "yes" else ~blocked)
        if "number" in wanted:
            people = people.filter(mobile="") if wanted["number"] == "none" else people.exclude(mobile="")
        return people.filter(_search(wanted.get("q", "")))


def _search(text: str) -> Q:
    """A whole number in any spelling, else every word somewhere in the person's search text."""
    try:
        phone = parse_phone(text)
    except PhoneError:
        condition = Q()
        for word in search_key(text).split()[:8]:
            condition &= Q(search_text__contains=word)
        return condition
    return Q(mobile=phone.value) if phone.kind == "mobile" else Q(landline=phone.value)
