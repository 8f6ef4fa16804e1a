"""Who answers whom: the one place where upper apps are handed to the lower ones that only know interfaces."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from automation import removal, workspace_settings
from automation.panels import PANEL
from automation.runtime import claim, sms_guards
from automation.runtime.actions.base import register_runtime_action
from automation.runtime.actions.send_sms import SendSms
from automation.runtime.pacing import register_pacer
from automation.runtime.policy import register_lifecycle, register_policy_source, register_readiness
from automation.runtime.sms_pacing import SmsPacer
from automation.runtime.subjects import register_subject_type
from automation.runtime.target_subject import load_targets
from campaigns.policy import CampaignPolicies
from config import metrics
from core import pulse
from sms import breaker
from sms import queries as sms_queries
from sms import tasks as sms_tasks
from sms.sections import register_section
from sms.switch import register_switch
from targets.hooks import register_removal_hook
from targets.importing.jobs import resume_stalled
from targets.panels import register_panel


def connect() -> None:
    """Called once when the applications are ready."""
    register_policy_source(CampaignPolicies())
    register_lifecycle(_lifecycle)
    register_lifecycle(pulse.ask)
    register_lifecycle(sms_tasks.ask_for_polling)
    register_lifecycle(_resume_imports)
    register_readiness(sms_queries.readiness)
    register_subject_type("target", load_targets)
    register_runtime_action(SendSms())
    sms_guards.register()
    breaker.register_listener(claim.bring_forward)
    register_pacer(SmsPacer())
    metrics.register()
    register_switch(workspace_settings.is_enabled)
    register_section(workspace_settings.SECTION)
    register_panel(PANEL)
    register_removal_hook("automation", count=removal.count_live, cancel=removal.cancel_live)


def _lifecycle(now: datetime) -> Mapping[str, int]:
    from campaigns.lifecycle import advance

    report = advance(now)
    return {"started": report.started, "ended": report.completed}


def _resume_imports(now: datetime) -> Mapping[str, int]:  # noqa: ARG001  # the shape of a step
    return {"imports_resumed": resume_stalled()}
