"""Forms of the block list."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from blacklist.models import Reason, Source
from core.dates import in_digits_of_the_reader

MAX_AT_ONCE = 500
CHOSEN_BY_HAND = [(value, label) for value, label in Reason.choices if value != Reason.IMPORTED]


class EntryFilter(forms.Form):
    """Conditions of the list and of its export."""

    q = forms.CharField(label=_("Number or note"), required=False, max_length=100)
    state = forms.ChoiceField(
        label=_("State"),
        required=False,
        choices=[("", _("Any")), ("active", _("Blocked")), ("removed", _("Unblocked"))],
    )
    source = forms.ChoiceField(label=_("Source"), required=False, choices=[("", _("Any")), *Source.choices])
    reason = forms.ChoiceField(label=_("Reason"), required=False, choices=[("", _("Any")), *Reason.choices])

    def conditions(self) -> dict[str, str]:
        """The valid ones, for `blacklist.queries.entries`."""
        self.is_valid()
        return {name: value for name, value in self.cleaned_data.items() if value}


class AddForm(forms.Form):
    """Several numbers at once, one on each line or separated by commas."""

    numbers = forms.CharField(
        label=_("Numbers"),
        help_text=_("One on each line, in any spelling."),
        max_length=20_000,
        widget=forms.Textarea({"rows": 4, "dir": "ltr", "inputmode": "tel", "autocomplete": "off"}),
    )
    reason = forms.ChoiceField(label=_("Reason"), choices=CHOSEN_BY_HAND, initial=Reason.MANUAL)
    description = forms.CharField(label=_("Note"), required=False, max_length=500)

    def clean_numbers(self) -> list[str]:
        text = self.cleaned_data["numbers"]
        for mark in "،,؛;":
            text = text.replace(mark, "\n")
        numbers = [line.strip() for line in text.splitlines() if line.strip()]
        if len(numbers) > MAX_AT_ONCE:
            raise forms.ValidationError(
                _("At most %(limit)s numbers at once; import a file for more."),
                params=in_digits_of_the_reader({"limit": MAX_AT_ONCE}),
            )
        return numbers

    def keep_only(self, numbers: list[str]) -> None:
        """Show the form again with these lines in the box."""
        self.data = {**{name: self.data.get(name, "") for name in self.fields}, "numbers": "\n".join(numbers)}


class ImportForm(forms.Form):
    """A file with a column of numbers."""

    file = forms.FileField(
        label=_("File"),
        help_text=_("An xlsx or csv file with a column of phone numbers, at most 10 MB."),
        allow_empty_file=True,
        widget=forms.ClearableFileInput({"accept": ".xlsx,.csv"}),
    )
    reason = forms.ChoiceField(label=_("Reason"), choices=Reason.choices, initial=Reason.IMPORTED)
    description = forms.CharField(label=_("Note"), required=False, max_length=500)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["file"].error_messages["required"] = _("Choose a file.")
