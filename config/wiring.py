"""Who answers whom: the one place where upper apps are handed to the lower ones that only know interfaces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from django.urls import reverse

from automation import inbound, removal, target_events, workspace_settings
from automation.builder import step_numbers
from automation.runtime import claim, reaper, sms_guards, zone_changes
from automation.runtime.actions.base import register_runtime_action
from automation.runtime.actions.create_followup import CreateFollowup
from automation.runtime.actions.reconcile import WaitingWalks
from automation.runtime.actions.send_sms import SendSms
from automation.runtime.agenda import register_lifecycle
from automation.runtime.pacing import register_pacer
from automation.runtime.policy import register_policy_source, register_readiness
from automation.runtime.sms_pacing import SmsPacer
from automation.runtime.sms_retries import StepMessages
from automation.runtime.subjects import register_subject_type
from automation.runtime.target_subject import load_targets
from automation.text_tools import AutomationTexts
from campaigns import jobs, lifecycle, newcomer_checks
from campaigns import queries as campaign_queries
from campaigns.person_panel import PANEL
from campaigns.policy import CampaignPolicies
from campaigns.step_numbers import CampaignNumbers
from config import metrics
from core import installation, pulse
from sms import breaker, credit, delivery, reconcile, retries, retry_hooks, settlement, watermark
from sms import queries as sms_queries
from sms import tasks as sms_tasks
from sms.inbound import hooks as inbound_hooks
from sms.inbound import sweep
from sms.sections import register_section
from sms.sending import PRODUCER
from sms.switch import register_switch
from sms.text_hooks import register_text_tools
from sms.usage import hooks as usage_hooks
from targets import event_delivery
from targets.hooks import register_removal_hook
from targets.importing import jobs as import_jobs
from targets.panels import register_panel
from workspaces import kept_answers


def connect() -> None:
    """Called once when the applications are ready."""
    register_policy_source(CampaignPolicies())
    register_lifecycle(reaper.tick_step, questions=reaper.questions)
    register_lifecycle(zone_changes.follow, questions=zone_changes.questions)
    register_lifecycle(_lifecycle, questions=lifecycle.questions)
    register_lifecycle(jobs.resume_stalled, questions=lambda now: [jobs.stalled(now)])
    register_lifecycle(newcomer_checks.ask, questions=lambda now: [newcomer_checks.due(now)])
    register_lifecycle(pulse.ask, questions=pulse.questions)
    register_lifecycle(sms_tasks.ask_for_polling, questions=lambda now: [delivery.due_rows(now)])
    register_lifecycle(sms_tasks.ask_for_reconciling, questions=lambda now: [reconcile.due_rows(now)])
    register_lifecycle(sms_tasks.ask_for_retries, questions=lambda now: [retries.due_rows(now)])
    register_lifecycle(sms_tasks.ask_for_credit, questions=lambda now: [credit.due_rows(now)])
    register_lifecycle(sweep.sweep, questions=lambda now: [sweep.left(now)])
    register_lifecycle(
        sweep.ask_for_replies, questions=lambda now: [sweep.due_replies(now), sweep.abandoned(now)]
    )
    register_lifecycle(event_delivery.sweep, questions=lambda now: [event_delivery.left(now)])
    register_lifecycle(_resume_imports, questions=lambda now: [import_jobs.stalled(now)])
    register_lifecycle(kept_answers.forget_old, questions=lambda now: [kept_answers.old(now)])
    register_readiness(sms_queries.readiness)
    register_subject_type("target", load_targets)
    register_runtime_action(SendSms())
    register_runtime_action(CreateFollowup())
    settlement.register_listener(WaitingWalks())
    sms_guards.register()
    retry_hooks.register_owner(PRODUCER, StepMessages())
    breaker.register_listener(claim.bring_forward)
    register_pacer(SmsPacer())
    usage_hooks.register_campaign_labels(_campaign_labels)
    usage_hooks.register_campaign_choices(campaign_queries.newest_names)
    inbound_hooks.register_matcher(inbound.match)
    inbound_hooks.register_subject_labels(inbound.labels)
    inbound_hooks.register_inbound_handler("events", inbound.record_answer)
    target_events.register()
    metrics.register()
    installation.register_watermark(watermark.highest_message)
    register_switch(workspace_settings.is_enabled)
    register_text_tools(AutomationTexts())
    register_section(workspace_settings.SECTION)
    register_panel(PANEL)
    step_numbers.register_source(CampaignNumbers())
    register_removal_hook("automation", count=removal.count_live, cancel=removal.cancel_live)


def _lifecycle(now: datetime) -> Mapping[str, int]:
    report = lifecycle.advance(now)
    return {"started": report.started, "ended": report.completed}


def _campaign_labels(ids: Iterable[int]) -> Mapping[int, usage_hooks.CampaignLabel]:
    return {
        pk: usage_hooks.CampaignLabel(name, reverse("campaigns:detail", args=(pk,)))
        for pk, name in campaign_queries.names_for(ids).items()
    }


def _resume_imports(now: datetime) -> Mapping[str, int]:  # noqa: ARG001  # the shape of a step
    return {"imports_resumed": import_jobs.resume_stalled()}
