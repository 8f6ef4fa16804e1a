"""Where a round of a loop ends: the exits that lead back to a step on the way to them."""

from __future__ import annotations

from engine.compile_shape import Shape
from engine.graph import reading_order


def returning_exits(shape: Shape, first: str) -> frozenset[tuple[str, str]]:
    """The (step, port) pairs that close a loop, found along the flow from `first` in reading order.

    Whoever comes to a step a second time has crossed at least one of them.
    """
    returns: set[tuple[str, str]] = set()
    seen, on_the_way = {first}, {first}
    stack = [(first, iter(_exits(shape, first)))]
    while stack:
        key, exits = stack[-1]
        for port, target in exits:
            if target in on_the_way:
                returns.add((key, port))
            elif target not in seen:
                seen.add(target)
                on_the_way.add(target)
                stack.append((target, iter(_exits(shape, target))))
                break
        else:
            on_the_way.discard(key)
            stack.pop()
    return frozenset(returns)


def _exits(shape: Shape, key: str) -> list[tuple[str, str]]:
    return sorted(shape.edges.get(key, {}).items(), key=lambda exit_: reading_order(exit_[0]))
