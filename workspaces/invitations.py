"""The link with which a new member sets their first password: for one person, once, for a few days.

The token is made from the account's password hash and last sign-in, so it dies when a password is
set; nothing of it is stored.
"""

from __future__ import annotations

from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.http import HttpRequest
from django.urls import reverse
from django.utils.encoding import force_bytes, force_str
from django.utils.http import urlsafe_base64_decode, urlsafe_base64_encode

from workspaces.models import User


class _InvitationTokens(PasswordResetTokenGenerator):
    key_salt = "workspaces.invitation"


_tokens = _InvitationTokens()


def link_for(request: HttpRequest, user: User) -> str:
    """The full address to hand to the person."""
    who = urlsafe_base64_encode(force_bytes(user.pk))
    path = reverse("workspaces:invitation", kwargs={"who": who, "token": _tokens.make_token(user)})
    return request.build_absolute_uri(path)


def person_of(who: str, token: str) -> User | None:
    """The person a link was made for; None when it was used, is too old, or was never ours."""
    try:
        user = User.objects.filter(pk=int(force_str(urlsafe_base64_decode(who))), is_active=True).first()
    except (ValueError, OverflowError):
        return None
    if user is None or user.has_usable_password() or not _tokens.check_token(user, token):
        return None
    return user
