"""People for the search over everything: by name, by number in any spelling or part of it, by code."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from targets import queries
from workspaces.http import MemberRequest
from workspaces.search import Hit, Source, Wanted
from workspaces.search import register as register_source


def find_people(request: MemberRequest, wanted: Wanted, limit: int) -> Sequence[Hit]:
    """Those this member may see, the newest first. One query, answered from rows that are met first."""
    people = queries.visible_to(request.membership).filter(_condition(wanted)).order_by("-pk")[:limit]
    return [
        Hit(
            label=target.display_name or _("No name"),
            hint=target.mobile or target.landline,
            is_code=True,
            url=reverse("targets:detail", args=[target.pk]),
        )
        for target in people
    ]


def _condition(wanted: Wanted) -> Q:
    if wanted.number:
        return Q(mobile=wanted.number) | Q(landline=wanted.number)
    words = Q()
    for word in wanted.words:
        words &= Q(search_text__contains=word)
    return words | Q(search_text__contains=wanted.digits) if wanted.digits else words


def all_people(wanted: Wanted) -> str:
    """The list page with the same text."""
    return f"{reverse('targets:list')}?{urlencode({'q': wanted.typed})}"


def register(permission: Sequence[str]) -> None:
    """Called once, when the app is ready."""
    source = Source(
        label=gettext_lazy("People"), icon="targets", find=find_people, permission=permission, order=10,
        more=all_people,
    )  # fmt: skip
    register_source("targets.people", source)
