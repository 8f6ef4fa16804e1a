"""One's own account: name, language, password; and the first password of an invited person."""

from __future__ import annotations

from typing import cast

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login, update_session_auth_hash
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from workspaces import actions, invitations
from workspaces.decorators import sign_in_required
from workspaces.forms import AccountForm, ChangePasswordForm, FirstPasswordForm
from workspaces.http import UserRequest
from workspaces.models import User
from workspaces.sign_in import remember_device

FORM_METHODS = ["GET", "HEAD", "POST"]
PASSWORD_BACKEND = "django.contrib.auth.backends.ModelBackend"  # noqa: S105  # a class, not a password


@require_http_methods(FORM_METHODS)
@sign_in_required
def account(request: UserRequest) -> HttpResponse:
    user = User.objects.get(pk=request.user.pk)  # a refused form must not rename the person in the shell
    form = AccountForm(request.POST or None, instance=user)
    if request.method == "POST" and form.is_valid():
        actions.change_person(user, **{key: form.cleaned_data[key] for key in ("full_name", "language")})
        messages.success(request, _("Your account was saved."))
        response = redirect("workspaces:account")
        if not user.language:
            response.delete_cookie(settings.LANGUAGE_COOKIE_NAME)
        return response
    status = 422 if form.is_bound else 200
    return render(request, "workspaces/account.html", {"form": form}, status=status)


@sensitive_post_parameters()
@never_cache
@require_http_methods(FORM_METHODS)
@sign_in_required
def change_password(request: UserRequest) -> HttpResponse:
    """A new password ends every other session of the person at its next request."""
    form = ChangePasswordForm(request.user, request.POST or None)
    if request.method == "POST" and form.is_valid():
        update_session_auth_hash(request, cast(User, form.save()))
        messages.success(request, _("The password was changed. Other devices are signed out."))
        return redirect("workspaces:account")
    return render(
        request, "workspaces/change_password.html", {"form": form}, status=422 if form.is_bound else 200
    )


@sensitive_post_parameters()
@never_cache
@require_http_methods(FORM_METHODS)
def invitation(request: HttpRequest, who: str, token: str) -> HttpResponse:
    """Set the first password and walk in. 410 for a link that was used, is too old or was never ours."""
    person = invitations.person_of(who, token)
    if person is None:
        return render(request, "workspaces/invitation_over.html", status=410)
    form = FirstPasswordForm(person, request.POST or None)
    if request.method == "POST" and form.is_valid():
        form.save()
        login(request, person, backend=PASSWORD_BACKEND)
        response = redirect("workspaces:home")
        remember_device(response, person)
        return response
    context = {"form": form, "person": person}
    return render(request, "workspaces/invitation.html", context, status=422 if form.is_bound else 200)
