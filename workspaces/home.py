"""What stands on the start page. Apps above register builders; this app imports none of them.

    home.register_step("targets.import", build_step, order=10)
    home.register_card("campaigns.active", build_cards, permission=Perm.CAMPAIGNS_VIEW, order=30)
    home.register_notice("sms.breaker", build_notices)

A builder is called with the request of a signed-in member, inside the workspace's scope, at every
visit: keep it to a query or two. It answers with one entry, a list of entries, or None.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from django.utils.functional import Promise

from workspaces.http import MemberRequest

Text = str | Promise
E = TypeVar("E")


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One number (`value`) or word (`value_text`) with its name; `url` leads to the page behind it."""

    label: Text
    value: int | None = None
    value_text: Text = ""
    hint: Text = ""
    tone: str = ""
    url: str = ""
    icon: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing to do before the first message leaves. `done`: it was done in this workspace."""

    title: Text
    text: Text
    action: Text
    url: str
    icon: str
    done: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Something that needs attention now. `tone`: info, warn or danger."""

    title: Text
    text: Text = ""
    tone: str = "warn"
    url: str = ""
    action: Text = ""


Answer: TypeAlias = E | Sequence[E] | None
Build: TypeAlias = Callable[[MemberRequest], Answer[E]]


@dataclass(frozen=True, slots=True)
class _Source(Generic[E]):
    build: Build[E]
    order: int
    permissions: frozenset[str]


class _Registry(Generic[E]):
    """Builders of one kind of entry by key; a key that is registered again is replaced."""

    def __init__(self) -> None:
        self._sources: dict[str, _Source[E]] = {}

    def register(
        self, key: str, build: Build[E], *, permission: str | Sequence[str] = (), order: int = 100
    ) -> None:
        """`permission`: who sees the entry, one key or several of which one is enough; () is every member."""
        wanted = frozenset([permission] if isinstance(permission, str) else permission)
        self._sources[key] = _Source(build, order, wanted)

    def unregister(self, key: str) -> None:
        self._sources.pop(key, None)

    def entries(self, request: MemberRequest) -> list[E]:
        """What this member sees, in order."""
        found: list[E] = []
        for _key, source in sorted(self._sources.items(), key=lambda item: (item[1].order, item[0])):
            if source.permissions and source.permissions.isdisjoint(request.permissions):
                continue
            answer = source.build(request)
            if answer is not None:
                found.extend(answer if isinstance(answer, Sequence) else [answer])
        return found


cards: _Registry[Card] = _Registry()
steps: _Registry[Step] = _Registry()
notices: _Registry[Notice] = _Registry()

register_card = cards.register
register_step = steps.register
register_notice = notices.register
