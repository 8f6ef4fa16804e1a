"""What strangers post to the two open doors, delivery reports and inbound messages: refused, and cheap."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from sms.accounts import renew_webhook
from sms.models import InboundSms, SmsLog, SmsStatus, UnmatchedReport
from tests.clocks import MovableClock
from tests.people import make_member
from tests.sms.messages import make_log, make_settings, status_of
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db
ID = "4700000000000000007"
GOOD = json.dumps({"reports": [{"message_id": ID, "status": "delivered"}]}).encode()
DOORS = ["generic", "melipayamak", "inbound"]


@pytest.fixture
def token(workspace: Workspace, clock: MovableClock) -> str:
    make_log(workspace, ID)
    return make_settings(workspace).webhook_token


def post(token: str, body: bytes, door: str = "generic", **extra: Any) -> HttpResponse:
    extra = {"content_type": "application/json", **extra}
    client = Client(enforce_csrf_checks=True)
    return client.post(f"/api/webhooks/sms/{door}/{token}", data=body, **extra)  # type: ignore[return-value]


def nothing_happened() -> bool:
    moved = SmsLog.objects.exclude(status=SmsStatus.SUBMITTED).exists()
    return not (moved or UnmatchedReport.objects.exists() or InboundSms.objects.exists())


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "GZIP"])
def test_a_packed_body_is_never_unpacked(token: str, door: str, coding: str) -> None:
    response = post(token, gzip.compress(b" " * 50_000_000 + GOOD), door, HTTP_CONTENT_ENCODING=coding)

    assert response.status_code == 400
    assert nothing_happened()


@pytest.mark.parametrize("door", DOORS)
def test_three_megabytes_are_refused_without_being_kept_in_memory(token: str, door: str) -> None:
    body = b"[" * 3_000_000
    tracemalloc.start()
    try:
        response = post(token, body, door)
        _now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert response.status_code == 413
    assert peak < 2 * len(body)  # the test client's own copy, and not a parsed one beside it
    assert nothing_happened()


@pytest.mark.parametrize("door", DOORS)
def test_a_body_whose_length_nobody_told_is_not_read(token: str, door: str) -> None:
    """Chunked: the server has to know when to stop before it begins."""
    answer = post(token, GOOD, door, CONTENT_LENGTH="", HTTP_TRANSFER_ENCODING="chunked")

    assert answer.status_code in (200, 400)  # an inbound message without fields is an answer to nothing
    assert nothing_happened()


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "application/json"])
def test_ten_thousand_fields_are_refused(token: str, door: str, kind: str) -> None:
    fields = b"&".join([b"a=1"] * 10_000)

    assert post(token, fields, door, content_type=kind).status_code == 400
    assert nothing_happened()


@pytest.mark.parametrize("door", DOORS)
def test_deep_json_is_refused(token: str, door: str) -> None:
    assert post(token, b'{"reports":' + b"[" * 30_000 + b"]" * 30_000 + b"}", door).status_code == 400


@pytest.mark.parametrize(
    "body",
    [
        b'{"reports":[{"message_id":NaN,"status":"sent"}]}',
        b'{"reports":[{"message_id":"1","status":1e400}]}',
        b'{"reports":[{"message_id":' + b"9" * 5000 + b',"status":"sent"}]}',
        b'{"reports":[],"reports":[{"message_id":"4700000000000000007","status":"failed"}]}',
        b"\xff\xfe{}",
        b"",
    ],
)
def test_what_is_no_honest_json_is_refused(token: str, body: bytes) -> None:
    assert post(token, body).status_code == 400
    assert nothing_happened()


@pytest.mark.parametrize("kind", ["text/plain", "application/xml", "multipart/form-data; boundary=x", ""])
def test_the_content_type_opens_no_other_way_in(token: str, kind: str) -> None:
    """The body decides: the words of the format are read, whatever they are called."""
    assert post(token, GOOD, content_type=kind).status_code == 200
    assert post(token, b"--x\r\n\r\n--x--", content_type=kind).status_code == 400


@pytest.mark.parametrize("door", DOORS)
def test_the_right_secret_in_the_wrong_place_is_no_secret(
    token: str, workspace: Workspace, door: str
) -> None:
    wrong = "never-made-never-made"
    body = json.dumps({"token": token, **json.loads(GOOD)}).encode()

    answers = [
        Client().post(
            f"/api/webhooks/sms/{door}/{wrong}?token={token}", body, content_type="application/json"
        ),
        post(wrong, body, door, HTTP_AUTHORIZATION=f"Bearer {token}", HTTP_X_TOKEN=token),
        Client().post(f"/api/webhooks/sms/{door}/توکن-توکن-توکن-توکن", body, content_type="application/json"),
        post(token.swapcase(), body, door),
        post(token[:-1], body, door),
    ]

    assert {answer.status_code for answer in answers} == {404}
    assert nothing_happened()


@pytest.mark.parametrize("place", ["/api/webhooks/sms/generic/{token}", "/api/webhooks/sms/inbound/{token}",
                                  "/settings/sms/", "/automation/sms-logs/"])  # fmt: skip
def test_no_other_origin_is_let_in(token: str, place: str, member_client: Client) -> None:
    asked = {"Origin": "https://attacker.example", "Access-Control-Request-Method": "POST"}
    address = place.format(token=token)

    for answer in (member_client.options(address, headers=asked), member_client.get(address, headers=asked)):
        assert not [name for name in answer.headers if name.lower().startswith("access-control-")]


def test_a_renewed_secret_is_the_only_one(token: str, workspace: Workspace) -> None:
    """The old address is closed at once: renewing is what somebody does when it became known."""
    fresh = renew_webhook(workspace, user=make_member(workspace, "owner", email="second@kaveh.example"))

    assert (post(token, GOOD).status_code, post(fresh, GOOD).status_code) == (404, 200)
    assert status_of(SmsLog.objects.get()) == SmsStatus.DELIVERED
