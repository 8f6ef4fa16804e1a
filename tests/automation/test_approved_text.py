"""At publishing: the text of a step on a line for approved texts comes out as the approved text."""

from __future__ import annotations

from typing import Any

import pytest

from automation.action_specs.send_sms import check_workspace
from engine.types import NodeSpec
from sms.models import ProviderAccount, SmsSettings
from tests.scenario import open_scripted_channel
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db
APPROVED = "سلام {0}، کد شما {1} است."


def codes(workspace: Workspace, text: str = APPROVED, **config: Any) -> list[str]:
    open_scripted_channel()
    details = {"123": {"kind": "pattern", "text": text}}
    ProviderAccount.objects.update(lines=["50001", "123"], line_details=details)
    step = {"sender": "123", "message_kind": "service", **config}
    node = NodeSpec(key="a", type="action", subtype="send_sms", config=step)
    return [problem.code for problem in check_workspace([node])]


@pytest.mark.parametrize(
    ("body", "fits"),
    [
        ("سلام {target.first_name}، کد شما {target.code} است.", True),
        ("سلام {target.first_name|دوست}، کد شما 12 است.", True),
        ("سلام {target.first_name}، کد شما {target.code} است", False),
        ("درود {target.first_name}، کد شما {target.code} است.", False),
        ("سلام {target.first_name}", False),
        ("{target.anything}", False),
    ],
)
def test_the_text_fits_or_is_told(workspace: Workspace, body: str, fits: bool) -> None:
    assert codes(workspace, body=body) == ([] if fits else ["text_not_approved"])


def test_one_place_that_comes_twice_holds_one_variable(workspace: Workspace) -> None:
    approved = "{0} و {0}"

    assert codes(workspace, approved, body="{target.a} و {target.a}") == []
    assert codes(workspace, approved, body="{target.a} و {target.b}") == ["text_not_approved"]


def test_an_opt_out_text_that_is_added_belongs_to_the_approved_text(workspace: Workspace) -> None:
    open_scripted_channel()
    SmsSettings.objects.update(opt_out_text="لغو11")

    assert codes(workspace, "سلام {0}", body="سلام {target.a}", append_opt_out=True) == []
    assert codes(workspace, "سلام", body="سلام", append_opt_out=True) == ["text_not_approved"]
    assert codes(workspace, "سلام\nلغو11", body="سلام", append_opt_out=True) == []


def test_other_lines_send_any_text(workspace: Workspace) -> None:
    assert codes(workspace, body="هر چیزی", sender="50001") == []
