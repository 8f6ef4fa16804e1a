"""What people type of a template."""

from __future__ import annotations

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from core.text import normalize_text
from sms import queries
from sms.text_hooks import text_tools
from sms.wording import Wording, describe

MAX_BODY = 5_000


class TemplateForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=120)
    body = forms.CharField(
        label=_("Text"),
        max_length=MAX_BODY,
        widget=forms.Textarea(attrs={"rows": 6, "dir": "auto"}),
        help_text=_("Variables are written in braces and filled for each person."),
    )

    def __init__(self, *args: object, workspace_id: int, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self._workspace_id = workspace_id

    def clean_name(self) -> str:
        return normalize_text(self.cleaned_data["name"])

    def clean_body(self) -> str:
        """Refused with the places of what is not allowed, and for variables that do not exist."""
        body: str = self.cleaned_data["body"].replace("\r\n", "\n")
        problems = list(text_tools().problems(body))
        wording = Wording.of(queries.settings_of(self._workspace_id))
        problems += [describe(found) for found in wording.find(body, is_template=True)]
        if problems:
            raise ValidationError(problems)
        return body
