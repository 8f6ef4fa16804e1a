"""What people type about workflows: their names, what changed, the settings of a draft."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from automation import catalogue, own_templates
from automation.builder.claiming import Base
from automation.builder.retry_fields import RetryFields
from automation.builder.window_form import WindowForm
from automation.models.definition import WorkflowStatus
from core.formfields import DigitsIntegerField
from engine.compile_settings import MAX_EXPIRY_MINUTES, MAX_LIMIT
from engine.retry import DEFAULT_RULE, RetryRule, parse_retry


def template_choices() -> list[tuple[str, Any]]:
    """The built-in ones, the workspace's own, and none."""
    own = [(own_templates.key_of(one), one.name) for one in own_templates.all_templates()]
    return [*((t.key, t.name) for t in catalogue.BUILT_IN), *own, ("", _("Without a template"))]


class WorkflowFilter(forms.Form):
    status = forms.ChoiceField(
        label=_("Status"),
        required=False,
        choices=[("", _("All but archived")), *WorkflowStatus.choices],
    )
    category = forms.ChoiceField(label=_("Category"), required=False)

    def __init__(self, *args: Any, categories: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["category"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [("", _("All")), *((word, category_label(word)) for word in categories)]

    def value(self, name: str) -> str:
        """The chosen value, "" for nothing or for a word that is no choice. The form must be bound."""
        self.is_valid()
        return str(self.cleaned_data.get(name, ""))


def category_label(word: str) -> Any:
    """What the list calls a category; people's own words stay as they are."""
    return _("SMS") if word == "sms" else word


class CreateForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=120)
    description = forms.CharField(
        label=_("Description"),
        max_length=2000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_("For your colleagues; nobody else sees it."),
    )
    template = forms.ChoiceField(
        label=_("Begin with"), required=False, choices=template_choices, widget=forms.RadioSelect
    )


class NameForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=120)
    description = forms.CharField(
        label=_("Description"), max_length=2000, required=False, widget=forms.Textarea(attrs={"rows": 3})
    )


class PublishForm(forms.Form):
    note = forms.CharField(
        label=_("What changed?"),
        max_length=500,
        required=False,
        help_text=_("A note for the list of versions."),
        widget=forms.Textarea(attrs={"rows": 2}),
    )


class SettingsForm(WindowForm, RetryFields):
    """The settings of a version. A rule for tries is stored once somebody changes it."""

    base = forms.CharField(widget=forms.HiddenInput, required=False)
    daily_limit = DigitsIntegerField(
        label=_("Messages a day at most"),
        required=False,
        min_value=0,
        max_value=MAX_LIMIT,
        help_text=_("For all campaigns of this workflow together. Empty means no limit of its own."),
    )
    expire_after_minutes = DigitsIntegerField(
        label=_("Minutes after which a message is too late"),
        required=False,
        min_value=1,
        max_value=MAX_EXPIRY_MINUTES,
        help_text=_(
            "Counted from the moment the step was due. A message that is later is not sent and the walk goes"
            " on. Empty means never too late."
        ),
    )
    on_unknown_outcome = forms.ChoiceField(
        label=_("When nobody knows whether a message was sent"),
        required=False,
        choices=[
            ("", _("Ask the provider first, where it can be asked")),
            ("continue", _("Go on to the next step")),
            ("hold", _("Stop and wait for a decision")),
        ],
        help_text=_("Such a message is never sent again unless the provider shows that it never had it."),
    )

    def __init__(
        self, *args: Any, settings: Mapping[str, Any], base: Base, timezone: str, **kwargs: Any
    ) -> None:
        outcome = settings.get("on_unknown_outcome") or ""
        rule = parse_retry(settings.get("retry"))
        self.rule = rule if isinstance(rule, RetryRule) else DEFAULT_RULE
        self.has_own_rule = settings.get("retry") is not None
        initial = self.shown(self.rule) | {
            "base": str(base),
            "daily_limit": settings.get("daily_limit"),
            "expire_after_minutes": settings.get("expire_after_minutes"),
            "on_unknown_outcome": "" if outcome == "reconcile" else outcome,
        }
        super().__init__(
            *args, stored=settings.get("send_window"), timezone=timezone, initial=initial, **kwargs
        )

    def settings(self) -> dict[str, Any]:
        """The keys this form knows, as they are to be stored."""
        own_rule = self.has_own_rule or self.is_retry_changed
        return ({"retry": self.typed_rule(self.rule)} if own_rule else {}) | {
            "send_window": self.window(),
            "daily_limit": self.cleaned_data["daily_limit"],
            "expire_after_minutes": self.cleaned_data["expire_after_minutes"],
            "on_unknown_outcome": self.cleaned_data["on_unknown_outcome"] or None,
        }
