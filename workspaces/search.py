"""One search over everything. Apps above register what they hold; this app imports none of them.

    search.register("targets.people", Source(label=_("People"), icon="targets", find=find_people,
                    permission=SEES_PEOPLE, order=10))

`find` is called with the request of a signed-in member, inside the workspace's scope, for text that says
something; it answers what this member may see, the best first, in a query or two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from django.utils.functional import Promise

from core.phones import PhoneError, parse_phone
from core.text import search_key
from workspaces.http import MemberRequest

MAX_TEXT: Final = 100
MAX_WORDS: Final = 8
SHORTEST: Final = 2  # letters or digits below which half of everything would fit
ON_PAGE, SUGGESTED = 20, 5
NAMES: Final = 2_000  # newest rows whose names are compared letter by letter

Text = str | Promise


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was typed, in the form that spellings share. `number`: the canonical number it is, if it is one.

    `digits`: what stands in a stored number when a part of one was typed, whatever its spelling.
    """

    typed: str
    words: tuple[str, ...]
    number: str = ""
    digits: str = ""

    @classmethod
    def read(cls, typed: str) -> Wanted:
        """Never raises; text that says too little has no words."""
        text = typed[:MAX_TEXT]
        key = search_key(text)
        words = tuple(key.split()[:MAX_WORDS])
        if len(key.replace(" ", "")) < SHORTEST:
            return cls(text.strip(), ())
        try:
            return cls(text.strip(), words, parse_phone(text).value)
        except PhoneError:
            return cls(text.strip(), words, digits=_part_of_number(key))

    def fits(self, text: str) -> bool:
        """Whether every word stands somewhere in `text`, however that is spelt."""
        key = search_key(text)
        return bool(self.words) and all(word in key for word in self.words)


def _part_of_number(key: str) -> str:
    """`+98 912 34` as it stands in a stored number (`091234`); "" for what is no part of one."""
    bare = "".join(char for char in key if char not in "+()/. ")
    if not (bare.isascii() and bare.isdigit() and len(bare) > SHORTEST):
        return ""
    for code in ("0098", "98"):
        if bare.startswith(code) and len(bare) > len(code):
            return f"0{bare[len(code) :]}"
    return bare


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """`hint` stands beside the name; `is_code` says that it is a number or an address, read left to right."""

    label: str
    url: str
    hint: str = ""
    is_code: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """`permission`: who may find these, one key or several of which one is enough. `more` is the page of
    all that fit ("" for none)."""

    label: Text
    icon: str
    find: Callable[[MemberRequest, Wanted, int], Sequence[Hit]]
    permission: str | Sequence[str]
    order: int = 100
    more: Callable[[Wanted], str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    key: str
    label: Text
    icon: str
    hits: Sequence[Hit]
    more: str


_sources: dict[str, Source] = {}


def register(key: str, source: Source) -> None:
    """Add a source, or replace the one of the same key."""
    _sources[key] = source


def unregister(key: str) -> None:
    _sources.pop(key, None)


def results(request: MemberRequest, wanted: Wanted, limit: int) -> list[Group]:
    """What fits, by kind; kinds without a hit are left out."""
    if not wanted.words:
        return []
    found: list[Group] = []
    for key, source in sorted(_sources.items(), key=lambda item: (item[1].order, item[0])):
        needed = [source.permission] if isinstance(source.permission, str) else source.permission
        if request.permissions.isdisjoint(needed):
            continue
        hits = list(source.find(request, wanted, limit + 1))
        if hits:
            more = source.more(wanted) if source.more and len(hits) > limit else ""
            found.append(Group(key=key, label=source.label, icon=source.icon, hits=hits[:limit], more=more))
    return found


def named(rows: Iterable[tuple[int, str]], wanted: Wanted, limit: int) -> list[tuple[int, str]]:
    """Those of (id, name) whose name fits, at most `limit`, in their order."""
    found: list[tuple[int, str]] = []
    for pk, name in rows:
        if wanted.fits(name):
            found.append((pk, name))
            if len(found) == limit:
                break
    return found
