"""A provider's post comes without a workspace: the token alone says which one is meant."""

from __future__ import annotations

import contextvars

import pytest
from django.test import Client

from tests.clocks import MovableClock
from tests.sms.messages import make_settings
from workspaces.models import Workspace


@pytest.mark.parametrize("place", ["generic", "inbound"])
def test_a_post_is_taken_though_no_workspace_is_active(
    workspace: Workspace, clock: MovableClock, place: str
) -> None:
    token = make_settings(workspace).webhook_token

    def post() -> int:
        body = '{"reports": []}' if place == "generic" else '{"from": "09120000000", "text": "x"}'
        address = f"/api/webhooks/sms/{place}/{token}"
        return Client().post(address, data=body, content_type="application/json").status_code

    assert contextvars.Context().run(post) == 200  # a fresh context: the fixtures' workspace is not in it
