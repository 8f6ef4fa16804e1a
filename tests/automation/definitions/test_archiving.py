"""A single version is put away once nobody needs it."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from automation import archiving, publishing
from automation.models import Workflow
from campaigns import actions
from core.errors import Refused
from tests.campaigns import builders
from workspaces.models import AuditRecord, User

pytestmark = pytest.mark.usefixtures("workspace", "clock")


def replaced(user: User) -> Workflow:
    """A workflow whose first version made way for a second one."""
    made = builders.workflow(user=user)
    publishing.new_draft(made, user)
    publishing.publish(made, user=user)
    return made


def refusal(workflow: Workflow, number: int) -> str:
    with pytest.raises(Refused) as caught:
        archiving.archive_version(workflow, number, user=None)
    return caught.value.code


def test_a_replaced_version_is_put_away_and_brought_back(owner: User):
    made = replaced(owner)
    assert archiving.archive_version(made, 1, user=owner).archived_at is not None
    assert refusal(made, 1) == "version_archived"
    assert archiving.restore_version(made, 1, user=owner).archived_at is None
    events = AuditRecord.objects.filter(event__startswith="workflow.version_").order_by("pk")
    assert [row.event for row in events] == ["workflow.version_archived", "workflow.version_restored"]


def test_the_published_version_stays(owner: User):
    assert refusal(replaced(owner), 2) == "version_not_superseded"


def test_a_version_somebody_is_on_their_way_through_stays(owner: User):
    made = builders.workflow(user=owner)
    campaign = builders.running(made)
    builders.enrol(campaign, builders.people(1))
    publishing.new_draft(made, owner)
    publishing.publish(made, user=owner)
    assert refusal(made, 1) == "version_in_use"
    actions.cancel(campaign.pk, user=None)
    assert archiving.archive_version(made, 1, user=None).archived_at is not None


def test_a_draft_campaign_keeps_its_version_too(owner: User):
    made = builders.workflow(user=owner)
    builders.draft(made)
    publishing.new_draft(made, owner)
    publishing.publish(made, user=owner)
    assert refusal(made, 1) == "version_in_use"


def test_a_workflow_in_use_names_its_people_and_campaigns(owner: User):
    made = builders.workflow(user=owner)
    builders.enrol(builders.running(made, name="Autumn"), builders.people(2))
    with pytest.raises(Refused) as caught:
        publishing.archive(made, user=owner)
    assert (caught.value.code, "Autumn" in str(caught.value)) == ("workflow_in_use", True)


def test_the_buttons_stand_on_the_page_of_the_version(owner: User, member_client: Client):
    made = replaced(owner)
    address = reverse("automation:version", args=[made.pk, 1])
    assert (
        reverse("automation:version-archive", args=[made.pk, 1])
        in member_client.get(address).content.decode()
    )
    member_client.post(reverse("automation:version-archive", args=[made.pk, 1]))
    assert (
        reverse("automation:version-restore", args=[made.pk, 1])
        in member_client.get(address).content.decode()
    )
    member_client.post(reverse("automation:version-restore", args=[made.pk, 1]))
    assert made.versions.get(version_number=1).archived_at is None


def test_a_draft_campaign_with_people_is_named_and_nobody_is_told_to_wait(owner: User):
    made = builders.workflow(user=owner)
    builders.enrol(builders.draft(made, name="Autumn"), builders.people(2))
    with pytest.raises(Refused, match="Autumn"):
        publishing.archive(made, user=owner)
