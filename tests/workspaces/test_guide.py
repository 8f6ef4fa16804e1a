"""The user guide: what it allows, and that it speaks of pages as they are, in both languages."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

import pytest
from django.test import Client
from django.urls import reverse

from tests import sample_site
from tests.architecture.url_matrix import MATRIX, PUBLIC
from tests.browser import tour
from tests.clocks import MovableClock
from tests.people import client_of
from workspaces import guide
from workspaces.guide import GuideError

LANGUAGES = ("fa", "en")
CHAPTERS = [(language, slug) for language in LANGUAGES for slug in guide.CHAPTERS]
# Words of pages that the sample cannot stand on: a draft's own, a background job's, an empty one's.
ELSEWHERE = {
    "en": {"Match the columns"},
    "fa": {"تطبیق ستون‌ها"},
}


def source(language: str, slug: str) -> str:
    return (guide.FOLDER / language / f"{slug}.md").read_text(encoding="utf-8")


def test_every_file_is_a_chapter_and_every_chapter_a_file() -> None:
    for language in LANGUAGES:
        assert {file.stem for file in (guide.FOLDER / language).glob("*.md")} == set(guide.CHAPTERS)


@pytest.mark.parametrize(("language", "slug"), CHAPTERS)
def test_a_link_leads_to_a_heading_that_is_there(language: str, slug: str) -> None:
    for target, name in re.findall(r"\]\(([a-z]+)\.md#([^)]+)\)", source(language, slug)):
        assert name in dict(guide.chapter(language, target).sections)


@pytest.mark.parametrize("slug", guide.CHAPTERS)
def test_both_languages_tell_the_same(slug: str) -> None:
    fa, en = (source(language, slug) for language in LANGUAGES)

    assert guide.picture_names(fa) == guide.picture_names(en)
    assert len(guide.chapter("fa", slug).sections) == len(guide.chapter("en", slug).sections)
    assert re.findall(r"\(([a-z]+\.md)", fa) == re.findall(r"\(([a-z]+\.md)", en)


@pytest.mark.parametrize(
    "text",
    ["no title", "# T\n\n[out](https://example.com/)", "# T\n\n[no](nothing.md)", "# T\n\ntext ![x](/x.png)"],
)
def test_what_a_chapter_may_not_hold_is_an_error(text: str) -> None:
    with pytest.raises(GuideError):
        guide.render("start", text, language="en", pictures=frozenset())


def test_markup_in_a_chapter_is_shown_as_text() -> None:
    body = guide.render("start", "# T\n\n<script>alert(1)</script>", language="en", pictures=frozenset()).body

    assert "<script" not in body


def test_a_picture_that_was_not_made_is_left_out() -> None:
    text = "# T\n\nBefore.\n\n![A page](pictures/sms-usage.webp)\n\nAfter."

    assert "<img" not in guide.render("usage", text, language="en", pictures=frozenset()).body
    assert (
        "/help/pictures/en/sms-usage.webp"
        in guide.render("usage", text, language="en", pictures=frozenset({"sms-usage"})).body
    )


def test_every_page_has_a_chapter_of_its_own_to_open(member_client: Client) -> None:
    without = {
        name for name, row in MATRIX.items()
        if row.methods.get("GET", PUBLIC) not in (PUBLIC, "signed-in", "member")
        and not (row.json or name.startswith("json:") or guide.chapter_about(name))
    }  # fmt: skip

    assert without == set()
    assert set(guide.ABOUT.values()) <= set(guide.CHAPTERS)


def test_a_page_links_to_its_chapter(member_client: Client) -> None:
    page = member_client.get(reverse("blacklist:list")).content.decode()

    assert f'href="{reverse("workspaces:guide-chapter", kwargs={"chapter": "blacklist"})}"' in page


def test_a_made_picture_is_served_and_nothing_beside_it(
    member_client: Client, tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "fa").mkdir()
    (tmp_path / "fa" / "sms-usage.webp").write_bytes(b"RIFF")
    (tmp_path / "fa" / "other.png").write_bytes(b"x")
    monkeypatch.setattr(guide, "PICTURES", tmp_path)

    def status(name: str) -> int:
        kwargs = {"language": "fa", "name": name}
        return member_client.get(reverse("workspaces:guide-picture", kwargs=kwargs)).status_code

    assert (status("sms-usage"), status("other"), status("sms-logs")) == (200, 404, 404)


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_the_guide_calls_by_name_stands_on_a_page(clock: MovableClock, language: str, db: None) -> None:
    site = sample_site.build(clock)
    client = client_of(site.owner, language=language)
    stops = list(tour.stops(site, client))
    words = {word for stop in stops for word in words_of(client.get(stop.address).content.decode())}
    named = {label for slug in guide.CHAPTERS for label in guide.labels(source(language, slug))}

    assert sorted(named - words - ELSEWHERE[language]) == []
    assert {tour.picture_name(stop.name) for stop in stops} >= {
        name for slug in guide.CHAPTERS for name in guide.picture_names(source(language, slug))
    }


def words_of(page: str) -> Iterator[str]:
    """Every piece of text between two tags, and every accessible name."""
    for piece in [*re.findall(r">([^<>]+)<", page), *re.findall(r'aria-label="([^"]+)"', page)]:
        text = " ".join(html.unescape(piece).split())
        if text:
            yield text
