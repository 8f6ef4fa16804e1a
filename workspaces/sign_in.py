"""Signing in and out, and what somebody sees who guessed too often.

Guessing is counted three ways: by person and address, by address, and by person alone. The last
one would let anybody lock somebody out, so a browser in which that person has signed in before
(it holds a signed cookie) is not stopped by it.
"""

from __future__ import annotations

from typing import Any, cast

from django import forms
from django.conf import settings
from django.contrib.auth import authenticate, login, logout
from django.core import signing
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.decorators import method_decorator
from django.utils.translation import gettext_lazy as _
from django.views import View
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from workspaces.addresses import next_url
from workspaces.http import wants_json
from workspaces.models import User

WRONG = _("The e-mail or the password is not right.")
TOO_OFTEN = _("Too many attempts. Wait a quarter of an hour and try again.")
DEVICE_COOKIE = "__Host-device" if settings.HTTPS else "peyk_device"
DEVICE_SALT = "workspaces.known-device"
DEVICE_AGE_S = 180 * 24 * 3600


class SignInForm(forms.Form):
    """`username` is the e-mail: the name under which browsers keep it beside the password."""

    username = forms.EmailField(
        label=_("E-mail"),
        max_length=254,
        widget=forms.EmailInput(attrs={"autocomplete": "username", "dir": "ltr", "autofocus": True}),
    )
    password = forms.CharField(
        label=_("Password"),
        max_length=200,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password", "dir": "ltr"}),
    )

    def __init__(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        self.request = request
        self.user: User | None = None
        super().__init__(*args, **kwargs)

    def clean(self) -> dict[str, Any]:
        """One refusal for an unknown person, a wrong password and a closed account alike."""
        email, password = self.cleaned_data.get("username"), self.cleaned_data.get("password")
        if email and password:
            self.user = authenticate(self.request, username=email.lower(), password=password)
            if self.user is None:
                raise forms.ValidationError(WRONG, code="wrong")
        return self.cleaned_data


class SignInView(View):
    @method_decorator(never_cache)
    @method_decorator(sensitive_post_parameters("password"))
    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return cast(HttpResponse, super().dispatch(request, *args, **kwargs))

    def get(self, request: HttpRequest) -> HttpResponse:
        if request.user.is_authenticated:
            return redirect(next_url(request))
        return _page(request, SignInForm(request))

    def post(self, request: HttpRequest) -> HttpResponse:
        form = SignInForm(request, request.POST)
        if not form.is_valid() or form.user is None:
            return _page(request, form, status=422)
        login(request, form.user)  # a new session id: one planted before is worthless
        response = redirect(next_url(request))
        remember_device(response, form.user)
        return response


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    return redirect("workspaces:sign-in")


def _page(request: HttpRequest, form: SignInForm, *, status: int = 200) -> HttpResponse:
    context = {"form": form, "next": next_url(request)}
    return render(request, "workspaces/sign_in.html", context, status=status)


def locked_out(request: HttpRequest, *_args: Any, **_kwargs: Any) -> HttpResponse:
    """The answer to a sign-in from somebody who guessed too often. Says nothing about the person."""
    if wants_json(request):
        return JsonResponse({"error": str(TOO_OFTEN), "code": "too_many_attempts"}, status=429)
    response = render(request, "workspaces/locked_out.html", {"next": next_url(request)}, status=429)
    response["Retry-After"] = str(round(settings.AXES_COOLOFF_TIME * 3600))
    return response


def lockout_parameters(request: Any, credentials: dict[str, Any] | None = None) -> list[Any]:
    """What wrong passwords are counted by (see the module's text). `request` may be a stored attempt.

    The same list says what a success forgets. Somebody who just signed in clears what was counted for
    themselves at their address and no more: else one good account would wash off every guess at others.
    """
    if isinstance(request, HttpRequest):
        email = str((credentials or request.POST).get("username") or "").lower()
        if knows_device(request, email) or _is_signed_in_as(request, email):
            return [["username", "ip_address"]]
    return [["username", "ip_address"], "ip_address", "username"]


def _is_signed_in_as(request: HttpRequest, email: str) -> bool:
    user = getattr(request, "user", None)
    return bool(email and isinstance(user, User) and user.email == email)


def remember_device(response: HttpResponse, user: User) -> None:
    """Mark this browser as one in which `user` has signed in."""
    response.set_cookie(
        DEVICE_COOKIE,
        signing.dumps(user.email, salt=DEVICE_SALT),
        max_age=DEVICE_AGE_S,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def knows_device(request: HttpRequest, email: str) -> bool:
    """Whether the person with this e-mail (in lower case) has signed in from this browser before."""
    try:
        known = signing.loads(request.COOKIES.get(DEVICE_COOKIE, ""), salt=DEVICE_SALT, max_age=DEVICE_AGE_S)
    except signing.BadSignature:
        return False
    return bool(email) and known == email
