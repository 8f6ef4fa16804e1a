from __future__ import annotations

from automation.states import EDGES
from script import state_diagram


def test_the_page_of_states_is_what_the_table_says():
    assert state_diagram.PAGE.read_text(encoding="utf-8") == state_diagram.render(), (
        "run python -m script.state_diagram"
    )


def test_every_move_is_drawn_once():
    lines = state_diagram.render().splitlines()
    for source, targets in EDGES.items():
        for target in targets:
            assert lines.count(f"    {source} --> {target}") == 1
