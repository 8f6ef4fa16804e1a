"""Who the tests are about: people with a role in a workspace, and browsers they are signed in with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.http import HttpResponse
from django.test import Client

from workspaces.models import Membership, Role, User, Workspace

if TYPE_CHECKING:
    # What the test client answers with: a response that knows its templates, context and request.
    from django.test.client import _MonkeyPatchedWSGIResponse

    Answer = _MonkeyPatchedWSGIResponse
else:
    Answer = HttpResponse

PASSWORD = "saffron-kettle-77"
BACKEND = "django.contrib.auth.backends.ModelBackend"


def make_workspace(slug: str = "kaveh", *, name: str = "", language: str = "fa") -> Workspace:
    return Workspace.objects.create(slug=slug, name=name or slug.title(), language=language)


def make_user(email: str, *, full_name: str = "", language: str = "") -> User:
    """A person who signs in with PASSWORD."""
    return User.objects.create_user(email, PASSWORD, full_name=full_name, language=language)


def make_member(workspace: Workspace, role: str = Role.MARKETER, *, email: str = "") -> User:
    """A person with `role` in `workspace`."""
    user = make_user(email or f"{role}@{workspace.slug}.example", full_name=f"{role} {workspace.slug}")
    Membership.unscoped.create(workspace=workspace, user=user, role=role)
    return user


def client_of(user: User, *, language: str = "fa", enforce_csrf_checks: bool = False) -> Client:
    """A browser in which `user` is signed in and reads `language`."""
    client = Client(enforce_csrf_checks=enforce_csrf_checks)
    client.force_login(user, backend=BACKEND)
    return in_language(client, language)


def in_language(client: Client, language: str) -> Client:
    """The same browser, its pages in "fa" or "en" unless the person's own setting says otherwise."""
    client.cookies[settings.LANGUAGE_COOKIE_NAME] = language
    return client
