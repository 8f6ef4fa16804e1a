"""The menu follows the switch of automation; limits in messages are written in the reader's digits."""

from __future__ import annotations

import pytest
from django import forms
from django.test import Client
from django.utils import translation

from automation.models import AutomationSettings
from core.templatetags.peyk import error_texts
from workspaces.models import Workspace


@pytest.mark.parametrize("enabled", [True, False])
def test_campaigns_and_workflows_are_in_the_menu_while_automation_is_on(
    member_client: Client, workspace: Workspace, enabled: bool
) -> None:
    AutomationSettings.objects.create(workspace=workspace, enabled=enabled)
    menu = member_client.get("/account").content.decode().split("<main")[0]

    assert ('href="/automation/campaigns/"' in menu) is enabled
    assert ('href="/automation/workflows/"' in menu) is enabled
    assert 'href="/automation/blacklist/"' in menu


class _Form(forms.Form):
    name = forms.CharField(max_length=10)


@pytest.mark.parametrize(("language", "limit"), [("fa", "۱۰"), ("en", "10")])
def test_a_limit_in_a_message_has_the_readers_digits(language: str, limit: str) -> None:
    with translation.override(language):
        form = _Form({"name": "x" * 12})
        (text,) = error_texts(form["name"].errors)

    assert limit in text
