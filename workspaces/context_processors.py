"""What the shell shows on every page that the lower apps cannot know of."""

from __future__ import annotations

from django.http import HttpRequest

from core import navigation
from workspaces import guide


def help_for_page(request: HttpRequest) -> dict[str, str]:
    """`guide_url`: the chapter about this page, the guide's first one, or "" on a site without a guide."""
    first = navigation.resolve("workspaces:guide")
    match = request.resolver_match
    slug = guide.chapter_about(match.view_name) if match and first else ""
    return {"guide_url": f"{first}{slug}" if first else ""}
