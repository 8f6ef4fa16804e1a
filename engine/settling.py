"""What the result of an action means for the walk: on by a port, another try, later, or the end."""

from __future__ import annotations

from engine.graph import ActionNode
from engine.moving import Mover
from engine.types import ActionResult, ActionStatus, Finish, Outcome, Park, Port


class Settler(Mover):
    """A mover that can take in the result of the action it stands at."""

    __slots__ = ()

    def settle(self, result: ActionResult) -> Outcome | None:
        """Apply the outcome of the action at the position. None: the walk goes on from the next step."""
        node = self.graph.nodes.get(self.key)
        if node is None:
            return self.finish("failed", "node_missing")
        if not isinstance(node, ActionNode):
            raise ValueError(f"a result for {self.key!r}, which is no action")
        self.visited = 1
        match result.status:
            case ActionStatus.SUCCESS:
                return self.go_on("success", Port.SUCCESS, Port.DEFAULT)
            case ActionStatus.SKIPPED:
                self.log("skipped", {"reason": result.reason})
                return self.go_on("skipped", Port.DEFAULT)
            case ActionStatus.UNKNOWN:
                return self.go_on("unknown", Port.DEFAULT)
            case ActionStatus.FAILED:
                return self.retry(node, result)
            case ActionStatus.REJECTED:
                return self.exhausted(node, result)
            case _:
                return self.halt(result)

    def halt(self, result: ActionResult) -> Outcome | None:
        match result.status:
            case ActionStatus.DEFERRED:
                return self.defer(result)
            case ActionStatus.HELD:
                return self.hold(result)
            case ActionStatus.CANCELLED:
                return self.finish("cancelled", result.reason)
            case _:
                self.entered = False
                return self.finish(result.halt_status or "failed", result.reason)

    def retry(self, node: ActionNode, result: ActionResult) -> Outcome | None:
        if not node.retry.allows(self.retries):
            return self.exhausted(node, result)
        self.retries += 1
        until = self.now + node.retry.delay(self.retries)
        if result.until is not None:
            until = max(until, result.until)
        self.entered, self.wake_at = False, until
        data = {"retry": self.retries, "until": until.isoformat(), "reason": result.reason}
        self.log("retry_scheduled", data)
        return Park(position=self.position(), until=until, reason="retry")

    def exhausted(self, node: ActionNode, result: ActionResult) -> Outcome | None:
        """The action failed for good: the failure path if there is one, else what the node says."""
        self.last_action, self.entered = "failed", False
        if self.graph.successor(self.key, Port.FAILURE) is not None:
            return self.go_on("failed", Port.FAILURE)
        match node.retry.on_exhausted:
            case "skip_step":
                self.log("skipped", {"reason": result.reason, "exhausted": True})
                return self.go_on("skipped", Port.DEFAULT)
            case "continue":
                return self.go_on("failed", Port.DEFAULT)
            case "stop":
                return self.finish("completed", "stopped_after_failure")
            case _:
                return self.finish("failed", result.reason or "action_failed")

    def defer(self, result: ActionResult) -> Outcome:
        if result.until is None:
            raise ValueError("a deferral without a moment to come back at")
        reason = result.reason or "provider"
        self.entered, self.wake_at = False, result.until
        kind = {"window": "window", "line_window": "window", "limit": "limit"}.get(reason, "provider")
        self.log(f"deferred_{kind}", {"until": result.until.isoformat(), "reason": reason})
        return Park(position=self.position(), until=result.until, reason=reason)

    def hold(self, result: ActionResult) -> Outcome:
        """A person decides: the run stands behind the action, so that going on does not repeat it."""
        held_at = self.key
        outcome = self.go_on(result.halt_status or "unknown", Port.DEFAULT)
        if outcome is not None:
            return outcome
        self.log("paused", {"reason": result.reason}, node=held_at)
        return Finish(position=self.position(), status="paused", reason=result.reason)
