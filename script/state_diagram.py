"""The states of an execution as a page: `docs/states.md`, drawn from the one table of legal moves.

python script/state_diagram.py            writes docs/states.md
python script/state_diagram.py --check    exit code 1 when the page is not what the table says
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "states.md"
HEAD = """\
# The states of an execution

An execution is one person's walk through one version of a workflow, in one campaign. It is always in
exactly one of these states, and moves only along these arrows: `automation/states.py` holds the table,
every move is one conditional UPDATE, and a move that is not in the table raises and changes nothing.
This page is drawn from the table by `python -m script.state_diagram`; a test fails when they differ.
"""


def render() -> str:
    """The whole page. Django must be set up."""
    return "\n".join([HEAD, *_diagram(), "", *_states(), "", *_operations(), ""])


def _diagram() -> Iterator[str]:
    from automation.states import EDGES, ENDED, ExecutionStatus

    yield "```mermaid"
    yield "stateDiagram-v2"
    yield "    [*] --> pending"
    yield "    [*] --> active"
    for source in ExecutionStatus:
        for target in ExecutionStatus:
            if target in EDGES[source]:
                yield f"    {source} --> {target}"
    for status in ExecutionStatus:
        if status in ENDED:
            yield f"    {status} --> [*]"
    yield "```"


def _states() -> Iterator[str]:
    from django.utils.translation import override

    from automation.states import CLAIMED, EDGES, ENDED, HALTED, ExecutionStatus

    yield "| state | in the product | kind | may become |"
    yield "|---|---|---|---|"
    for status in ExecutionStatus:
        with override("en"):
            label = str(status.label)
        kind = (
            "ended"
            if status in ENDED
            else "stopped"
            if status in HALTED
            else "held by a worker"
            if status in CLAIMED
            else "live"
        )
        targets = ", ".join(f"`{other}`" for other in ExecutionStatus if other in EDGES[status]) or "nothing"
        yield f"| `{status}` | {label} | {kind} | {targets} |"


def _operations() -> Iterator[str]:
    from automation.control_moves import SOURCES, Operation
    from automation.states import ExecutionStatus

    yield "## What a person can do, by state"
    yield ""
    yield "| operation | from |"
    yield "|---|---|"
    for operation in Operation:
        names = ", ".join(f"`{status}`" for status in ExecutionStatus if status in SOURCES[operation])
        yield f"| {operation} | {names} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings_test")
    import django

    django.setup()
    text = render()
    if options.check:
        return 0 if PAGE.exists() and PAGE.read_text(encoding="utf-8") == text else 1
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
