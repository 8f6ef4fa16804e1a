"""Persian texts: merges the parts, checks that nothing is missing, compiles.

    script/translations            writes locale/fa/LC_MESSAGES/django.po and .mo from locale/fa/parts/*.po
    script/translations --check    CI: everything is translated, well formed, and the two files are up to date

English is the language of the source, so only Persian has a catalogue. Needs polib, no gettext binaries;
the site itself reads the committed .mo and needs neither.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polib
from django.utils.translation.template import templatize

ROOT = Path(__file__).resolve().parent.parent
SKIPPED = {"tests", "migrations", "static", "var", "bench", "docs", "script", "locale", "node_modules"}
SINGULAR = {"gettext": 0, "gettext_lazy": 0, "gettext_noop": 0, "pgettext": 1, "pgettext_lazy": 1}
PLURAL = {"ngettext": 0, "ngettext_lazy": 0, "npgettext": 1, "npgettext_lazy": 1}
_STRING = r"""u?(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_CALL = re.compile(rf"\b(_|n?p?gettext)\(({_STRING}(?:,\s*{_STRING})*)")
_LITERAL = re.compile(_STRING)
_PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|%[sd]|\{\w*\}|\[n\]")
_FOREIGN_LETTERS = re.compile("[يكى]")
_LATIN_MARKS = re.compile(r"[\u0600-\u06ff\u200c][,;?]")
METADATA = {
    "Project-Id-Version": "peyk",
    "Language": "fa",
    "MIME-Version": "1.0",
    "Content-Type": "text/plain; charset=UTF-8",
    "Content-Transfer-Encoding": "8bit",
    "Plural-Forms": "nplurals=2; plural=(n > 1);",
}

Key = tuple[str | None, str, str]  # context, msgid, plural msgid or ""


@dataclass(frozen=True, slots=True)
class Use:
    """A text in the source and the first place it stands."""

    key: Key
    place: str


def _sources(root: Path) -> Iterator[Path]:
    for path in sorted(root.rglob("*")):
        parts = path.relative_to(root).parts
        hidden = any(part.startswith(".") or part in SKIPPED for part in parts)
        if not hidden and path.suffix in (".py", ".html", ".txt") and "requirements" not in path.name:
            yield path


def _aliases(tree: ast.Module) -> dict[str, str]:
    """Local names of the gettext functions a module imports."""
    return {
        alias.asname or alias.name: alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "django.utils.translation"
        for alias in node.names
        if alias.name in SINGULAR | PLURAL
    }


def _key(function: str, texts: list[str | None]) -> Key | None:
    at = (SINGULAR | PLURAL)[function]
    wanted = texts[: at + (2 if function in PLURAL else 1)]
    known = [text for text in wanted if text is not None]
    if len(known) != len(wanted) or not known:
        return None  # a variable: its text is marked where it is written
    context = known[0] if at else None
    return context, known[at], known[at + 1] if function in PLURAL else ""


def python_uses(path: Path, root: Path) -> Iterator[Use]:
    """Texts given to gettext functions as literals."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = _aliases(tree)
    for node in ast.walk(tree) if names else ():
        function = node.func if isinstance(node, ast.Call) else None
        if not isinstance(node, ast.Call) or not isinstance(function, ast.Name) or function.id not in names:
            continue
        values = [arg.value if isinstance(arg, ast.Constant) else None for arg in node.args]
        key = _key(names[function.id], [v if isinstance(v, str) else None for v in values])
        if key is not None:
            yield Use(key, f"{path.relative_to(root)}:{node.lineno}")


def template_uses(path: Path, root: Path) -> Iterator[Use]:
    """Texts of translate, blocktranslate and _("…") in a template."""
    source = templatize(path.read_text(encoding="utf-8"))
    for match in _CALL.finditer(source):
        function = "gettext" if match.group(1) == "_" else match.group(1)
        texts: list[str | None] = [ast.literal_eval(text) for text in _LITERAL.findall(match.group(2))]
        key = _key(function, texts)
        if key is not None:
            yield Use(key, f"{path.relative_to(root)}:{source.count(chr(10), 0, match.start()) + 1}")


def used_texts(root: Path = ROOT) -> dict[Key, str]:
    """Every text of the source with the place it is first used."""
    found: dict[Key, str] = {}
    for path in _sources(root):
        uses = python_uses(path, root) if path.suffix == ".py" else template_uses(path, root)
        for use in uses:
            found.setdefault(use.key, use.place)
    return found


def _entry_key(entry: polib.POEntry) -> Key:
    return entry.msgctxt, entry.msgid, entry.msgid_plural or ""


def _translations(entry: polib.POEntry) -> list[str]:
    return (
        [text for _n, text in sorted(entry.msgstr_plural.items())] if entry.msgid_plural else [entry.msgstr]
    )


def entry_problems(entry: polib.POEntry) -> Iterator[str]:
    """What is wrong with one translation: empty, fuzzy, other placeholders, Arabic letters, Latin marks."""
    texts = _translations(entry)
    if not all(texts):
        yield "has no translation"
    if entry.fuzzy:
        yield "is fuzzy"
    if entry.msgid_plural and len(texts) != 2:
        yield "needs two plural forms"
    wanted = sorted(_PLACEHOLDER.findall(entry.msgid_plural or entry.msgid))
    for text in filter(None, texts):
        if sorted(_PLACEHOLDER.findall(text)) != wanted:
            yield f"needs the placeholders {', '.join(wanted) or '(none)'}"
        if _FOREIGN_LETTERS.search(text):
            yield "has Arabic letters (ي, ى or ك)"
        if _LATIN_MARKS.search(text):
            yield "has a Latin comma, semicolon or question mark after Persian"


def merged(folder: Path) -> tuple[polib.POFile, list[str]]:
    """One catalogue of all parts, sorted, and the problems found on the way."""
    catalogue = polib.POFile(wrapwidth=100)
    catalogue.metadata = dict(METADATA)
    problems: list[str] = []
    seen: dict[Key, tuple[list[str], str]] = {}
    for path in sorted(folder.glob("*.po")):
        for entry in polib.pofile(str(path), encoding="utf-8"):
            if entry.obsolete:
                continue
            place = f"{path.name}:{entry.linenum or 1}"
            problems += [f"{place} {entry.msgid!r} {problem}" for problem in entry_problems(entry)]
            key, texts = _entry_key(entry), _translations(entry)
            if key not in seen:
                seen[key] = (texts, place)
                clean = polib.POEntry(msgid=entry.msgid, msgstr=entry.msgstr, msgctxt=entry.msgctxt)
                clean.msgid_plural, clean.msgstr_plural = entry.msgid_plural, entry.msgstr_plural
                catalogue.append(clean)
            elif seen[key][0] != texts:
                problems.append(f"{place} {entry.msgid!r} is translated otherwise in {seen[key][1]}")
    catalogue.sort(key=lambda entry: (entry.msgid, entry.msgctxt or ""))
    return catalogue, problems


def missing(used: dict[Key, str], catalogue: polib.POFile) -> list[str]:
    """Texts of the source without an entry; a plural needs a plural entry."""
    known = {_entry_key(entry) for entry in catalogue}
    return [f"{place} {key[1]!r} has no entry" for key, place in used.items() if key not in known]


def _stale(catalogue: polib.POFile, target: Path) -> list[str]:
    written = target.read_text(encoding="utf-8") if target.exists() else ""
    binary = target.with_suffix(".mo")
    compiled = binary.read_bytes() if binary.exists() else b""
    if written.strip() == str(catalogue).strip() and compiled == catalogue.to_binary():
        return []
    return [f"{target.relative_to(ROOT)} is not what the parts give: run script/translations"]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 if anything is missing or stale"
    )
    parser.add_argument("--unused", action="store_true", help="also list translations that no source uses")
    options = parser.parse_args()
    locale = ROOT / "locale" / "fa"
    target = locale / "LC_MESSAGES" / "django.po"
    catalogue, problems = merged(locale / "parts")
    used = used_texts()
    problems += missing(used, catalogue)
    if options.check:
        problems += _stale(catalogue, target)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        catalogue.save(str(target))
        catalogue.save_as_mofile(str(target.with_suffix(".mo")))
    if options.unused:
        print(*(f"unused: {e.msgid!r}" for e in catalogue if _entry_key(e) not in used), sep="\n")
    print(*problems, sep="\n", file=sys.stderr) if problems else None
    print(f"{len(catalogue)} Persian texts, {len(used)} in the source, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
