"""The states of an execution and every legal move between them. This table is the only truth."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import models
from django.utils.translation import gettext_lazy as _

from core.transitions import Edges


class ExecutionStatus(models.TextChoices):
    PENDING = "pending", _("Before the start")
    ACTIVE = "active", _("Ready")
    WAITING = "waiting", _("Waiting")
    QUEUED = "queued", _("In line")
    PROCESSING = "processing", _("In work")
    PAUSED = "paused", _("Paused")
    BLACKLISTED = "blacklisted", _("On the blacklist")
    COMPLETED = "completed", _("Completed")
    FAILED = "failed", _("Failed")
    CANCELLED = "cancelled", _("Cancelled")
    EXITED = "exited", _("Left")


S = ExecutionStatus
LIVE = frozenset({S.PENDING, S.ACTIVE, S.WAITING, S.QUEUED, S.PROCESSING, S.PAUSED})
CLAIMABLE = frozenset({S.ACTIVE, S.WAITING})
CLAIMED = frozenset({S.QUEUED, S.PROCESSING})
ENDED = frozenset({S.COMPLETED, S.FAILED, S.CANCELLED, S.EXITED})
HALTED = frozenset({S.BLACKLISTED})  # not live, not ended: a person may resume it

EDGES: Edges = {
    S.PENDING: frozenset({S.ACTIVE, S.CANCELLED}),
    S.ACTIVE: frozenset({S.QUEUED, S.PAUSED, S.CANCELLED}),
    S.WAITING: frozenset({S.QUEUED, S.PAUSED, S.CANCELLED}),
    S.QUEUED: frozenset({S.PROCESSING, S.ACTIVE, S.WAITING, S.CANCELLED}),
    S.PROCESSING: frozenset(
        {S.ACTIVE, S.WAITING, S.COMPLETED, S.FAILED, S.BLACKLISTED, S.CANCELLED, S.PAUSED, S.EXITED}
    ),
    S.PAUSED: frozenset({S.ACTIVE, S.WAITING, S.CANCELLED}),
    S.BLACKLISTED: frozenset({S.ACTIVE, S.CANCELLED}),
    S.FAILED: frozenset({S.ACTIVE}),
    S.COMPLETED: frozenset({S.ACTIVE}),
    S.CANCELLED: frozenset(),
    S.EXITED: frozenset(),
}


class EndReason(models.TextChoices):
    FINISHED = "finished", _("Reached the end")
    STOPPED = "stopped", _("Stopped at an end step")
    STOPPED_AFTER_FAILURE = "stopped_after_failure", _("Stopped after a failed message")
    STEP_LIMIT = "step_limit", _("Too many steps without a wait")
    FAILED = "failed", _("A step failed")
    CAMPAIGN_ENDED = "campaign_ended", _("The campaign ended")
    CAMPAIGN_CANCELLED = "campaign_cancelled", _("The campaign was cancelled")
    TARGET_REMOVED = "target_removed", _("The person was removed")
    REMOVED_BY_USER = "removed_by_user", _("Removed by a colleague")
    TARGET_STATUS_CHANGED = "target_status_changed", _("The person's status changed")
    POISON = "poison", _("The step could not be run")
    GOAL_REACHED = "goal_reached", _("Reached the goal")
    NO_NEXT_NODE = "no_next_node", _("Came to the end of the path")
    EXIT_CRITERIA = "exit_criteria", _("Met the criteria for leaving")
    MAX_DURATION = "max_duration", _("Stayed as long as people may stay")


JOURNEY_END: Mapping[EndReason, ExecutionStatus] = {
    EndReason.FINISHED: S.COMPLETED,
    EndReason.GOAL_REACHED: S.COMPLETED,
    EndReason.NO_NEXT_NODE: S.COMPLETED,
    EndReason.EXIT_CRITERIA: S.EXITED,
    EndReason.MAX_DURATION: S.EXITED,
}
"""How a journey may end for somebody, and the status each reason goes with."""


class ExecutionEventType(models.TextChoices):
    ENROLLED = "enrolled", _("Entered the campaign")
    ACTIVATED = "activated", _("The campaign started")
    NODE_ENTERED = "node_entered", _("Reached a step")
    WAIT_STARTED = "wait_started", _("Wait began")
    WAIT_FINISHED = "wait_finished", _("Wait ended")
    SMS_ATTEMPT = "sms_attempt", _("Message")
    FOLLOWUP = "followup", _("Follow-up recorded for the owner")
    RETRY_SCHEDULED = "retry_scheduled", _("Another try is planned")
    DEFERRED_WINDOW = "deferred_window", _("Waits for the sending window")
    DEFERRED_LIMIT = "deferred_limit", _("Waits for tomorrow's limit")
    DEFERRED_PROVIDER = "deferred_provider", _("Waits for the SMS channel")
    BLACKLISTED = "blacklisted", _("Stopped: on the blacklist")
    SKIPPED = "skipped", _("Step skipped")
    SUPPRESSED = "suppressed", _("Held out: passed by without effect")
    PAUSED = "paused", _("Paused")
    RESUMED = "resumed", _("Resumed")
    REMOVED = "removed", _("Removed")
    RESTARTED = "restarted", _("Started again")
    CONDITION_EVALUATED = "condition_evaluated", _("Condition checked")
    RECOVERED = "recovered", _("Taken back after an interruption")
    STATUS_STOP = "status_stop", _("Stopped by the person's status")
    COMPLETED = "completed", _("Completed")
    FAILED = "failed", _("Failed")
    CANCELLED = "cancelled", _("Cancelled")
    EXITED = "exited", _("Left")
