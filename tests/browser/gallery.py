"""A page with every component, for looking and for tests. Also its own URL configuration; never shipped."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import include, path
from django.utils.translation import gettext as _
from django.views.generic import RedirectView

from core import announce, clock
from core.formfields import DigitsIntegerField, JalaliDateField
from tests.browser.sample import ROWS, STATUSES


class CampaignForm(forms.Form):
    name = forms.CharField(label="نام کمپین", help_text="فقط همکاران شما آن را می‌بینند.")
    email = forms.EmailField(label="رایانامه", required=False)
    daily_limit = DigitsIntegerField(label="سقف روزانه", min_value=1, help_text="تعداد پیامک در هر روز")
    starts_on = JalaliDateField(label="روز آغاز", required=False)
    workflow = forms.ChoiceField(label="گردش‌کار", choices=[("1", "خوش‌آمد"), ("2", "یادآوری تمدید")])
    audience = forms.ChoiceField(
        label="گیرندگان", choices=[("all", "همهٔ مخاطبان"), ("list", "یک فهرست")], widget=forms.RadioSelect
    )
    days = forms.MultipleChoiceField(
        label="روزهای مجاز",
        required=False,
        choices=[("sat", "شنبه"), ("sun", "یکشنبه"), ("fri", "جمعه")],
        widget=forms.CheckboxSelectMultiple,
    )
    body = forms.CharField(label="متن پیامک", widget=forms.Textarea)
    file = forms.FileField(label="پروندهٔ مخاطبان", required=False)
    agree = forms.BooleanField(label="لینک لغو عضویت به انتهای پیام افزوده شود", required=False)


class FilterForm(forms.Form):
    q = forms.CharField(label="جست‌وجو", required=False)
    status = forms.ChoiceField(label="وضعیت", required=False, choices=[("", "همه"), ("active", "فعال")])
    since = JalaliDateField(label="از تاریخ", required=False)


class Sara:
    is_authenticated = True
    email = "sara@example.org"

    def __str__(self) -> str:
        return "سارا رضایی"


def _dress(request: HttpRequest) -> None:
    """What the middleware would have put on the request of a signed-in owner."""
    here = SimpleNamespace(pk=1, name="فروشگاه آفتاب")
    request.user = Sara()  # type: ignore[assignment]
    request.workspace = here  # type: ignore[attr-defined]
    request.workspace_choices = [here, SimpleNamespace(pk=2, name="Night Shop")]  # type: ignore[attr-defined]
    request.permissions = frozenset({"all"})  # type: ignore[attr-defined]


def components(request: HttpRequest) -> HttpResponse:
    _dress(request)
    filled = {
        "name": "",
        "daily_limit": "abc",
        "audience": "all",
        "body": "سلام {first_name} عزیز",
        "email": "x",
    }
    if "toast" in request.GET:
        messages.success(request, "کمپین ذخیره شد.")
    now = clock.now()
    context: dict[str, Any] = {
        "form": CampaignForm(),
        "bound": CampaignForm(filled, prefix="b"),
        "filter_form": FilterForm(request.GET),
        "page": Paginator(range(1234), 50).page(4),
        "rows": [row | {"at": now - timedelta(minutes=7 * i * i)} for i, row in enumerate(ROWS)],
        "statuses": STATUSES,
        "now": now,
        "soon": now + timedelta(hours=3),
        "tab_items": [
            {"label": _("Overview"), "url": "#", "current": True},
            {"label": _("People"), "url": "#", "current": False, "count": 1234},
            {"label": _("Events"), "url": "#", "current": False},
        ],
        "wizard": [
            {"label": "بارگذاری", "state": "done", "url": "#"},
            {"label": "ستون‌ها", "state": "current"},
            {"label": "پیش‌نمایش", "state": "todo"},
            {"label": "پایان", "state": "todo"},
        ],
        "health": [
            {"label": "زمان‌بند", "ok": True, "text": "آخرین نشانه ۱ دقیقه پیش"},
            {"label": "درگاه پیامک", "ok": False, "text": "پاسخ نمی‌دهد"},
            {"label": "وب‌هوک", "ok": None},
        ],
    }
    return render(request, "gallery/components.html", context)


def sign_in(request: HttpRequest) -> HttpResponse:
    return render(request, "gallery/auth.html", {"form": CampaignForm()})


def error(request: HttpRequest, name: str) -> HttpResponse:
    _dress(request)
    return render(request, f"errors/{name}.html", {"error": "این کمپین در حال اجراست."})


def ping(request: HttpRequest) -> HttpResponse:
    return announce.announce(HttpResponse("<p id='ping-result'>pong</p>"), "ذخیره شد", focus="ping-result")


def refuse(request: HttpRequest) -> HttpResponse:
    _dress(request)
    return render(request, "errors/refused.html", {"error": "کمپین در حال اجراست."}, status=409)


def done(request: HttpRequest) -> HttpResponse:
    return HttpResponse(status=204)


_names = ("sign-in", "sign-out", "set-language", "switch", "account", "workspace-list")
workspaces_urls = (
    [path("", components, name="home"), *(path(f"{n}/", done, name=n) for n in _names)],
    "workspaces",
)
sections = [path(f"section-{i}/", components, name=f"section-{i}") for i in range(1, 10)]
urlpatterns = [
    path("auth/", sign_in),
    path("error/<str:name>/", error),
    path("ping/", ping, name="ping"),
    path("refuse/", refuse, name="refuse"),
    path("moved/", RedirectView.as_view(url="/auth/"), name="moved"),
    *sections,
    path("", include(workspaces_urls)),
]
