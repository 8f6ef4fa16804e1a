from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from sms import templates
from sms.models import SmsTemplate
from tests.clocks import MovableClock
from tests.factories import make
from tests.people import client_of
from tests.sms.messages import make_settings
from workspaces.models import AuditRecord, User, Workspace

PAGE = "/automation/sms-templates/"


@pytest.fixture
def english(marketer: User, clock: MovableClock) -> Client:
    return client_of(marketer, language="en")


def test_a_template_is_added_changed_and_removed(english: Client, workspace: Workspace) -> None:
    english.post(f"{PAGE}new", {"name": "خوش‌آمد", "body": "سلام {target.first_name|دوست}"})
    row = SmsTemplate.objects.get()
    english.post(f"{PAGE}{row.pk}", {"name": "خوش‌آمد", "body": "درود"})
    row.refresh_from_db()
    changed = row.body
    english.post(reverse("sms:template-delete", args=[row.pk]))

    assert changed == "درود"
    assert not templates.all_templates().exists()
    assert SmsTemplate.objects.filter(pk=row.pk, deleted_at__isnull=False).exists()
    events = AuditRecord.objects.order_by("pk").values_list("event", flat=True)
    assert list(events) == ["sms.template_added", "sms.template_changed", "sms.template_removed"]


def test_an_unchanged_template_leaves_no_line_in_the_audit_log(english: Client, workspace: Workspace) -> None:
    row = make(SmsTemplate, workspace, name="A", body="B")
    english.post(f"{PAGE}{row.pk}", {"name": "A", "body": "B"})

    assert not AuditRecord.objects.exists()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("", "This field is required."),
        ("{target.nonsense}", "There is no variable {target.nonsense}."),
        ("با قمار", "The word «قمار» at character 4 is not allowed."),
        ("https://a.ir", "The link «https://a.ir» at character 1 is not allowed."),
    ],
)
def test_what_could_not_be_published_is_refused(
    english: Client, workspace: Workspace, body: str, words: str
) -> None:
    make_settings(workspace, forbidden_words=["قمار"], refuse_links=True)

    response = english.post(f"{PAGE}new", {"name": "X", "body": body})

    assert response.status_code == 422
    assert words in response.content.decode()
    assert not SmsTemplate.objects.exists()


def test_a_name_is_used_once_and_free_again_when_its_template_is_gone(
    english: Client, workspace: Workspace, marketer: User
) -> None:
    row = make(SmsTemplate, workspace, name="A")
    taken = english.post(f"{PAGE}new", {"name": "A", "body": "B"})
    templates.remove(row, user=marketer)
    free = english.post(f"{PAGE}new", {"name": "A", "body": "B"})

    assert (taken.status_code, free.status_code) == (422, 302)
    assert "Another template has this name." in taken.content.decode()


def test_a_removed_template_is_not_there(english: Client, workspace: Workspace, marketer: User) -> None:
    row = make(SmsTemplate, workspace)
    templates.remove(row, user=marketer)

    assert english.get(f"{PAGE}{row.pk}").status_code == 404


def test_the_preview_shows_the_text_its_parts_and_what_is_not_allowed(
    english: Client, workspace: Workspace
) -> None:
    make_settings(workspace, forbidden_words=["casino"])
    body = "Hello {target.first_name}, “casino” " + "and much more to say " * 5

    page = english.post(reverse("sms:template-preview"), {"body": body}).content.decode()

    assert "<mark>“</mark>casino<mark>”</mark>" in page
    assert "Word that is not allowed" in page
    assert "{target.first_name}" not in page


def test_the_list_shows_names_texts_and_parts(english: Client, workspace: Workspace) -> None:
    make(SmsTemplate, workspace, name="<b>", body="س" * 71)

    page = english.get(PAGE).content.decode()

    assert "&lt;b&gt;" in page
    assert english.get(PAGE).context["lines"][0]["preview"].count.parts == 2


def test_the_number_of_queries_does_not_grow_with_the_templates(
    english: Client, workspace: Workspace, marketer: User
) -> None:
    english.get(PAGE)
    counts = []
    for size in (1, 30):
        for _ in range(size):
            make(SmsTemplate, workspace, created_by=marketer)
        with CaptureQueriesContext(connection) as queries:
            english.get(PAGE)
        counts.append(len(queries))

    assert counts[0] == counts[1]
