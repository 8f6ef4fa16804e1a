"""A small shop at work: one workspace with something on every page, for the guide's pictures and page checks.

Everything a person could have done is done with the product's own actions, so the audit log has rows too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from automation import publishing
from automation.models import AutomationSettings, Workflow, WorkflowNode
from automation.runtime.tick import run_tick
from blacklist import actions as blacklist
from blacklist.models import Channel, Reason, Source
from campaigns import actions as campaigns
from campaigns.details import CampaignDetails
from campaigns.enrollment import batches, committer
from campaigns.models import Campaign, EnrollmentBatch
from core import clock
from core.tenancy import workspace_scope
from sms.models import InboundSms, LineRule, ProviderAccount, SmsLog, SmsPrice, SmsSettings, SmsTemplate
from sms.types import OutboundSms, Outcome, SendResult
from targets import actions as targets
from targets.models import ImportJob, ImportRow, ImportStatus, RowOutcome, Target
from tests.clocks import MovableClock
from tests.factories import make
from tests.people import make_member, make_user, make_workspace
from tests.scenario import OFFICE_HOURS, accept, open_scripted_channel, outcome
from workspaces.models import Membership, Role, User, Workspace

FIRST = ("مریم", "علی", "نگار", "حسین", "سارا", "رضا", "زهرا", "امیر", "Nazanin", "محمد", "لیلا", "پویا")
LAST = ("احمدی", "کریمی", "رضایی", "محمدی", "Tehrani", "حسینی", "نوری", "شریفی", "قاسمی", "جعفری", "بهرامی")
CITIES = ("تهران", "شیراز", "اصفهان", "تبریز", "مشهد", "")
PEOPLE = 48


@dataclass(frozen=True, slots=True)
class Site:
    """What pages are about: `kwargs[name]` are the arguments of the address called `name`."""

    workspace: Workspace
    owner: User
    kwargs: Mapping[str, Mapping[str, Any]]


def build(clock_: MovableClock) -> Site:
    """Make it all; `clock_` moves on by some hours, as it would have."""
    workspace = make_workspace("aftab", name="فروشگاه آفتاب")
    owner = make_member(workspace, Role.OWNER, email="sara@aftab.example")
    owner.full_name = "سارا رضایی"
    owner.save(update_fields=["full_name"])
    with workspace_scope(workspace.pk):
        _colleagues(workspace)
        people = _people(workspace, owner)
        job = _import_job(workspace, owner)
        campaign = _campaign(people, owner, clock_)
        paused = _second_campaign(campaign, owner)
        batch = batches.create(paused, [person.pk for person in people[:30]], user=owner)
        _channel(workspace)
        _blacklist(workspace, people, owner)
        kwargs = _kwargs(campaign, batch, people, job)
    return Site(workspace, owner, kwargs)


def _colleagues(workspace: Workspace) -> None:
    for role, name, email in (
        (Role.ADMIN, "کاوه آذری", "kaveh@aftab.example"),
        (Role.MARKETER, "Mina Dadgar", "mina@aftab.example"),
        (Role.SELLER, "بهنام فروشنده", "behnam@aftab.example"),
    ):
        Membership.objects.create(workspace=workspace, user=make_user(email, full_name=name), role=role)


def _people(workspace: Workspace, owner: User) -> list[Target]:
    people = [
        make(
            Target, workspace, name=f"{FIRST[i % 12]} {LAST[i % 11]}", first_name=FIRST[i % 12],
            last_name=LAST[i % 11], city=CITIES[i % 6], mobile=f"09121{i:06d}",
            owner=owner if i % 2 else None,
        )
        for i in range(PEOPLE)
    ]  # fmt: skip
    customers = targets.create_list("مشتریان پاییز", description="از نمایشگاه آبان", user=owner)
    targets.add_to_list(customers, [person.pk for person in people], user=owner)
    targets.create_list("VIP", user=owner)
    return people


def _import_job(workspace: Workspace, owner: User) -> ImportJob:
    counts = {"created": 46, "updated": 2, "refused": 1}
    job = make(
        ImportJob, workspace, file_name="مشتریان آبان.xlsx", status=ImportStatus.DONE, created_by=owner,
        row_count=49, counts=counts, finished_at=clock.now(),
    )  # fmt: skip
    make(ImportRow, workspace, job=job, row_number=7, outcome=RowOutcome.REFUSED, cells=["ناشناس", "12"])
    return job


def _campaign(people: list[Target], owner: User, clock_: MovableClock) -> Campaign:
    """A campaign that ran for a day, with every kind of answer the provider may give."""
    provider = open_scripted_channel()
    provider.answer = _answer
    AutomationSettings.objects.update(global_daily_limit=2000)
    workflow = _workflow("آشنایی در سه پیام", "three_step_introduction", owner)
    _workflow("خوشامد و یادآوری", "welcome_and_reminder", owner)
    details = CampaignDetails(name="معرفی پاییز", daily_limit=40, send_window=OFFICE_HOURS)
    campaign = campaigns.create_campaign(workflow_id=workflow.pk, details=details, user=owner)
    batch = batches.create(campaign, [person.pk for person in people[:44]], user=owner)
    committer.commit(batch, user=owner)
    campaigns.activate(campaign.pk, user=owner)
    while run_tick().claimed:
        clock_.advance(minutes=20)
    newest = SmsLog.objects.filter(status="submitted").order_by("-pk")[:4].values_list("pk", flat=True)
    SmsLog.objects.filter(status="submitted").exclude(pk__in=list(newest)).update(status="delivered")
    return campaign


def _workflow(name: str, template_key: str, owner: User) -> Workflow:
    """Published once, with a draft of the next version beside it."""
    workflow = publishing.create_workflow(name=name, template_key=template_key, user=owner)
    publishing.publish(workflow, user=owner, note="متن یادآوری کوتاه‌تر شد")
    publishing.new_draft(workflow, owner)
    return workflow


def _answer(sms: OutboundSms, tries: int) -> SendResult:
    last = int(sms.to[-2:])
    if last == 7:
        return outcome(Outcome.IN_DOUBT)
    return outcome(Outcome.REFUSED, "11") if last in (11, 12) else accept()


def _second_campaign(first: Campaign, owner: User) -> Campaign:
    details = CampaignDetails(name="یادآوری یلدا", daily_limit=100)
    return campaigns.create_campaign(workflow_id=first.workflow_id, details=details, user=owner)


def _channel(workspace: Workspace) -> None:
    """Prices, lines, templates, and what people wrote."""
    SmsSettings.objects.update(low_credit_below=50_000, forbidden_words=["قمار"], refuse_links=True)
    ProviderAccount.objects.update(title="خط اصلی", credit="125000.5", credit_at=clock.now())
    make(SmsPrice, workspace, rials=1450, valid_from=clock.now().date())
    make(LineRule, workspace, line="50001", finality_hours=48)
    make(SmsTemplate, workspace, name="خوش‌آمد", body="سلام {target.first_name|دوست}، خوش آمدی")
    make(SmsTemplate, workspace, name="Welcome", body="Hello {target.first_name}, good to see you")
    for sender, text in (("09121000003", "سلام، این محصول را هنوز دارید؟"), ("09121000004", "لغو ۱۱")):
        make(InboundSms, workspace, sender=sender, number=sender, text=text, line="50001")


def _blacklist(workspace: Workspace, people: list[Target], owner: User) -> None:
    for source, reason, numbers, note in (
        (Source.MANUAL, Reason.MANUAL, [people[45].mobile, "09351112233"], "خودشان زنگ زدند"),
        (Source.IMPORT, Reason.IMPORTED, ["09190000001", "09190000002"], ""),
    ):
        blacklist.add(
            workspace_id=workspace.pk, channel=Channel.SMS, values=numbers, source=source, reason=reason,
            description=note, user=owner,
        )  # fmt: skip
    blacklist.remove(workspace_id=workspace.pk, channel=Channel.SMS, values=["09190000002"], user=owner)


def _kwargs(
    campaign: Campaign, batch: EnrollmentBatch, people: list[Target], job: ImportJob
) -> dict[str, dict[str, Any]]:
    """Arguments by the name that the address gives them, then by the address where one name means more."""
    unknown = SmsLog.objects.filter(status="unknown").earliest("pk")
    flow = {"pk": campaign.workflow_id}
    sending = WorkflowNode.objects.filter(version__workflow_id=campaign.workflow_id, version__status="draft")
    step = {**flow, "key": sending.filter(subtype="send_sms").earliest("pk").node_key}
    own = {name: {"pk": campaign.pk} for name in ("detail", "estimate", "people", "logs", "edit", "enrol")}
    return {
        **{f"campaigns:{name}": value for name, value in own.items()},
        "campaigns:batch": {"pk": batch.pk},
        "campaigns:person": {"pk": batch.pk, "subject_id": people[0].pk},
        "targets:detail": {"target_id": people[0].pk},
        "targets:edit": {"target_id": people[0].pk},
        "targets:delete": {"target_id": people[0].pk},
        "targets:list-edit": {"list_id": people[0].lists.earliest("pk").pk},
        "targets:import": {"job_id": job.pk},
        "sms:log": {"pk": unknown.pk},
        "sms:account": {"pk": ProviderAccount.objects.get().pk},
        "sms:template": {"pk": SmsTemplate.objects.earliest("pk").pk},
        **{f"automation:{name}": flow for name in ("detail", "builder", "canvas", "settings", "trial")},
        **{f"automation:{name}": flow for name in ("publish-plan", "read-in", "rename")},
        "automation:version": {**flow, "number": 1},
        "automation:step": step,
        "automation:places": step,
    }
