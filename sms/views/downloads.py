"""The message log, unknown outcomes, what came in, templates and the hours of lines as files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from core.exporting import Digits, Table, moment
from sms import log_queries, unknown_queries
from sms.inbound import hooks
from sms.inbound.forms import InboundFilterForm
from sms.inbound.queries import messages as inbound_messages
from sms.line_forms import hours_of
from sms.line_windows import EVERY_LINE, all_rules
from sms.log_forms import LogFilterForm, UnknownFilterForm
from sms.models import InboundSms, LineRule, SmsLog, SmsTemplate
from sms.preview import preview
from sms.reasons import explain, explain_look, status_label, verdict_label
from sms.templates import all_templates
from sms.text_hooks import text_tools
from sms.usage.hooks import campaign_labels
from sms.views.inbound import lines_of
from sms.views.logs import only_while_on
from workspaces.downloads import Wanted, view
from workspaces.http import MemberRequest
from workspaces.permissions import Perm

MESSAGE = (
    _("Message number"), _("When"), _("Number"), _("Sender line"), _("Text"), _("Parts"), _("Campaign"),
    _("Attempt"), _("Status"), _("Reason"), _("Error code"), _("Provider"), _("Message id of the provider"),
)  # fmt: skip


def _message(row: SmsLog, campaign: str) -> list[object]:
    return [
        Digits(row.pk), moment(row.created_at), Digits(row.phone_number), Digits(row.sender_number),
        row.final_message, row.segments, campaign, row.attempt_number, status_label(row),
        explain(row.provider, row.error_code), Digits(row.error_code), row.provider,
        Digits(row.provider_message_id),
    ]  # fmt: skip


def _messages(chunk: Sequence[SmsLog]) -> Iterator[list[object]]:
    names = campaign_labels(row.campaign_id for row in chunk if row.campaign_id is not None)
    for row in chunk:
        label = names.get(row.campaign_id or 0)
        yield _message(row, label.name if label else str(row.campaign_id or ""))


def _unknown(chunk: Sequence[SmsLog]) -> Iterator[list[object]]:
    looks = unknown_queries.looks_at(chunk)
    for row, cells in zip(chunk, _messages(chunk), strict=True):
        last = looks[row.pk][-1] if looks[row.pk] else None
        yield [
            *cells, len(looks[row.pk]), moment(last.at if last else None),
            verdict_label(last.verdict) if last else "", explain_look(row.provider, last.why) if last else "",
        ]  # fmt: skip


def _inbound(chunk: Sequence[InboundSms]) -> Iterator[list[object]]:
    for row, line in zip(chunk, lines_of(list(chunk)), strict=True):
        person = line["person"].name if isinstance(line["person"], hooks.Label) else ""
        yield [
            Digits(row.pk), moment(row.received_at), Digits(row.number or row.sender), Digits(row.line),
            row.text, str(line["did"]), person, str(line["reply_label"]),
        ]  # fmt: skip


def _templates(chunk: Sequence[SmsTemplate]) -> Iterator[list[object]]:
    for row in chunk:
        parts = preview(text_tools().sample(row.body)).count.parts
        yield [row.name, row.body, parts, str(row.created_by or ""), moment(row.updated_at)]


def _line_rules(chunk: Sequence[LineRule]) -> Iterator[list[object]]:
    for row in chunk:
        line = str(gettext("Every line")) if row.line == EVERY_LINE else Digits(row.line)
        yield [line, row.get_operator_display(), hours_of(row), row.finality_hours or ""]


MESSAGES = Table(name="messages", title=_("Message log"), columns=MESSAGE, cells=_messages)
UNKNOWN = Table(
    name="unknown-outcomes",
    title=_("Unknown outcomes"),
    columns=(*MESSAGE, _("Looks"), _("Last look"), _("Result"), _("Why")),
    cells=_unknown,
)
INBOUND = Table(
    name="inbound",
    title=_("Inbound"),
    columns=(
        _("Message number"), _("When"), _("Number"), _("Line"), _("Text"), _("What it did"), _("Person"),
        _("Answer"),
    ),
    cells=_inbound,
)  # fmt: skip


TEMPLATES = Table(
    name="sms-templates",
    title=_("SMS templates"),
    columns=(_("Name"), _("Text"), _("Parts"), _("Made by"), _("Last change")),
    cells=_templates,
)
LINE_RULES = Table(
    name="line-hours",
    title=_("Hours of sender lines"),
    columns=(_("Sender line"), _("Numbers of"), _("Sends"), _("Hours until delivery reports end")),
    cells=_line_rules,
)


def _messages_wanted(request: MemberRequest) -> Wanted[SmsLog]:
    only_while_on(request)
    chosen = LogFilterForm(request.GET or None).chosen()
    return log_queries.messages(chosen), chosen.as_dict()


def _unknown_wanted(request: MemberRequest) -> Wanted[SmsLog]:
    only_while_on(request)
    state, chosen = UnknownFilterForm(request.GET or None).chosen()
    return unknown_queries.messages(state, chosen), {"state": state, **chosen.as_dict()}


def _inbound_wanted(request: MemberRequest) -> Wanted[InboundSms]:
    only_while_on(request)
    chosen = InboundFilterForm(request.GET or None).chosen()
    return inbound_messages(chosen), chosen.as_dict()


def _templates_wanted(request: MemberRequest) -> Wanted[SmsTemplate]:
    only_while_on(request)
    return all_templates().select_related("created_by"), {}


messages = view(MESSAGES, _messages_wanted, Perm.SMS_LOGS_VIEW, event="sms.logs_exported")
unknown = view(UNKNOWN, _unknown_wanted, Perm.SMS_LOGS_VIEW)
inbound = view(INBOUND, _inbound_wanted, Perm.SMS_LOGS_VIEW)
templates = view(TEMPLATES, _templates_wanted, Perm.SMS_TEMPLATES_MANAGE)
line_rules = view(LINE_RULES, lambda _request: (all_rules(), {}), Perm.SETTINGS_MANAGE)
