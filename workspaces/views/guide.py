"""The user guide, and the pictures in it."""

from __future__ import annotations

from django.conf import settings
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import get_language
from django.views.decorators.http import require_safe

from workspaces import guide
from workspaces.decorators import sign_in_required
from workspaces.http import UserRequest


@require_safe
@sign_in_required
def chapter(request: UserRequest, chapter: str = guide.CHAPTERS[0]) -> HttpResponse:
    """One chapter with the list of all; without a name the first."""
    if chapter not in guide.CHAPTERS:
        raise Http404
    language = (get_language() or "fa").split("-")[0]
    at = guide.CHAPTERS.index(chapter)
    chapters = [
        {"title": title, "url": reverse("workspaces:guide-chapter", kwargs={"chapter": slug}), "slug": slug}
        for slug, title in guide.titles(language)
    ]
    context = {
        "guide_chapter": guide.chapter(language, chapter),
        "chapters": chapters,
        "before": chapters[at - 1] if at else None,
        "after": chapters[at + 1] if at + 1 < len(chapters) else None,
    }
    return render(request, "workspaces/guide.html", context)


@require_safe
@sign_in_required
def picture(_request: UserRequest, language: str, name: str) -> HttpResponse:
    """A picture that was made; the names of those are the only ones ever opened."""
    if language not in dict(settings.LANGUAGES) or name not in guide.made_pictures(language):
        raise Http404
    content = (guide.PICTURES / language / f"{name}.webp").read_bytes()
    response = HttpResponse(content, content_type="image/webp")
    response["Cache-Control"] = "private, max-age=3600"
    return response
