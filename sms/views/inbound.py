"""What people wrote to our lines, and the settings of it."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from core.errors import NotFound
from core.pagination import paginate
from sms import queries, switch
from sms.inbound import hooks
from sms.inbound.forms import InboundFilterForm, InboundSettingsForm
from sms.inbound.hooks import Subject
from sms.inbound.preferences import change_preferences, names_of, preferences_of
from sms.inbound.queries import messages as inbound_messages
from sms.inbound.words import OPT_IN, OPT_OUT
from sms.models import InboundOutcome, InboundSettings, InboundSms
from sms.reasons import status_label
from workspaces.decorators import permission_required
from workspaces.http import MemberRequest
from workspaces.permissions import Perm


@require_safe
@permission_required(Perm.SMS_LOGS_VIEW)
def inbound_list(request: MemberRequest) -> HttpResponse:
    """Every message that came in, newest first. Constant queries."""
    if not switch.is_on(request.workspace.pk):
        raise NotFound
    form = InboundFilterForm(request.GET or None)
    chosen = form.chosen()
    page = paginate(request, inbound_messages(chosen))
    context = {
        "form": form,
        "page": page,
        "lines": lines_of(list(page.object_list)),
        "narrowed": chosen.narrows,
        "can_settle": Perm.SETTINGS_MANAGE in request.permissions,
    }
    return render(request, "sms/inbound.html", context)


def lines_of(rows: list[InboundSms]) -> list[dict[str, object]]:
    """The messages with what they did, to whom, and what they were answered. One query for the names."""
    outcomes: dict[int, InboundOutcome] = {row.pk: row.outcome for row in rows if hasattr(row, "outcome")}
    names = hooks.labels_of(subject for one in outcomes.values() if (subject := _subject(one)) is not None)
    return [_line(row, outcomes.get(row.pk), names) for row in rows]


def _subject(outcome: InboundOutcome | None) -> Subject | None:
    if outcome is None or outcome.subject_id is None:
        return None
    return Subject(outcome.subject_type, outcome.subject_id)


def _line(
    row: InboundSms, outcome: InboundOutcome | None, names: dict[Subject, hooks.Label]
) -> dict[str, object]:
    subject, reply = _subject(outcome), outcome.reply if outcome else None
    return {
        "row": row,
        "effect": outcome.effect if outcome else "waiting",
        "did": outcome.get_effect_display() if outcome else _("Not worked on yet"),
        "person": names.get(subject) if subject else None,
        "reply": reply,
        "reply_label": status_label(reply) if reply else "",
    }


@require_http_methods(["GET", "HEAD", "POST"])
@permission_required(Perm.SETTINGS_MANAGE)
def inbound_settings(request: MemberRequest) -> HttpResponse:
    row = preferences_of(request.workspace.pk)
    if request.method != "POST":
        return _settings_page(request, row, InboundSettingsForm(instance=row))
    form = InboundSettingsForm(request.POST, instance=InboundSettings(workspace=request.workspace))
    if not form.is_valid():
        return _settings_page(request, row, form, status=422)
    if change_preferences(request.workspace, form.cleaned_data, user=request.user):
        messages.success(request, _("The settings were saved."))
    return redirect("sms:inbound-settings")


def _settings_page(
    request: MemberRequest, row: InboundSettings, form: InboundSettingsForm, *, status: int = 200
) -> HttpResponse:
    context = {
        "form": form,
        "relay": _relay_address(request, row),
        "no_words": OPT_OUT,
        "yes_words": OPT_IN,
    }
    return render(request, "sms/inbound_settings.html", context, status=status)


def _relay_address(request: MemberRequest, row: InboundSettings) -> str:
    """What is typed into the provider's panel; the panel puts the message where the $-words stand."""
    channel = queries.settings_of(request.workspace.pk)
    if channel is None:
        return ""
    names = names_of(row)
    path = reverse("sms:relay", kwargs={"token": channel.webhook_token})
    fields = f"{names.sender}=$FROM$&{names.line}=$TO$&{names.text}=$TEXT$&{names.reference}=$ID$"
    return f"{request.build_absolute_uri(path)}?{fields}"
