"""The row of a message that was given up and passed by: its step says `skip_step` for the end of its tries.

The tries themselves stay as they ended; one more row, which never left, says that the step was skipped.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Final

from automation.definition_cache import compiled
from automation.runtime.actions.base import Step
from engine.graph import ActionNode
from engine.types import Port
from sms.models import SmsStatus
from sms.sending import Answer, Draft, Fate

TRIES_USED_UP: Final = "tries_used_up"
GIVEN_UP: Final = frozenset({Fate.REFUSED, Fate.TRY_AGAIN})


def skips(step: Step) -> bool:
    """Whether the step is passed by when its tries are used up; a failure path of its own comes first."""
    graph, key = compiled(step.execution.workflow_version_id).graph, step.perform.position.node
    node = graph.nodes.get(key)
    if not isinstance(node, ActionNode) or node.retry.on_exhausted != "skip_step":
        return False
    return graph.successor(key, Port.FAILURE) is None


def stands_in(answer: Answer) -> bool:
    """Whether another account is asked next, since this one surely has nothing of the message."""
    return answer.attempt.draft.has_next and answer.result.outcome.surely_not_sent


def rows(answers: Iterable[Answer], tried_again: Collection[int]) -> list[Draft]:
    """One row for each answer that was the last of its step. `tried_again`: executions with a retry ahead."""
    return [
        _passed_by(answer.attempt.draft)
        for answer in answers
        if answer.attempt.skips_when_used_up
        and answer.fate in GIVEN_UP
        and answer.attempt.step.execution_id not in tried_again
        and not stands_in(answer)
    ]


def _passed_by(last: Draft) -> Draft:
    return replace(
        last, attempt_number=last.attempt_number + 1, status=SmsStatus.SKIPPED, text="", parts=1,
        sender="", account=None, has_next=False, error_code=TRIES_USED_UP,
    )  # fmt: skip
