"""Work on more people than one request or selection holds: in parts, cancelled safely, killed harmlessly."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from automation.control_moves import Operation
from automation.models import WorkflowExecution
from campaigns import actions, changing, jobs
from campaigns.enrollment import committer, large, planner, selection
from campaigns.enrollment.planner import Group
from campaigns.models import BatchStatus, Campaign, CampaignJob, EnrollmentBatch
from campaigns.people import PeopleFilter
from core.errors import Invalid, Refused
from core.failpoints import acting
from core.queue import port
from targets.models import Target
from targets.queries import Visibility
from tests.campaigns import builders
from tests.campaigns.reading import text_of, url
from tests.campaigns.test_enrollment import SilentQueue
from tests.campaigns.test_planner import block
from tests.clocks import MovableClock
from tests.scenario import assert_conserved
from workspaces import permissions
from workspaces.models import AuditRecord, Membership, Role, User
from workspaces.permissions import Perm

pytestmark = pytest.mark.usefixtures("workspace", "clock")
EVERYBODY = selection.Source(kind="everybody")


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large, "PART", 4)
    monkeypatch.setattr(selection, "CHUNK", 2)
    monkeypatch.setattr(changing, "PART", 2)
    monkeypatch.setattr(changing, "AT_ONCE", 3)


@pytest.fixture(autouse=True)
def queue(monkeypatch: pytest.MonkeyPatch) -> SilentQueue:
    made = SilentQueue()
    monkeypatch.setitem(port._queues, "inline", made)
    return made


def run(job: CampaignJob) -> CampaignJob:
    job.refresh_from_db()
    jobs.run_task({"workspace_id": job.workspace_id, "job_id": job.pk, "held": job.revision})
    job.refresh_from_db()
    return job


def add_all(campaign: Campaign, user: User, answer: str = "skip", **source: Any) -> CampaignJob:
    wanted = selection.Source(**{"kind": "everybody", **source})
    return large.add_all(campaign, wanted, answer=answer, visibility=Visibility.everyone(), user=user)


def change_all(campaign: Campaign, user: User, operation: Operation, **conditions: str) -> CampaignJob:
    shown = PeopleFilter(conditions, campaign=campaign)
    return changing.change_all(campaign, shown, operation, Visibility.everyone(), user=user)


# -- adding -------------------------------------------------------------------------------------------


def test_everybody_is_added_in_selections_of_their_own(owner: User):
    campaign = builders.running()
    builders.people(10)
    job = run(add_all(campaign, owner))
    assert (job.status, job.done, job.total, job.counts["added"]) == ("done", 10, 10, 10)
    batches = EnrollmentBatch.objects.filter(job=job).order_by("pk")
    assert [len(batch.subject_ids) for batch in batches] == [4, 4, 2]
    assert builders.statuses(campaign) == {"active": 10}
    row = AuditRecord.objects.filter(event="campaign.people_added").latest("pk")
    assert (row.user, row.new) == (owner, {"selected": 10, "added": 10, "left_out": 0})
    assert_conserved()


@pytest.mark.parametrize(("answer", "added"), [("skip", 2), ("add", 3)])
def test_the_one_answer_holds_for_everybody_in_another_campaign(owner: User, answer: str, added: int):
    other, campaign = builders.running(), builders.running()
    busy, _free, _other, blocked = builders.people(4)
    builders.enrol(other, [busy])
    block(blocked)
    job = run(add_all(campaign, owner, answer))
    assert (job.counts["added"], job.counts["blacklisted"]) == (added, 1)


def test_without_an_answer_nothing_begins(owner: User):
    builders.people(1)
    with pytest.raises(Invalid) as refusal:
        add_all(builders.running(), owner, "")
    assert refusal.value.code == "decision_missing"
    assert not CampaignJob.objects.exists()


def test_whoever_comes_later_is_not_meant(owner: User):
    campaign = builders.running()
    builders.people(2)
    job = add_all(campaign, owner)
    builders.people(1)
    assert run(job).counts["added"] == 2


def test_only_people_whom_the_colleague_may_see_are_added(seller: User, monkeypatch: pytest.MonkeyPatch):
    may = {Perm.TARGETS_VIEW_OWN, Perm.CAMPAIGNS_MANAGE}
    monkeypatch.setattr(permissions, "ROLE_PERMISSIONS", {Role.SELLER: frozenset(may)})
    campaign = builders.running()
    builders.people(2)
    builders.people(1, owner=seller)
    job = large.add_all(campaign, EVERYBODY, answer="skip", visibility=Visibility.everyone(), user=seller)
    assert run(job).counts["added"] == 1


def test_a_campaign_that_ends_meanwhile_ends_the_work(owner: User):
    campaign = builders.running()
    builders.people(6)
    job = add_all(campaign, owner)
    actions.cancel(campaign.pk, user=None)
    assert (run(job).status, job.error) == ("failed", "campaign_over")
    assert builders.statuses(campaign) == {}


@pytest.mark.parametrize("failpoint", ["enrol_chunk_tx", "enrol_chunk", "job_part"])
def test_killed_anywhere_it_goes_on_and_adds_nobody_twice(
    failpoint: str, owner: User, clock: MovableClock, queue: SilentQueue
):
    campaign = builders.running()
    builders.people(10)
    job = add_all(campaign, owner)
    held = job.revision
    with acting(failpoint, _die, at=2), pytest.raises(KeyboardInterrupt):
        jobs.run_task({"workspace_id": job.workspace_id, "job_id": job.pk, "held": held})
    assert jobs.resume_stalled(clock.now()) == {"jobs_resumed": 0}
    clock.advance(minutes=3)

    assert jobs.resume_stalled(clock.now()) == {"jobs_resumed": 1}
    [(name, payload)] = queue.messages
    port.run(name, payload)

    job.refresh_from_db()
    assert (job.status, builders.statuses(campaign)) == ("done", {"active": 10})
    assert large.added_of(job) == 10
    assert_conserved()


def test_a_doubled_message_finds_nothing_to_do(owner: User):
    campaign = builders.running()
    builders.people(5)
    job = add_all(campaign, owner)
    payload = {"workspace_id": job.workspace_id, "job_id": job.pk, "held": 0}
    jobs.run_task(payload)
    jobs.run_task(payload)
    assert builders.statuses(campaign) == {"active": 5}


def test_a_task_whose_time_is_up_hands_over(owner: User, monkeypatch: pytest.MonkeyPatch, queue: SilentQueue):
    campaign = builders.running()
    builders.people(10)
    job = add_all(campaign, owner)
    monkeypatch.setattr(jobs, "TASK_SECONDS", 0.0)
    jobs.run_task({"workspace_id": job.workspace_id, "job_id": job.pk, "held": 0})
    while queue.messages:
        port.run(*queue.messages.pop())
    job.refresh_from_db()
    assert (job.status, job.counts["added"]) == ("done", 10)


def test_cancelled_in_the_middle_of_a_chunk_it_keeps_what_is_done(owner: User):
    campaign = builders.running()
    builders.people(10)
    job = add_all(campaign, owner)
    with acting("enrol_chunk", lambda: jobs.cancel(jobs.job_for(job.pk)), at=3):
        run(job)
    assert (job.status, builders.statuses(campaign)) == ("cancelled", {"active": 6})
    assert large.added_of(job) == 6
    assert {batch.status for batch in job.batches.all()} == {"committed", "failed"}
    with pytest.raises(Refused):
        jobs.cancel(job)
    assert_conserved()


def test_the_overview_sorts_like_the_planner():
    other, campaign = builders.running(), builders.running()
    here, busy, blocked, _ready, _also = builders.people(5)
    builders.people(1, mobile="", landline="02188776655")
    builders.enrol(campaign, [here])
    builders.enrol(other, [busy])
    block(blocked)
    ids = list(Target.objects.order_by("pk").values_list("pk", flat=True))
    found = large.overview(campaign, Target.objects.all())
    assert {str(group): n for group, n in found.groups.items()} == planner.plan(campaign, ids).counts()
    assert (found.total, found.groups[Group.READY]) == (6, 2)


# -- changing -----------------------------------------------------------------------------------------


def test_everybody_under_the_filter_is_changed_with_one_line_in_the_audit_log(owner: User):
    campaign = builders.running()
    ids = builders.people(7)
    builders.enrol(campaign, ids)
    WorkflowExecution.objects.filter(subject_id=ids[0]).update(
        status="completed", active_key=None, completed_at=campaign.created_at
    )
    job = run(change_all(campaign, owner, Operation.PAUSE))
    assert builders.statuses(campaign) == {"paused": 6, "completed": 1}
    assert job.counts == {"changed": 6, "illegal_change": 1}
    row = AuditRecord.objects.get(event="person.paused")
    assert (row.user, row.new) == (owner, {"changed_people": 6, "unchanged_people": 1})


def test_a_filter_narrows_it(owner: User):
    campaign = builders.running()
    builders.enrol(campaign, builders.people(4))
    first = campaign.executions.order_by("pk")[0]
    run(change_all(campaign, owner, Operation.PAUSE))
    assert run(change_all(campaign, owner, Operation.REMOVE, status="active")).done == 0
    run(change_all(campaign, owner, Operation.REMOVE, status="paused"))
    first.refresh_from_db()
    assert (first.status, builders.statuses(campaign)) == ("cancelled", {"cancelled": 4})
    assert_conserved()


def test_a_change_that_is_killed_goes_on_at_its_place(owner: User, clock: MovableClock, queue: SilentQueue):
    campaign = builders.running()
    builders.enrol(campaign, builders.people(7))
    job = change_all(campaign, owner, Operation.PAUSE)
    with acting("job_part", _die, at=2), pytest.raises(KeyboardInterrupt):
        jobs.run_task({"workspace_id": job.workspace_id, "job_id": job.pk, "held": 0})
    assert builders.statuses(campaign) == {"paused": 4, "active": 3}
    clock.advance(minutes=3)
    jobs.resume_stalled(clock.now())
    port.run(*queue.messages.pop())
    job.refresh_from_db()
    assert (job.counts, builders.statuses(campaign)) == ({"changed": 7}, {"paused": 7})


# -- pages --------------------------------------------------------------------------------------------


def test_a_large_choice_leads_to_the_one_question(web: Client, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(selection, "MAX_SELECTION", 4)
    campaign = builders.running()
    builders.people(6, city="شیراز")
    answer = web.post(url("review", campaign.pk), {"source": "filter", "city": "شیراز"})
    assert answer["Location"].startswith(url("enrol-large", campaign.pk))
    page = web.get(answer["Location"])
    assert "Check and add 6 people" in text_of(page)
    groups = web.get(url("large-groups", campaign.pk) + "?source=filter&city=شیراز")
    assert "Ready 6" in text_of(groups)

    form = {"source": "filter", "city": "شیراز"}
    assert web.post(url("enrol-large", campaign.pk), form).status_code == 422
    started = web.post(url("enrol-large", campaign.pk), {**form, "answer": "skip"})
    job = CampaignJob.objects.get()
    assert started["Location"] == url("job", job.pk)
    run(job)
    assert builders.statuses(campaign) == {"active": 6}
    assert "6 people were added" in text_of(web.get(url("job", job.pk)))


def test_the_progress_asks_for_itself_until_it_is_over(web: Client, owner: User):
    campaign = builders.running()
    builders.people(10)
    job = add_all(campaign, owner)
    assert url("job", job.pk) in web.get(url("detail", campaign.pk)).content.decode()
    fragment = web.get(url("job-progress", job.pk))
    assert 'hx-trigger="every 2s"' in fragment.content.decode()
    web.post(url("job-cancel", job.pk))
    last = web.get(url("job-progress", job.pk))
    assert (last["HX-Refresh"], "hx-trigger" in last.content.decode()) == ("true", False)
    assert "Stopped by hand" in text_of(web.get(url("job", job.pk)))


def test_beyond_the_page_the_selection_is_changed_in_the_background(web: Client):
    campaign = builders.running()
    builders.enrol(campaign, builders.people(5))
    form = {"operation": "pause", "scope": "all"}
    answer = web.post(url("people-change", campaign.pk), form)
    job = CampaignJob.objects.get()
    assert answer["Location"] == url("job", job.pk)
    run(job)
    assert "Done for 5 people." in text_of(web.get(url("job", job.pk)))


def test_adding_in_the_background_can_be_stopped(web: Client, owner: User, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(committer, "DIRECT", 0)
    campaign = builders.running()
    batch = builders.review(campaign, builders.people(5))
    committer.commit(batch, user=owner)

    def press() -> None:
        web.post(url("batch-stop", batch.pk))

    with acting("enrol_chunk", press):
        committer.run(batch.pk, 1, user_id=owner.pk)
    batch.refresh_from_db()
    assert (batch.status, batch.counts["added"], builders.statuses(campaign)) == ("failed", 2, {"active": 2})
    assert "A colleague stopped the adding" in text_of(web.get(url("batch", batch.pk)))
    assert AuditRecord.objects.get(event="campaign.adding_stopped").user == owner


def test_the_outcome_says_what_changed_since_the_review(web: Client):
    campaign = builders.running()
    ids = builders.people(3)
    batch = builders.review(campaign, ids)
    block(ids[0])
    committer.commit(batch, user=None)
    page = text_of(web.get(url("batch", batch.pk)))
    assert "Changed since the review On the blacklist: 1" in page


@pytest.mark.parametrize("role", ["", Role.SELLER])
def test_work_does_not_go_on_for_somebody_who_may_not_do_it_any_more(role: str, web: Client, owner: User):
    campaign = builders.running()
    builders.people(6)
    job = add_all(campaign, owner)
    asker = Membership.objects.filter(user=owner)
    if role:
        asker.update(role=role)
    else:
        asker.delete()

    job = run(job)

    assert (job.status, job.error, builders.statuses(campaign)) == ("failed", "right_gone", {})


def test_a_new_conflict_names_what_changed(web: Client):
    campaign, other = builders.running(), builders.running()
    ids = builders.people(3)
    batch = builders.review(campaign, ids)
    builders.enrol(other, ids[:2])
    web.post(url("commit", batch.pk))
    page = text_of(web.get(url("batch", batch.pk)))
    assert "Changed since your review: In another campaign: 2 more." in page
    assert EnrollmentBatch.objects.get(pk=batch.pk).status == BatchStatus.DRAFT


def _die() -> None:
    raise KeyboardInterrupt
