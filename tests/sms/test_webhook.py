from __future__ import annotations

import contextlib
import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog
from django.http import HttpResponse
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from automation.models import WorkflowExecution
from blacklist.models import BlacklistEntry
from sms import switch, webhooks
from sms.models import SmsLogEvent, SmsSettings, SmsStatus, UnmatchedReport
from sms.report_formats import GenericFormat, Malformed, TooManyReports
from tests.clocks import MovableClock
from tests.scenario import Scenario, send, wait
from tests.sms.messages import make_log, make_settings, status_of
from workspaces.models import Workspace

ID = "4700000000000000007"


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """The log as it is written, beside the handlers of the test run."""
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    root = logging.getLogger()
    ours = (one.formatter for one in root.handlers)
    handler.setFormatter(next(one for one in ours if isinstance(one, structlog.stdlib.ProcessorFormatter)))
    root.addHandler(handler)
    yield out
    root.removeHandler(handler)


@pytest.fixture
def token(workspace: Workspace, clock: MovableClock) -> str:
    return make_settings(workspace).webhook_token


def address(token: str, provider: str = "generic") -> str:
    return f"/api/webhooks/sms/{provider}/{token}"


def post(token: str, document: Any, provider: str = "generic", **extra: Any) -> HttpResponse:
    body = document if isinstance(document, bytes | str) else json.dumps(document)
    client = Client(enforce_csrf_checks=True, raise_request_exception=True)
    return client.post(address(token, provider), data=body, content_type="application/json", **extra)  # type: ignore[return-value]


def reports(*pairs: tuple[Any, Any]) -> dict[str, Any]:
    return {"reports": [{"message_id": message_id, "status": status} for message_id, status in pairs]}


def everything(response: HttpResponse) -> tuple[int, bytes, dict[str, str]]:
    return response.status_code, response.content, dict(response.headers)


@pytest.mark.parametrize("word", ["sent", "delivered", "failed", "rejected"])
def test_a_report_moves_its_message_without_a_session(workspace: Workspace, token: str, word: str) -> None:
    row = make_log(workspace, ID)

    response = post(token, reports((ID, word)))

    assert (response.status_code, response.content) == (200, b'{"ok":true}')
    assert status_of(row) == word


def test_what_is_posted_is_kept_as_it_was_posted(workspace: Workspace, token: str) -> None:
    make_log(workspace, ID)
    entry = {"message_id": ID, "status": "delivered", "operator": "MCI", "cost": 1.5}

    post(token, {"reports": [entry]})

    event = SmsLogEvent.objects.get()
    assert (event.payload, event.provider_status) == (entry, "delivered")


def test_the_answer_does_not_tell_whether_a_message_or_number_is_known(
    workspace: Workspace, token: str
) -> None:
    make_log(workspace, ID)
    known = {**reports((ID, "delivered")), "opt_outs": ["09123456789"]}
    answers = [
        everything(post(token, known)),
        everything(post(token, known)),
        everything(post(token, {**reports(("nobody", "delivered")), "opt_outs": ["nonsense"]})),
        everything(post(token, {})),
    ]

    assert all(answer == answers[0] for answer in answers)


def test_the_same_report_three_times_is_one_event(workspace: Workspace, token: str) -> None:
    make_log(workspace, ID)

    for _ in range(3):
        post(token, reports((ID, "delivered")))

    assert SmsLogEvent.objects.count() == 1


def test_an_unknown_word_is_kept_with_its_message_and_moves_nothing(workspace: Workspace, token: str) -> None:
    row = make_log(workspace, ID)

    post(token, reports((ID, "opened"), ("nobody", "opened")))

    assert status_of(row) == SmsStatus.SUBMITTED
    assert SmsLogEvent.objects.get().provider_status == "opened"
    assert UnmatchedReport.objects.count() == 0


def test_an_id_of_19_digits_may_come_as_a_number(workspace: Workspace, token: str) -> None:
    row = make_log(workspace, ID)

    post(token, reports((int(ID), "delivered")))

    assert status_of(row) == SmsStatus.DELIVERED


@pytest.mark.parametrize(
    "bad",
    [
        None, 5, "text", [], {}, {"message_id": ID}, {"message_id": None, "status": "sent"},
        {"message_id": True, "status": "sent"}, {"message_id": ["x"], "status": "sent"},
        {"message_id": "x" * 10_000, "status": "sent"}, {"message_id": "a\x00", "status": "sent"},
        {"message_id": "\ud800", "status": "sent"}, {"message_id": 10**400, "status": "sent"},
        {"message_id": "9", "status": None}, {"message_id": "9", "status": {"a": [1]}},
        {"message_id": "9", "status": "x" * 5000}, {"message_id": "9", "status": "a\x00"},
    ],
    ids=repr,
)  # fmt: skip
def test_one_bad_report_does_not_spoil_the_others(workspace: Workspace, token: str, bad: object) -> None:
    row = make_log(workspace, ID)
    make_log(workspace, "9")

    response = post(token, {"reports": [bad, {"message_id": ID, "status": "delivered", "x": "a\x00\ud800"}]})

    assert response.status_code == 200
    assert status_of(row) == SmsStatus.DELIVERED


def refusals(workspace: Workspace, token: str) -> Iterator[HttpResponse]:
    yield post("wrong-token-of-a-good-length", reports((ID, "sent")))
    yield post(token, reports((ID, "sent")), provider="kavenegar")
    yield post(token, reports((ID, "sent")), provider="nobody")
    yield post("x", b"{")
    yield post("%00" * 20, b"{")
    yield post("توکن" * 8, b"{")
    yield post("wrong-token-of-a-good-length", b"x" * 70_000)
    yield post("wrong-token-of-a-good-length", reports(*[(str(n), "sent") for n in range(201)]))


def test_every_refusal_without_the_secret_is_the_same_404(workspace: Workspace, token: str) -> None:
    answers = [everything(response) for response in refusals(workspace, token)]

    assert answers[0][0] == 404
    assert all(answer == answers[0] for answer in answers)


def test_a_switched_off_workspace_is_the_same_404(
    workspace: Workspace, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = everything(post("wrong-token-of-a-good-length", {}))
    monkeypatch.setattr(switch, "_switch", lambda workspace_id: workspace_id != workspace.pk)

    assert everything(post(token, {})) == wrong


def test_a_closed_workspace_is_the_same_404(workspace: Workspace, token: str) -> None:
    workspace.is_active = False
    workspace.save()

    assert post(token, {}).status_code == 404


def test_the_secret_is_compared_in_constant_time(token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[str] = []

    def spy(stored: str, offered: str) -> bool:
        compared.append(offered)
        return stored == offered

    monkeypatch.setattr(webhooks, "constant_time_compare", spy)
    post(token, {})
    post("wrong-token-of-a-good-length", {})

    assert compared == [token, "wrong-token-of-a-good-length"]


def test_one_workspaces_secret_changes_nothing_of_anothers(
    workspace: Workspace, other_workspace: Workspace, token: str
) -> None:
    theirs = make_log(other_workspace, ID)

    post(token, {**reports((ID, "delivered")), "opt_outs": ["09123456789"]})

    assert status_of(theirs) == SmsStatus.SUBMITTED
    assert set(BlacklistEntry.unscoped.values_list("workspace_id", flat=True)) == {workspace.pk}


@pytest.mark.parametrize("verb", ["get", "head", "put", "patch", "delete"])
def test_only_post_is_answered(token: str, verb: str) -> None:
    assert getattr(Client(), verb)(address(token)).status_code == 405


def padded(size: int) -> bytes:
    body = json.dumps({"reports": [], "padding": ""}).encode()
    return body.replace(b'""', b'"' + b"x" * (size - len(body)) + b'"')


def test_64_kilobytes_are_taken_and_one_byte_more_is_not(token: str) -> None:
    assert post(token, padded(65_536)).status_code == 200
    assert post(token, padded(65_537)).status_code == 413


def test_a_body_beyond_what_the_framework_reads_is_too_large_too(token: str) -> None:
    assert post(token, b"x" * (3 * 1024 * 1024)).status_code == 413


def test_the_size_is_checked_before_the_form(token: str) -> None:
    assert post(token, b"{" * 70_000).status_code == 413


def test_200_reports_are_taken_and_201_are_refused_as_a_whole(workspace: Workspace, token: str) -> None:
    rows = [make_log(workspace, f"47{n:017}") for n in range(2)]
    ids = [row.provider_message_id for row in rows] + [str(n) for n in range(199)]

    refused = post(token, {**reports(*[(one, "sent") for one in ids]), "opt_outs": ["09123456789"]})

    assert refused.status_code == 422
    assert {status_of(row) for row in rows} == {SmsStatus.SUBMITTED}
    assert (
        SmsLogEvent.objects.count() == UnmatchedReport.objects.count() == BlacklistEntry.objects.count() == 0
    )
    assert post(token, reports(*[(one, "sent") for one in ids[:200]])).status_code == 200


def test_the_121st_request_of_a_minute_is_refused(token: str, clock: MovableClock) -> None:
    statuses = [post(token, {}).status_code for _ in range(121)]

    assert statuses == [200] * 120 + [429]
    clock.advance(minutes=1)
    assert post(token, {}).status_code == 200


def test_too_many_requests_without_the_secret_stay_the_common_404(token: str) -> None:
    wrong = [post("wrong-token-of-a-good-length", {}).status_code for _ in range(121)]

    assert set(wrong) == {404}
    assert post(token, {}).status_code == 429


def test_the_rate_is_counted_by_client_address(token: str) -> None:
    for _ in range(121):
        post(token, {}, REMOTE_ADDR="198.51.100.7")

    assert post(token, {}, REMOTE_ADDR="198.51.100.8").status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        b"{", b"", b"[]", b"null", b'"text"', b"\xff\xfe", b'{"reports": {}}', b'{"opt_outs": "0912"}',
        b'{"reports": NaN}', b"[" * 60_000, b'{"a":' * 100 + b"1" + b"}" * 100, b"9" * 5000,
        b'{"reports": [' + b"9" * 5000 + b"]}",
    ],
    ids=lambda body: repr(body[:20]),
)  # fmt: skip
def test_a_malformed_body_is_refused_without_details(token: str, body: bytes) -> None:
    response = post(token, body)

    assert (response.status_code, response.content) == (400, b'{"error":"malformed"}')


def test_opt_outs_in_any_spelling_are_blocked(workspace: Workspace, token: str) -> None:
    numbers = ["09120000001", {"number": "+989120000002"}, "۰۹۱۲۰۰۰۰۰۰۳", {"number": "00989120000004"}]

    response = post(token, {"opt_outs": [*numbers, "nonsense", None, {"number": None}, {}, 9120000005]})

    assert response.content == b'{"ok":true}'
    entries = BlacklistEntry.objects.order_by("value")
    assert [entry.value for entry in entries] == [f"0912000000{n}" for n in range(1, 6)]
    assert {(entry.source, entry.reason) for entry in entries} == {("opt_out", "opt_out")}


def test_an_opt_out_is_honoured_beside_a_bad_report(token: str) -> None:
    post(token, {"reports": [None], "opt_outs": ["09123456789"]})

    assert BlacklistEntry.objects.get().value == "09123456789"


def test_the_secret_and_numbers_are_in_no_log_line(token: str, written: io.StringIO) -> None:
    post(token, {"opt_outs": ["09123456789"], **reports((ID, "sent"))})
    post(token, b"{")

    seen = written.getvalue()
    assert "sms_webhook" in seen
    assert token not in seen
    assert "9123456789" not in seen


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)
entries = st.fixed_dictionaries({"message_id": json_values, "status": json_values}) | json_values


@given(
    st.fixed_dictionaries(
        {"reports": st.lists(entries, max_size=4), "opt_outs": st.lists(json_values, max_size=3)}
    )
)
def test_no_well_formed_body_crashes_the_parser(document: dict[str, Any]) -> None:
    GenericFormat().parse(json.dumps(document).encode())


@given(st.binary(max_size=200))
def test_no_bytes_crash_the_parser(body: bytes) -> None:
    with contextlib.suppress(Malformed, TooManyReports):
        GenericFormat().parse(body)


@pytest.mark.django_db
@given(
    st.fixed_dictionaries(
        {"reports": st.lists(entries, max_size=4), "opt_outs": st.lists(json_values, max_size=3)}
    )
)
def test_no_well_formed_body_is_a_server_error(token: str, document: dict[str, Any]) -> None:
    assert post(token, document).status_code in (200, 429)


@pytest.mark.parametrize(
    "body",
    [
        f'{{"recId": {ID}, "status": 1}}',
        f'{{"RecId": "{ID}", "Status": "1"}}',
        f'[{{"recId": "{ID}", "status": 1}}, {{"recId": "999", "status": 1}}]',
        f'{{"recIds": ["{ID}"], "resultsAsCode": [1], "status": ""}}',
        f"recId={ID}&status=1",
    ],
)
def test_a_relay_may_post_the_panels_own_codes(workspace: Workspace, token: str, body: str) -> None:
    row = make_log(workspace, ID)
    kind = "application/json" if body[0] in "{[" else "application/x-www-form-urlencoded"

    response = Client().post(f"/api/webhooks/sms/melipayamak/{token}", body, content_type=kind)

    assert (response.status_code, response.content) == (200, b'{"ok":true}')
    assert status_of(row) == SmsStatus.DELIVERED


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("{", 400), ('"x"', 400), ("[1]", 400), ('{"recIds": ["1"], "resultsAsCode": []}', 400),
        ("\xff", 400), ("[" * 50, 400), (json.dumps([{"recId": "1", "status": 1}] * 201), 422),
        ('{"recId": null, "status": 1}', 200), ('{"recId": "1", "status": 777}', 200), ("{}", 200),
    ],
)  # fmt: skip
def test_what_is_no_report_of_the_panel_changes_nothing(
    workspace: Workspace, token: str, body: str, status: int
) -> None:
    row = make_log(workspace, ID)

    response = Client().post(
        f"/api/webhooks/sms/melipayamak/{token}", body.encode("latin-1"), content_type="application/json"
    )

    assert response.status_code == status
    assert status_of(row) == SmsStatus.SUBMITTED


# -- and the people on their way ----------------------------------------------------------------------


def test_a_report_moves_no_walk(workspace: Workspace, clock: MovableClock) -> None:
    scenario = Scenario(send(), wait(1))
    scenario.settle()
    before = WorkflowExecution.objects.values().get()
    (message,) = scenario.logs()

    post(SmsSettings.objects.get().webhook_token, reports((message.provider_message_id, "failed")))

    assert status_of(message) == SmsStatus.FAILED
    assert WorkflowExecution.objects.values().get() == before


def test_whoever_opts_out_on_the_way_gets_nothing_more(workspace: Workspace, clock: MovableClock) -> None:
    scenario = Scenario(send(), wait(1), send())
    scenario.settle()

    post(SmsSettings.objects.get().webhook_token, {"opt_outs": [scenario.targets[0].mobile]})
    clock.advance(days=2)
    scenario.settle()

    assert scenario.statuses() == {"blacklisted": 1}
    assert len(scenario.provider.asked) == 1
