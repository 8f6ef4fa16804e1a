"""The month's account, its downloads, and the prices behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from core import clock
from core.dates import format_number
from core.errors import DomainError
from core.spreadsheets.export import csv_response, xlsx_stream
from sms.models import Script, SmsPrice, SmsUsage
from sms.usage import accounting, exporting
from sms.usage.accounting import Account, Group, Total
from sms.usage.forms import PriceForm
from sms.usage.hooks import campaign_labels
from sms.usage.labels import event_label
from sms.usage.months import Month
from sms.usage.prices import PriceBook, add_price, known_lines, prices, remove_price
from workspaces import audit
from workspaces.decorators import permission_required
from workspaces.http import MemberRequest
from workspaces.permissions import Perm

SHOWN = 100  # campaigns and lines in a table; the rest is in the downloads and in the sum


@require_safe
@permission_required(Perm.SMS_LOGS_VIEW)
def usage(request: MemberRequest) -> HttpResponse:
    """One month: sums by who asked, campaign, line and script, and the months before. Constant queries."""
    month, this_month = _months(request)
    book = PriceBook.load()
    account = accounting.account_of(month, book)
    context = {
        "month": month,
        "month_label": month.label(_language()),
        "month_days": month.days(_language()),
        "newer": month.next if month.start < this_month.start else None,
        "older": month.previous,
        "total": account.total,
        "tables": _tables(account),
        "history": [
            {"month": one, "label": one.label(_language()), "days": one.days(_language()), "total": total}
            for one, total in accounting.history(month, book)
            if total.messages or one == month
        ],
        "can_price": Perm.SETTINGS_MANAGE in request.permissions,
        "has_prices": bool(book.entries),
    }
    return render(request, "sms/usage.html", context)


def _months(request: MemberRequest) -> tuple[Month, Month]:
    """The month that was asked for, and the current one."""
    zone, language = request.workspace.timezone, request.workspace.language
    current = Month.holding(clock.now(), zone=zone, language=language)
    wanted = current.other(request.GET.get("month", ""))
    return (wanted if wanted.start <= current.start else current), current


def _language() -> str:
    return get_language() or "fa"


def _tables(account: Account) -> list[dict[str, object]]:
    campaigns = account.by(lambda group: group.campaign_id)
    names = campaign_labels(pk for pk, _total in campaigns[:SHOWN] if pk is not None)
    by_campaign = [
        _row(*(names.get(pk, (str(pk), "")) if pk is not None else (_("No campaign"), "")), total)
        for pk, total in campaigns
    ]
    return [
        _table("producer", _("By purpose"), _plain(account, lambda one: one.event_type, event_label)),
        _table("campaign", _("By campaign"), by_campaign),
        _table(
            "line", _("By line"), _plain(account, lambda one: one.line, lambda line: line or _("No line"))
        ),
        _table("script", _("By script"), _plain(account, lambda one: one.script, _script)),
    ]


def _plain(
    account: Account, key: Callable[[Group], str], label: Callable[[str], str]
) -> list[dict[str, object]]:
    return [_row(label(value), "", total) for value, total in account.by(key)]


def _script(script: str) -> str:
    return str(Script(script).label)


def _row(name: str, url: str, total: Total) -> dict[str, object]:
    return {"name": name, "url": url, "total": total}


def _table(key: str, title: str, rows: list[dict[str, object]]) -> dict[str, object]:
    return {"key": key, "title": title, "rows": rows[:SHOWN], "more": max(0, len(rows) - SHOWN)}


@require_safe
@permission_required(Perm.SMS_LOGS_VIEW)
def usage_export(request: MemberRequest, what: str, kind: str) -> HttpResponseBase:
    """The month as xlsx or csv: `summary` by kind of message, `messages` one by one."""
    if kind not in ("xlsx", "csv") or what not in ("summary", "messages"):
        raise Http404
    month, _now = _months(request)
    if kind == "xlsx" and what == "messages" and _too_many(month):
        messages.error(request, _too_many_text())
        return redirect(f"{reverse('sms:usage')}?month={month.key}")
    with transaction.atomic():
        new = {"format": kind, "rows": what, "month": month.key}
        audit.record("sms.usage_exported", entity=(SmsUsage, 0), new=new, user=request.user)
    header, rows = _export(month, what)
    name = f"usage-{month.key}-{what}.{kind}"
    if kind == "csv":
        return csv_response(name, _with_header(header, rows))
    return xlsx_stream(name, month.label(_language()), header, rows)


def _export(month: Month, what: str) -> tuple[list[object], Iterator[list[object]]]:
    book = PriceBook.load()
    account = accounting.account_of(month, book)
    names = campaign_labels(group.campaign_id for group in account.groups if group.campaign_id is not None)
    if what == "summary":
        return exporting.summary_header(), iter(exporting.summary_rows(account, names))
    return exporting.message_header(), exporting.message_rows(month, book, names, _language())


def _with_header(header: list[object], rows: Iterator[list[object]]) -> Iterator[list[object]]:
    yield header
    yield from rows


def _too_many(month: Month) -> bool:
    rows = SmsUsage.objects.filter(sent_on__gte=month.start, sent_on__lt=month.end)
    return rows.count() > exporting.MAX_XLSX_ROWS


def _too_many_text() -> str:
    text = _("A workbook holds at most %(limit)s messages. Download the csv file instead.")
    return text % {"limit": format_number(exporting.MAX_XLSX_ROWS, _language())}


@require_http_methods(["GET", "HEAD", "POST"])
@permission_required(Perm.SETTINGS_MANAGE)
def price_list(request: MemberRequest) -> HttpResponse:
    """The prices with a form for a new one."""
    if request.method != "POST":
        return _prices_page(request, PriceForm(lines=known_lines(), today=_today()))
    form = PriceForm(request.POST, lines=known_lines())
    if not form.is_valid():
        return _prices_page(request, form, status=422)
    try:
        data = form.cleaned_data
        add_price(request.workspace, **{**data, "script": Script(data["script"])}, user=request.user)
    except DomainError as exc:
        form.add_error(None, str(exc))
        return _prices_page(request, form, status=exc.status)
    messages.success(request, _("The price was added."))
    return redirect("sms:prices")


@require_POST
@permission_required(Perm.SETTINGS_MANAGE)
def price_remove(request: MemberRequest, pk: int) -> HttpResponse:
    remove_price(pk, user=request.user)
    messages.success(request, _("The price was removed."))
    return redirect("sms:prices")


def _prices_page(request: MemberRequest, form: PriceForm, *, status: int = 200) -> HttpResponse:
    listed = prices()
    context = {"form": form, "prices": [_price(row, listed, _today()) for row in listed]}
    return render(request, "sms/prices.html", context, status=status)


def _today() -> date:
    return clock.now().astimezone(timezone.get_current_timezone()).date()


def _price(row: SmsPrice, listed: list[SmsPrice], day: date) -> dict[str, object]:
    """The row with its state: in force, over, or not yet."""
    begun = [one for one in listed if (one.line, one.script) == (row.line, row.script)]
    newest = max((one.valid_from for one in begun if one.valid_from <= day), default=None)
    state = "scheduled" if row.valid_from > day else "active" if row.valid_from == newest else "ended"
    labels = {"active": _("In force"), "ended": _("Over"), "scheduled": _("Not yet")}
    return {"row": row, "state": state, "label": labels[state], "dialog": f"price-{row.pk}"}
