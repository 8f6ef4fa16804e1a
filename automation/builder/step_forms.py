"""The forms of a step: what every kind has, and the message. `editors` has the other kinds and the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from automation.action_specs import send_sms
from automation.builder.claiming import Base
from automation.builder.kinds import StepKind
from automation.builder.message_text import direction
from automation.builder.retry_fields import RetryFields
from core.formfields import DigitsIntegerField
from core.text import normalize_text
from engine.retry import DEFAULT_RULE, RetryRule, parse_retry
from engine.types import NodeSpec
from sms.lines import MessageKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What forms need to know of the draft around their step.

    retry: the workflow's own rule. lines: sender lines that can be chosen. steps: (key, name) of the steps
    a loop may go back to. kinds: what a wait or an end can be turned into.
    """

    base: Base
    timezone: str
    retry: RetryRule = DEFAULT_RULE
    lines: Sequence[str] = ()
    steps: Sequence[tuple[str, str]] = ()
    kinds: Sequence[StepKind] = ()


class StepForm(forms.Form):
    """The name of a step. Kinds with more to say extend it; `config()` is what will be stored."""

    has_switch: ClassVar[bool] = False
    template: ClassVar[str] = "automation/workflows/editors/_plain.html"
    base = forms.CharField(widget=forms.HiddenInput, required=False)
    name = forms.CharField(
        label=_("Name of the step"),
        max_length=120,
        required=False,
        help_text=_("Your colleagues see it in lists and reports; the people you write to do not."),
    )
    is_enabled = forms.BooleanField(
        label=_("The step is switched on"),
        required=False,
        help_text=_("A step that is switched off is passed over."),
    )

    def __init__(self, data: QueryDict | None, *, node: NodeSpec, around: Surroundings) -> None:
        self.node = node
        self.around = around
        initial = {
            "base": str(around.base),
            "name": node.name,
            "is_enabled": node.is_enabled,
            **self.read(node.config),
        }
        super().__init__(data, initial=initial)
        if not self.has_switch:
            del self.fields["is_enabled"]

    def edit(self, what: str) -> None:
        """Change the lists of this step (rules, cases, arms) by the word of a button."""

    def read(self, config: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG002  # for those who extend it
        """Initial values of the kind's own fields."""
        return {}

    def config(self) -> dict[str, Any]:
        """The whole config to store; keys that this form does not show stay."""
        return dict(self.node.config)

    def subtype(self) -> str:
        """The kind to store; "" keeps it."""
        return ""

    def ways(self) -> dict[str, str] | None:
        """The exits after this change and what each was before (`outline.revise`); None: they stay."""
        return None

    def is_on(self) -> bool:
        return bool(self.cleaned_data["is_enabled"]) if self.has_switch else self.node.is_enabled


class SendSmsForm(StepForm, RetryFields):
    """A message. An empty text is stored too: it only keeps the draft from being published."""

    has_switch = True
    template = "automation/workflows/editors/_message.html"
    body = forms.CharField(
        label=_("Text of the message"),
        required=False,
        max_length=send_sms.MAX_BODY,
        widget=forms.Textarea(attrs={"rows": 6}),
    )
    title = forms.CharField(
        label=_("Title"),
        required=False,
        max_length=send_sms.MAX_TITLE,
        help_text=_("What reports call this message."),
    )
    sender = forms.ChoiceField(label=_("Sender line"), required=False)
    message_kind = forms.ChoiceField(
        label=_("What the message is"),
        choices=MessageKind.choices,
        required=False,
        help_text=_("A promotional text leaves only by a promotional line."),
    )
    send_only_in_window = forms.BooleanField(
        label=_("Only in the sending hours"),
        required=False,
        help_text=_("Outside the sending hours the message waits for the next opening."),
    )
    on_missing_variable = forms.ChoiceField(
        label=_("When a person lacks a value that the text uses"),
        choices=[
            ("skip", _("Do not send this message to that person")),
            ("send_blank", _("Send it with a gap")),
        ],
        widget=forms.RadioSelect,
    )
    append_opt_out = forms.BooleanField(
        label=_("Add the opt-out text"),
        required=False,
        help_text=_("The text is set in the SMS settings and counts into the parts."),
    )
    expire_after_minutes = DigitsIntegerField(
        label=_("Minutes after which it is too late"),
        required=False,
        min_value=1,
        max_value=send_sms.MAX_EXPIRY_MINUTES,
        help_text=_("Counted from the moment the step was due. Empty: as the workflow says."),
    )
    when_late = forms.ChoiceField(
        label=_("When it is too late"),
        required=False,
        choices=[
            ("skip", _("Go on without this message")),
            ("hold", _("Hold the person; a colleague lets them go on")),
        ],
        widget=forms.RadioSelect,
    )

    def __init__(self, data: QueryDict | None, *, node: NodeSpec, around: Surroundings) -> None:
        super().__init__(data, node=node, around=around)
        lines = around.lines
        stored = self.initial.get("sender") or ""
        known = [*lines, *([stored] if stored and stored not in lines else [])]
        self.fields["body"].widget.attrs["dir"] = direction(str(self["body"].value() or ""))
        field = self.fields["sender"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [("", _("The provider's own line")), *((line, line) for line in known)]

    def read(self, config: Mapping[str, Any]) -> dict[str, Any]:
        values = send_sms.defaults() | {k: v for k, v in config.items() if v is not None}
        parsed = parse_retry(config.get("retry"), self.around.retry)
        self.rule = parsed if isinstance(parsed, RetryRule) else DEFAULT_RULE
        names = (
            "body", "title", "sender", "send_only_in_window", "on_missing_variable", "append_opt_out",
            "expire_after_minutes", "when_late", "message_kind",
        )  # fmt: skip
        return {name: values[name] for name in names} | self.shown(self.rule)

    def config(self) -> dict[str, Any]:
        values = self.cleaned_data
        config = dict(self.node.config) | {
            "body": normalize_text(values["body"]),
            "title": normalize_text(values["title"]),
            "sender": values["sender"] or None,
            "send_only_in_window": values["send_only_in_window"],
            "on_missing_variable": values["on_missing_variable"],
            "append_opt_out": values["append_opt_out"],
        }
        if values["message_kind"] not in ("", MessageKind.PROMOTIONAL) or "message_kind" in config:
            config["message_kind"] = values["message_kind"] or MessageKind.PROMOTIONAL.value
        if values["expire_after_minutes"] or "expire_after_minutes" in config:
            config["expire_after_minutes"] = values["expire_after_minutes"]
        if values["when_late"] == "hold" or "when_late" in config:
            config["when_late"] = values["when_late"] or "skip"
        if "retry" in config or self.is_retry_changed:
            config["retry"] = self.typed_rule(self.rule)
        return config
