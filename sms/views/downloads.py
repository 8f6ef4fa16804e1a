"""The message log, the unknown outcomes and what came in as files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.http.response import HttpResponseBase
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from core.exporting import Digits, Table, moment
from sms import log_queries, unknown_queries
from sms.inbound import hooks
from sms.inbound.forms import InboundFilterForm
from sms.inbound.queries import messages as inbound_messages
from sms.log_forms import LogFilterForm, UnknownFilterForm
from sms.models import InboundSms, SmsLog
from sms.reasons import explain, explain_look, status_label, verdict_label
from sms.usage.hooks import campaign_labels
from sms.views.inbound import lines_of
from sms.views.logs import only_while_on
from workspaces.decorators import permission_required
from workspaces.downloads import send
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


@require_safe
@permission_required(Perm.SMS_LOGS_VIEW)
def messages(request: MemberRequest, kind: str) -> HttpResponseBase:
    """The messages that the filters leave."""
    only_while_on(request)
    chosen = LogFilterForm(request.GET or None).chosen()
    rows = log_queries.messages(chosen)
    return send(request, MESSAGES, rows, kind, chosen=chosen.as_dict(), event="sms.logs_exported")


@require_safe
@permission_required(Perm.SMS_LOGS_VIEW)
def unknown(request: MemberRequest, kind: str) -> HttpResponseBase:
    only_while_on(request)
    state, chosen = UnknownFilterForm(request.GET or None).chosen()
    rows = unknown_queries.messages(state, chosen)
    return send(request, UNKNOWN, rows, kind, chosen={"state": state, **chosen.as_dict()})


@require_safe
@permission_required(Perm.SMS_LOGS_VIEW)
def inbound(request: MemberRequest, kind: str) -> HttpResponseBase:
    only_while_on(request)
    chosen = InboundFilterForm(request.GET or None).chosen()
    return send(request, INBOUND, inbound_messages(chosen), kind, chosen=chosen.as_dict())
