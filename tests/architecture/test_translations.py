"""The check of the Persian texts finds what it is for.

That nothing is missing is said by `script/translations --check`.
"""

from __future__ import annotations

from pathlib import Path

import polib
import pytest

from script import translations


def _entry(msgid: str, msgstr: str, **more: object) -> polib.POEntry:
    return polib.POEntry(msgid=msgid, msgstr=msgstr, **more)


def _problems(entry: polib.POEntry) -> list[str]:
    return list(translations.entry_problems(entry))


def test_a_good_translation_has_no_problem() -> None:
    assert _problems(_entry("%(n)s people, really?", "%(n)s نفر، واقعاً؟")) == []


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        (_entry("Save", ""), "has no translation"),
        (_entry("Save", "ذخیره", flags=["fuzzy"]), "is fuzzy"),
        (_entry("%(n)s people", "چند نفر"), "needs the placeholders %(n)s"),
        (_entry("{name} is here", "{nam} اینجاست"), "needs the placeholders {name}"),
        (_entry("Week", "يک هفته"), "has Arabic letters (ي, ى or ك)"),
        (_entry("Really?", "واقعاً?"), "has a Latin comma, semicolon or question mark after Persian"),
        (_entry("a", "", msgid_plural="b", msgstr_plural={0: "الف"}), "needs two plural forms"),
    ],
)
def test_a_fault_is_named(entry: polib.POEntry, problem: str) -> None:
    assert _problems(entry) == [problem]


def test_texts_of_python_are_found_with_their_place(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        "from django.utils.translation import gettext_lazy as _, ngettext\n\n"
        'x = _("One")\ny = ngettext("%(n)s dog", "%(n)s dogs", 2)\nz = _(x)\n'
    )
    assert translations.used_texts(tmp_path) == {
        (None, "One", ""): "a.py:3",
        (None, "%(n)s dog", "%(n)s dogs"): "a.py:4",
    }


def test_an_underscore_that_is_not_gettext_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text('def _(x): return x\n_("One")\n')
    assert translations.used_texts(tmp_path) == {}


def test_texts_of_templates_are_found_with_their_place(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<p>\n{% translate "One" %}\n{{ x|default:_("Two") }}\n'
        "{% blocktranslate count n=n %}{{ n }} dog{% plural %}{{ n }} dogs{% endblocktranslate %}\n"
        '{% include "b.html" with title=_("Three") %}'
    )
    assert translations.used_texts(tmp_path) == {
        (None, "One", ""): "a.html:2",
        (None, "Two", ""): "a.html:3",
        (None, "%(n)s dog", "%(n)s dogs"): "a.html:4",
        (None, "Three", ""): "a.html:5",
    }


def test_a_text_without_translation_is_named() -> None:
    catalogue = polib.POFile()
    catalogue.append(_entry("One", "یک"))
    used: dict[translations.Key, str] = {(None, "One", ""): "a.py:1", (None, "Two", ""): "a.py:2"}
    assert translations.missing(used, catalogue) == ["a.py:2 'Two' has no entry"]


def test_two_parts_may_not_translate_one_text_differently(tmp_path: Path) -> None:
    (tmp_path / "a.po").write_text('msgid "Save"\nmsgstr "ذخیره"\n', encoding="utf-8")
    (tmp_path / "b.po").write_text('msgid "Save"\nmsgstr "ثبت"\n', encoding="utf-8")
    _catalogue, problems = translations.merged(tmp_path)
    assert problems == ["b.po:1 'Save' is translated otherwise in a.po:1"]
