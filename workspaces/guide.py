"""The user guide inside the product: `docs/guide/<language>/<chapter>.md`, rendered at the first visit.

The files are read by people who have no Peyk as well, so they hold plain Markdown: no HTML, links to each
other by file name, pictures as `pictures/<name>.webp`. Pictures are made by `script/guide` and are no part
of the repository; one that was not made is left out and the text reads on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from django.conf import settings
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

FOLDER: Final = Path(settings.BASE_DIR) / "docs" / "guide"
PICTURES: Final = Path(settings.VAR_DIR) / "guide"
PICTURE_SIZE: Final = (1280, 800)
CHAPTERS: Final = (
    "start", "people", "import", "workflow", "trial", "campaign", "enrol", "run", "person", "blacklist",
    "messages", "usage", "members", "settings", "glossary",
)  # fmt: skip
# The chapter about a page, by the name of its address; the longest beginning that fits counts.
ABOUT: Final = {
    "targets:": "people",
    "targets:detail": "person",
    "targets:import": "import",
    "automation:": "workflow",
    "automation:trial": "trial",
    "automation:publish": "trial",
    "automation:version": "trial",
    "campaigns:": "campaign",
    "campaigns:detail": "run",
    "campaigns:people": "run",
    "campaigns:logs": "run",
    "campaigns:health": "run",
    "campaigns:enrol": "enrol",
    "campaigns:batch": "enrol",
    "campaigns:review": "enrol",
    "campaigns:commit": "enrol",
    "blacklist:": "blacklist",
    "sms:": "messages",
    "sms:usage": "usage",
    "sms:price": "usage",
    "sms:settings": "settings",
    "sms:account": "settings",
    "sms:line-rules": "settings",
    "sms:inbound-settings": "settings",
    "workspaces:member": "members",
    "workspaces:audit": "members",
    "workspaces:settings": "settings",
    "workspaces:token": "settings",
}
_FILE_LINK = re.compile(r"\A([a-z]+)\.md(#[\w-]+)?\Z")
_PICTURE = re.compile(r"\Apictures/([a-z0-9-]+)\.webp\Z")


class GuideError(Exception):
    """A chapter holds something the guide does not allow; the text names it."""


@dataclass(frozen=True, slots=True)
class Chapter:
    """One rendered chapter. `sections` are its second-level headings: id and text."""

    slug: str
    title: str
    body: SafeString
    sections: tuple[tuple[str, str], ...]


def chapter_about(view_name: str) -> str:
    """The chapter that explains the page with this name; "" when none does."""
    fitting = [name for name in ABOUT if view_name.startswith(name)]
    return ABOUT[max(fitting, key=len)] if fitting else ""


def chapter(language: str, slug: str) -> Chapter:
    """`slug` is one of CHAPTERS. Rendered again only when the file or the made pictures changed."""
    file = FOLDER / language / f"{slug}.md"
    return _rendered(language, slug, file.stat().st_mtime_ns, made_pictures(language))


def titles(language: str) -> list[tuple[str, str]]:
    """Every chapter's slug and title, in reading order."""
    return [(slug, chapter(language, slug).title) for slug in CHAPTERS]


def made_pictures(language: str) -> frozenset[str]:
    """Names of the pictures that `script/guide` made."""
    folder = PICTURES / language
    return frozenset(file.stem for file in folder.glob("*.webp")) if folder.is_dir() else frozenset()


def heading_id(text: str) -> str:
    """How code hosts name a heading, so that a link works there and here."""
    return re.sub(r"[^\w -]", "", text.strip().lower()).replace(" ", "-")


@lru_cache(maxsize=4 * len(CHAPTERS))
def _rendered(language: str, slug: str, _changed: int, pictures: frozenset[str]) -> Chapter:
    text = (FOLDER / language / f"{slug}.md").read_text(encoding="utf-8")
    return render(slug, text, language=language, pictures=pictures)


def render(slug: str, text: str, *, language: str, pictures: frozenset[str]) -> Chapter:
    """A chapter's text as HTML. Markup in the text is shown as text; GuideError for a link elsewhere."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = parser.parse(text)
    if not tokens or tokens[0].tag != "h1":
        raise GuideError(f"{slug}: the first line is the title")
    title = tokens[1].content
    tokens = list(_without_missing_pictures(tokens[3:], pictures))
    sections = tuple(_name_headings(tokens))
    for token in _inline(tokens):
        _point(token, slug, language)
    body = parser.renderer.render(tokens, parser.options, {})
    return Chapter(slug, title, mark_safe(_in_boxes(body)), sections)  # noqa: S308  # our files, no HTML in


def _in_boxes(body: str) -> str:
    """A wide table scrolls by itself, like those of the pages."""
    return body.replace("<table>", '<div class="guide-table"><table class="table">').replace(
        "</table>", "</table></div>"
    )


def picture_names(text: str) -> list[str]:
    """The pictures a chapter names, in order."""
    return [
        found[1]
        for token in _inline(MarkdownIt("commonmark").parse(text))
        if token.type == "image" and (found := _PICTURE.match(str(token.attrs["src"])))
    ]


def labels(text: str) -> list[str]:
    """What a chapter says stands on a page: everything in bold."""
    found: list[str] = []
    inside = False
    for token in _inline(MarkdownIt("commonmark").enable("table").parse(text)):
        if token.type == "strong_open":
            found.append("")
        inside = token.type == "strong_open" or (inside and token.type != "strong_close")
        if inside and token.type in ("text", "softbreak"):
            found[-1] += token.content or " "
    return found


def _inline(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield from token.children or ()


def _name_headings(tokens: Sequence[Token]) -> Iterator[tuple[str, str]]:
    for opening, text in pairwise(tokens):
        if opening.type == "heading_open":
            name = heading_id(text.content)
            opening.attrSet("id", name)
            if opening.tag == "h2":
                yield name, text.content


def _without_missing_pictures(tokens: Sequence[Token], pictures: frozenset[str]) -> Iterator[Token]:
    """Leaves out the paragraphs of pictures that were not made."""
    at = 0
    while at < len(tokens):
        name = _only_picture(tokens[at : at + 3])
        if name is None:
            yield tokens[at]
            at += 1
            continue
        if name in pictures:
            yield from tokens[at : at + 3]
        at += 3


def _only_picture(three: Sequence[Token]) -> str | None:
    if len(three) < 3 or three[0].type != "paragraph_open":
        return None
    inside = three[1].children or []
    found = _PICTURE.match(str(inside[0].attrs["src"])) if [t.type for t in inside] == ["image"] else None
    return found[1] if found else None


def _point(token: Token, slug: str, language: str) -> None:
    """Links and pictures get the product's addresses."""
    if token.type == "link_open":
        token.attrSet("href", _address(str(token.attrs["href"]), slug))
    elif token.type == "image":
        found = _PICTURE.match(str(token.attrs["src"]))
        if not found:
            raise GuideError(f"{slug}: a picture from elsewhere: {token.attrs['src']}")
        token.attrs = {**token.attrs, **_picture(language, found[1])}


def _picture(language: str, name: str) -> dict[str, Any]:
    width, height = PICTURE_SIZE
    address = reverse("workspaces:guide-picture", kwargs={"language": language, "name": name})
    return {
        "src": address,
        "width": str(width),
        "height": str(height),
        "loading": "lazy",
        "class": "guide-picture",
    }


def _address(href: str, slug: str) -> str:
    found = _FILE_LINK.match(unquote(href))
    if not found or found[1] not in CHAPTERS:
        raise GuideError(f"{slug}: a link that leads out of the guide: {href}")
    return reverse("workspaces:guide-chapter", kwargs={"chapter": found[1]}) + (found[2] or "")
