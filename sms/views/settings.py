"""The SMS settings page: accounts, the webhook's address, texts, a test."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from django.contrib import messages
from django.db.models import F
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from core import clock
from core.errors import DomainError, NotFound
from sms import accounts, credit, queries
from sms.account_forms import AccountForm, LinesForm
from sms.channel import gateway_of
from sms.forms import ChannelForm, TrialForm
from sms.models import ProviderAccount, SmsSettings
from sms.providers.registry import gateway_kind, gateway_kinds
from sms.reasons import explain
from sms.sections import section, sections
from sms.trial import send_test
from sms.types import Outcome, SendResult
from workspaces.decorators import permission_required
from workspaces.http import MemberRequest
from workspaces.permissions import Perm

FORM_METHODS = ["GET", "HEAD", "POST"]
DEFAULT_BACKOFF = 30


@require_safe
@permission_required(Perm.SETTINGS_MANAGE)
def overview(request: MemberRequest) -> HttpResponse:
    return _overview(request)


@require_POST
@permission_required(Perm.SETTINGS_MANAGE)
def channel_save(request: MemberRequest) -> HttpResponse:
    form = ChannelForm(request.POST)
    if not form.is_valid():
        return _overview(request, channel_form=form, status=422)
    if accounts.change_settings(request.workspace, form.cleaned_data, user=request.user):
        messages.success(request, _("The settings were saved."))
    return redirect("sms:settings")


@require_POST
@permission_required(Perm.SETTINGS_MANAGE)
def section_save(request: MemberRequest, key: str) -> HttpResponse:
    """Save a panel that another app added to the page."""
    chosen = section(key)
    form = chosen.make_form(request.workspace, request.POST)
    if not form.is_valid():
        return _overview(request, bound={key: form}, status=422)
    if chosen.save(request.workspace, form.cleaned_data, request.user):
        messages.success(request, _("The settings were saved."))
    return redirect("sms:settings")


@require_POST
@permission_required(Perm.SETTINGS_MANAGE)
def webhook_renew(request: MemberRequest) -> HttpResponse:
    accounts.renew_webhook(request.workspace, user=request.user)
    messages.success(request, _("The webhook has a new address. Give it to the provider."))
    return redirect("sms:settings")


@require_POST
@permission_required(Perm.SETTINGS_MANAGE)
def reopen(request: MemberRequest) -> HttpResponse:
    if accounts.reopen_channel(request.workspace, user=request.user):
        messages.success(request, _("Sending goes on."))
    return redirect("sms:settings")


@require_http_methods(FORM_METHODS)
@permission_required(Perm.SETTINGS_MANAGE)
def account_add(request: MemberRequest) -> HttpResponse:
    form = AccountForm(request.POST or None, kind=request.GET.get("kind", ""))
    if form.is_bound and form.is_valid():
        added = accounts.add_account(request.workspace, form.values(), user=request.user)
        messages.success(request, _("The account was added. Send a test message now."))
        return redirect("sms:account", added.pk)
    context = {"form": form, "kinds": _kind_tabs(reverse("sms:account-add"), form)}
    return render(request, "sms/account.html", context, status=422 if form.is_bound else 200)


@require_http_methods(FORM_METHODS)
@permission_required(Perm.SETTINGS_MANAGE)
def account(request: MemberRequest, pk: UUID) -> HttpResponse:
    row = _account(pk)
    if request.method != "POST":
        return _account_page(request, row)
    form = _account_form(request, row)
    if not form.is_valid():
        return _account_page(request, row, form=form, status=422)
    if accounts.change_account(row, form.values(), user=request.user):
        messages.success(request, _("The settings were saved."))
    return redirect("sms:account", row.pk)


def _account_form(request: MemberRequest, row: ProviderAccount) -> AccountForm:
    return AccountForm(
        request.POST if request.method == "POST" else None,
        account=row,
        kind=request.GET.get("kind", ""),
        kept=accounts.stored_credentials(row),
        described=accounts.described(row),
    )


def _kind_tabs(page: str, form: AccountForm) -> list[dict[str, object]]:
    """The kinds of provider as links: each has boxes of its own."""
    return [
        {"label": one.label, "url": f"{page}?kind={one.kind}", "current": one.kind == form.provider.kind}
        for one in gateway_kinds()
    ]


@require_POST
@permission_required(Perm.SETTINGS_MANAGE)
def account_lines(request: MemberRequest, pk: UUID) -> HttpResponse:
    """Save what each line of the account may carry."""
    row = _account(pk)
    form = LinesForm(request.POST, account=row)
    if not form.is_valid():
        return _account_page(request, row, lines_form=form, status=422)
    if accounts.set_line_details(row, form.details(), user=request.user):
        messages.success(request, _("The settings were saved."))
    return redirect("sms:account", row.pk)


@require_POST
@permission_required(Perm.SETTINGS_MANAGE)
def account_fallback(request: MemberRequest, pk: UUID) -> HttpResponse:
    """Change the account's place among those that stand in for the primary one."""
    row = _account(pk)
    move = request.POST.get("move", "")
    if move in ("in", "up", "out") and accounts.arrange_fallback(row, move, user=request.user):
        messages.success(request, _("The settings were saved."))
    return redirect("sms:settings")


@require_POST
@permission_required(Perm.SETTINGS_MANAGE)
def account_primary(request: MemberRequest, pk: UUID) -> HttpResponse:
    row = _account(pk)
    if accounts.make_primary(row, user=request.user):
        messages.success(request, _("Messages go out through «%(title)s» now.") % {"title": row.title})
    return redirect("sms:settings")


@require_POST
@permission_required(Perm.SETTINGS_MANAGE)
def account_check(request: MemberRequest, pk: UUID) -> HttpResponse:
    """Ask the provider for credit and lines, and show them; the credit is kept."""
    row = _account(pk)
    told = credit.check_now(row, clock.now())
    lines = gateway_of(row).lines() if told.outcome is Outcome.ACCEPTED else []
    check = {
        "amount": told.amount,
        "reason": explain(row.kind, told.code),
        "lines": lines,
        "lists_lines": (known := gateway_kind(row.kind)) is not None and known.lists_lines,
        "missing": [line for line in lines if line not in row.lines],
    }
    return _account_page(request, row, check=check)


@require_POST
@permission_required(Perm.SETTINGS_MANAGE)
def account_test(request: MemberRequest, pk: UUID) -> HttpResponse:
    """Send one message, whatever the channel's state, and say what the provider said."""
    row = _account(pk)
    form = TrialForm(request.POST, account=row)
    if not form.is_valid():
        return _account_page(request, row, test_form=form, status=422)
    typed = form.cleaned_data
    try:
        result = send_test(
            row,
            to=typed["number"],
            text=typed["text"],
            sender=typed["sender"],
            kind=typed["kind"],
            key=form.wish,
            user=request.user,
        )
    except DomainError as exc:
        form.add_error(None, str(exc))
        return _account_page(request, row, test_form=form, status=exc.status)
    _tell(request, row, result)
    return redirect("sms:account", row.pk)


def _tell(request: MemberRequest, row: ProviderAccount, result: SendResult) -> None:
    if result.outcome is Outcome.ACCEPTED:
        messages.success(request, _("The provider accepted the message. Its fate is in the message log."))
    elif result.outcome is Outcome.IN_DOUBT:
        messages.warning(request, explain(row.kind, result.code))
    else:
        messages.error(request, explain(row.kind, result.code))


def _account(pk: UUID) -> ProviderAccount:
    row = ProviderAccount.objects.filter(pk=pk).first()
    if row is None:
        raise NotFound
    return row


def _overview(
    request: MemberRequest,
    *,
    channel_form: ChannelForm | None = None,
    bound: dict[str, object] | None = None,
    status: int = 200,
) -> HttpResponse:
    now = clock.now()
    row = queries.settings_of(request.workspace.pk)
    rows = list(
        ProviderAccount.objects.order_by(
            "-is_primary", F("fallback_position").asc(nulls_last=True), "created_at"
        )
    )
    labels = {kind.kind: kind.label for kind in gateway_kinds()}
    panels = [
        {
            "key": one.key,
            "title": one.title,
            "form": (bound or {}).get(one.key) or one.make_form(request.workspace, None),
        }
        for one in sections()
    ]
    context = {
        "accounts": [
            {
                "row": one,
                "kind": labels.get(one.kind, one.kind),
                "ready": accounts.has_credentials(one),
                "is_paused": one.paused_until is not None and one.paused_until > now,
                "credit_fault": explain(one.kind, one.credit_fault),
            }
            for one in rows
        ],
        "low_credit": credit.low_accounts(request.workspace.pk),
        "channel_form": channel_form or ChannelForm(initial=_channel_values(row)),
        "webhook": _webhook_address(request, row),
        "paused": [
            {"row": one, "reason": explain(one.kind, one.paused_reason)}
            for one in rows
            if one.paused_until and one.paused_until > now
        ],
        "panels": panels,
    }
    return render(request, "sms/settings.html", context, status=status)


def _channel_values(row: SmsSettings | None) -> dict[str, object]:
    if row is None:
        return {"backoff_minutes": DEFAULT_BACKOFF}
    return {"opt_out_text": row.opt_out_text, "backoff_minutes": row.backoff_minutes}


def _webhook_address(request: MemberRequest, row: SmsSettings | None) -> str:
    if row is None:
        return ""
    path = reverse("sms:webhook", kwargs={"provider": "generic", "token": row.webhook_token})
    return request.build_absolute_uri(path)


def _account_page(
    request: MemberRequest,
    row: ProviderAccount,
    *,
    form: AccountForm | None = None,
    lines_form: LinesForm | None = None,
    test_form: TrialForm | None = None,
    check: Mapping[str, object] | None = None,
    status: int = 200,
) -> HttpResponse:
    shown = form or AccountForm(
        account=row,
        kind=request.GET.get("kind", ""),
        kept=accounts.stored_credentials(row),
        described=accounts.described(row),
    )
    context = {
        "account": row,
        "form": shown,
        "kinds": _kind_tabs(reverse("sms:account", args=[row.pk]), shown),
        "lines_form": lines_form or LinesForm(account=row),
        "test_form": test_form or TrialForm(account=row),
        "check": check,
    }
    return render(request, "sms/account.html", context, status=status)
