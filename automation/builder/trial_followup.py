"""What a follow-up step would record for the person of a trial."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from automation.action_specs.create_followup import read
from engine.types import Facts
from engine.zones import zone


def recorded(config: Mapping[str, Any], facts: Facts, now: datetime) -> dict[str, Any]:
    """The parts of the trial's line: when it would be due, its kind and finished texts. Nothing is stored."""
    followup = read(config)
    title, description = followup.texts(facts)
    return {
        "code": "recorded",
        "until": followup.due_at(now, zone(facts.workspace_timezone)),
        "data": {"kind": followup.kind, "title": title, "description": description},
    }
