from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from automation.models import AutomationSettings
from workspaces.models import AuditRecord, User, Workspace

pytestmark = pytest.mark.django_db
DAYS = {"sat": "9-18", "sun": "9-18", "mon": "۹ تا ۱۸", "tue": "", "wed": "", "thu": "", "fri": ""}


def save(client: Client, **values: str) -> int:
    return client.post(reverse("sms:section", args=["automation"]), values).status_code


def test_the_limit_and_the_hours_are_saved_and_audited(workspace: Workspace, member_client: Client):
    values = {
        "enabled": "on",
        "global_daily_limit": "۵۰۰",
        "use_window": "on",
        "timezone": "Asia/Tehran",
        **DAYS,
    }
    assert save(member_client, **values) == 302
    row = AutomationSettings.objects.get()
    assert (row.enabled, row.global_daily_limit) == (True, 500)
    assert row.default_send_window is not None
    assert row.default_send_window["days"]["mon"] == [["09:00", "18:00"]]
    assert AuditRecord.objects.filter(event="automation.settings_changed").count() == 1


def test_saving_the_same_again_changes_nothing(workspace: Workspace, member_client: Client):
    save(member_client, enabled="on", timezone="Asia/Tehran")
    assert AuditRecord.objects.filter(event="automation.settings_changed").count() == 0


def test_automation_can_be_switched_off(workspace: Workspace, member_client: Client):
    save(member_client, timezone="Asia/Tehran")
    assert AutomationSettings.objects.get().enabled is False


@pytest.mark.parametrize("wrong", [{"global_daily_limit": "-1"}, {"use_window": "on", "sat": "18-9"}])
def test_a_wrong_value_is_refused_and_nothing_is_saved(
    workspace: Workspace, member_client: Client, wrong: dict[str, str]
):
    assert save(member_client, enabled="on", timezone="Asia/Tehran", **wrong) == 422
    assert not AutomationSettings.objects.exclude(global_daily_limit=None).exists()


def test_a_marketer_may_not_change_it(workspace: Workspace, marketer: User, client_of: object):
    assert save(client_of(marketer), enabled="on", timezone="Asia/Tehran") == 403  # type: ignore[operator]
