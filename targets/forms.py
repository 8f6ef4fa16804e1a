"""Forms of people, lists and uploads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from core.dates import DateError, in_digits_of_the_reader
from core.text import normalize_text, to_latin_digits
from targets import contacts, queries, traits
from targets.importing import fields as import_fields
from targets.importing.mapping import ColumnMap, label_of
from targets.models import ImportJob, Priority, Target, TargetList, TargetStatus
from workspaces.models import User


class Text(forms.CharField):
    """A line of text, stored in its one Persian form."""

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        return normalize_text(text) if isinstance(text, str) else text


class Number(forms.CharField):
    """A phone number as it is typed; what it means is read together with the other number."""

    def __init__(self, **kwargs: Any) -> None:
        attrs = {"dir": "ltr", "inputmode": "tel", "autocomplete": "off"}
        super().__init__(required=False, max_length=64, widget=forms.TextInput(attrs), **kwargs)


class TargetForm(forms.Form):
    """Create and edit a person. `target` is the one being edited."""

    first_name = Text(label=_("First name"), required=False, max_length=80)
    last_name = Text(label=_("Last name"), required=False, max_length=80)
    name = Text(
        label=_("Full name"),
        required=False,
        max_length=160,
        help_text=_("For companies, or when first and last name are not known apart."),
    )
    mobile = Number(label=_("Mobile"))
    landline = Number(label=_("Landline"), help_text=_("With the area code."))
    email = forms.EmailField(label=_("E-mail"), required=False)
    external_id = Text(label=_("Customer code"), required=False, max_length=64)
    province = Text(label=_("Province"), required=False, max_length=60)
    city = Text(label=_("City"), required=False, max_length=60)
    status = forms.ChoiceField(label=_("Status"), choices=TargetStatus.choices, initial=TargetStatus.NEW)
    priority = forms.ChoiceField(label=_("Priority"), choices=Priority.choices, initial=Priority.NORMAL)
    owner: forms.ModelChoiceField[User] = forms.ModelChoiceField(
        label=_("Owner"), required=False, queryset=None, empty_label=_("Nobody")
    )
    traits = forms.CharField(
        label=_("More about this person"),
        required=False,
        max_length=20_000,
        widget=forms.Textarea({"rows": 4}),
        help_text=_("One on each line: name: value. Texts of messages can use them."),
    )

    def __init__(
        self,
        data: Mapping[str, Any] | None = None,
        *,
        workspace_id: int,
        target: Target | None = None,
        initial: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(data, initial=initial if target is None else _initial(target))
        self._target = target
        owners = queries.owner_choices(workspace_id)
        self.fields["owner"].queryset = owners  # type: ignore[attr-defined]
        self.duplicates: dict[str, Target] = {}

    def clean_traits(self) -> dict[str, str]:
        known = self._target.traits if self._target else {}
        found: dict[str, str] = {}
        for number, line in enumerate(self.cleaned_data["traits"].splitlines(), start=1):
            if not line.strip():
                continue
            name, _colon, value = line.partition(":")
            key = traits.trait_key(name)
            if not key or not value.strip() or len(value) > traits.MAX_VALUE:
                raise _of_line(number, _("Line %(n)s: write name: value."))
            try:
                found[key] = traits.stored(key, value, was=known.get(key))
            except DateError as problem:
                raise _of_line(number, _("Line %(n)s: this is not a date.")) from problem
        if len(found) > traits.MAX_TRAITS:
            raise _of_line(traits.MAX_TRAITS, _("At most %(n)s lines."))
        return found

    def clean(self) -> dict[str, Any]:
        data = self.cleaned_data
        cells: list[contacts.NumberCell] = [
            ("mobile", data.get("mobile", "")),
            ("landline", data.get("landline", "")),
        ]
        contact = contacts.read_contact(cells, sort=False)
        for problem in contact.problems:
            self.add_error(problem.where, str(problem))
        if not contact.problems:
            data.update(mobile=contact.mobile, landline=contact.landline)
            self._look_for_duplicates(contact)
        return data

    def _look_for_duplicates(self, contact: contacts.Contact) -> None:
        found = contacts.duplicates_of(
            contact,
            external_id=self.cleaned_data.get("external_id", ""),
            except_id=self._target.pk if self._target else None,
        )
        self.duplicates = found
        for name, target in found.items():
            self.add_error(name, _now("This belongs to “%(person)s” already.") % {"person": target})

    def values(self) -> dict[str, Any]:
        """What `actions.create_target` and `change_target` take."""
        values = {name: value for name, value in self.cleaned_data.items() if name != "owner"}
        owner = self.cleaned_data["owner"]
        return {**values, "email": values["email"].lower(), "owner_id": owner.pk if owner else None}

    def clean_external_id(self) -> str:
        return to_latin_digits(self.cleaned_data["external_id"])


def _of_line(number: int, text: str | Promise) -> forms.ValidationError:
    return forms.ValidationError(str(text), params=in_digits_of_the_reader({"n": number}))


def _initial(target: Target) -> dict[str, Any]:
    plain = (name for name in TargetForm.base_fields if name not in ("owner", "traits"))
    lines = (f"{traits.trait_label(key)}: {traits.shown(value)}" for key, value in target.traits.items())
    return {
        **{name: getattr(target, name) for name in plain},
        "owner": target.owner_id,
        "traits": "\n".join(lines),
    }


class ListForm(forms.Form):
    """Create and rename a list."""

    name = Text(label=_("Name"), max_length=120)
    description = Text(label=_("Description"), required=False, max_length=500)

    def __init__(self, *args: Any, found: TargetList | None = None, **kwargs: Any) -> None:
        if found is not None:
            kwargs["initial"] = {"name": found.name, "description": found.description}
        super().__init__(*args, **kwargs)


class UploadForm(forms.Form):
    """The first step of an import."""

    file = forms.FileField(
        label=_("File"),
        help_text=_("An xlsx or csv file, at most 10 MB and 200,000 rows, with a header in its first row."),
        error_messages={"required": _("Choose a file.")},
        allow_empty_file=True,
        widget=forms.ClearableFileInput({"accept": ".xlsx,.csv"}),
    )


class MappingForm(forms.Form):
    """The second step: what each column holds, and which list the people go on."""

    target_list: forms.ModelChoiceField[TargetList] = forms.ModelChoiceField(
        label=_("Put everybody on the list"),
        required=False,
        queryset=None,
        empty_label=_("No list"),
    )
    new_list = Text(label=_("or on a new list named"), required=False, max_length=120)

    def __init__(self, data: Mapping[str, Any] | None, *, job: ImportJob) -> None:
        super().__init__(data)
        self._job = job
        self.fields["target_list"].queryset = queries.lists()  # type: ignore[attr-defined]
        for index, column in enumerate(job.columns):
            self.fields[f"c{index}"] = forms.ChoiceField(
                label=column,
                required=False,
                choices=_choices(column),
                initial=job.mapping.get(str(index), ""),
            )

    def clean(self) -> dict[str, Any]:
        if self.cleaned_data.get("target_list") and self.cleaned_data.get("new_list"):
            self.add_error("new_list", _("Choose a list or name a new one, not both."))
        return self.cleaned_data

    def column_map(self) -> ColumnMap:
        """The chosen fields by column; before a choice was posted, the suggested ones."""
        if not self.is_bound:
            return dict(self._job.mapping)
        self.is_valid()
        columns = range(len(self._job.columns))
        return {str(i): self.cleaned_data[f"c{i}"] for i in columns if self.cleaned_data.get(f"c{i}")}

    def column_fields(self) -> list[forms.BoundField]:
        """The select of each column, in order."""
        return [self[f"c{index}"] for index in range(len(self._job.columns))]


def _choices(column: str) -> list[tuple[str, str | Promise | list[tuple[str, str]]]]:
    """Ignore, the fields of a person, and the column itself as a trait (text or date)."""
    known: list[tuple[str, str]] = [(field.key, str(field.label)) for field in import_fields.FIELDS]
    key = traits.trait_key(column)
    birthday = import_fields.DATE + traits.BIRTH_DATE
    more = [(birthday, label_of(birthday))]
    if key and key != traits.BIRTH_DATE:
        more.insert(0, (import_fields.TRAIT + key, _now("Text “%(name)s”") % {"name": column}))
        more.insert(1, (import_fields.DATE + key, _now("Date “%(name)s”") % {"name": column}))
    return [
        (import_fields.IGNORE, _("Leave out")),
        (_now("Fields"), known),
        (_now("More about the person"), more),
    ]


class SelectionForm(forms.Form):
    """What to do with the ticked people, or with everybody the filter found."""

    SCOPES = (("ticked", _("The ticked people")), ("all", _("Everybody found")))

    scope = forms.ChoiceField(choices=SCOPES)
    action = forms.ChoiceField(choices=[("add", ""), ("remove", ""), ("delete", "")])
    list: forms.ModelChoiceField[TargetList] = forms.ModelChoiceField(queryset=None, required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["list"].queryset = queries.lists()  # type: ignore[attr-defined]
