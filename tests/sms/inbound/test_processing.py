"""What a message does: no, yes again, somebody else's keyword, or nothing; once, and never across."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.db import OperationalError, connection

from automation.runtime.tick import run_tick
from blacklist import actions as blacklist_actions
from blacklist.models import BlacklistEntry
from core import clock as core_clock
from core.tenancy import HistoryIsAppendOnly, workspace_scope
from sms.inbound import hooks, storing
from sms.inbound.hooks import Inbound
from sms.inbound.processing import process
from sms.models import InboundOutcome, InboundPending, InboundSettings, InboundSms, SmsLog
from targets.models import Target
from tests.clocks import MovableClock
from tests.concurrency.threads import at_once
from tests.factories import make
from tests.people import client_of, make_workspace
from tests.refusing import refusing_rows
from tests.scenario import Scenario, send, wait
from tests.sms.inbound.relaying import NUMBER, relay, token_of, write
from workspaces.models import AuditRecord, User, Workspace

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _standing_still(workspace: Workspace, clock: MovableClock) -> None:
    """In a workspace, at one moment."""


@pytest.fixture
def heard() -> Iterator[list[Inbound]]:
    """What a handler was shown; it uses messages that say `قرعه‌کشی`."""
    seen: list[Inbound] = []

    def handler(message: Inbound) -> bool:
        seen.append(message)
        return message.key == "قرعهکشی"

    hooks.register_inbound_handler("lottery", handler)
    yield seen
    hooks.unregister_inbound_handler("lottery")


def entry() -> BlacklistEntry | None:
    return BlacklistEntry.objects.filter(value=NUMBER).first()


def block(workspace: Workspace, source: str) -> None:
    blacklist_actions.add(
        workspace_id=workspace.pk, channel="sms", values=[NUMBER], source=source, reason="manual", user=None
    )


def test_no_blocks_the_number_and_is_audited(workspace: Workspace) -> None:
    done = write(workspace, "لغو۱۱")

    blocked = entry()
    assert (done.effect, blocked.is_active, blocked.source, blocked.reason) == (
        "opted_out", True, "opt_out", "opt_out",
    )  # fmt: skip
    audit = AuditRecord.objects.get(event="blacklist.added")
    assert (audit.user_id, audit.new["source"]) == (None, "opt_out")


def test_the_workspace_s_own_word_counts(workspace: Workspace) -> None:
    make(InboundSettings, workspace, opt_out_words=["دیگه نفرست"])

    assert write(workspace, "ديگه  نفرست!").effect == "opted_out"


def test_a_sentence_with_the_word_is_only_a_message(workspace: Workspace) -> None:
    assert write(workspace, "جلسه لغو شد؟").effect == "nothing"
    assert entry() is None


def test_saying_no_again_changes_nothing(workspace: Workspace, clock: MovableClock) -> None:
    write(workspace, "لغو")
    clock.advance(minutes=6)

    assert write(workspace, "لغو").effect == "opted_out_before"
    assert AuditRecord.objects.filter(event__startswith="blacklist.").count() == 1


def test_somebody_on_the_way_gets_no_further_message(workspace: Workspace, clock: MovableClock) -> None:
    scenario = Scenario(send("سلام"), wait(1), send("پیشنهاد"))
    scenario.settle()
    write(workspace, "لغو", number=scenario.targets[0].mobile)
    clock.advance(days=1, minutes=1)
    scenario.settle()

    assert [sent.text for sent in scenario.provider.accepted] == ["سلام"]
    assert scenario.statuses() == {"blacklisted": 1}


def test_yes_takes_back_the_person_s_own_no(workspace: Workspace) -> None:
    write(workspace, "لغو")

    assert write(workspace, "۱۲").effect == "opted_in"
    assert entry().is_active is False
    assert AuditRecord.objects.filter(event="blacklist.removed", user=None).count() == 1


@pytest.mark.parametrize("source", ["manual", "import", "api", "target_status"])
def test_yes_does_not_unblock_what_somebody_else_blocked(workspace: Workspace, source: str) -> None:
    block(workspace, source)

    assert write(workspace, "۱۲").effect == "opt_in_refused"
    assert entry().is_active is True
    assert AuditRecord.objects.filter(event="sms.asked_back", user=None).count() == 1


def test_operators_are_told_on_the_start_page_until_the_block_is_gone(
    workspace: Workspace, owner: User, clock: MovableClock
) -> None:
    block(workspace, "manual")
    write(workspace, "۱۲")
    english = client_of(owner, language="en")
    told = "1 person who is blocked here wrote that they want messages again."

    assert told in english.get("/").content.decode()
    blacklist_actions.remove(workspace_id=workspace.pk, channel="sms", values=[NUMBER], user=owner)
    assert told not in english.get("/").content.decode()


def test_no_on_top_of_an_operator_s_block_stays_the_operator_s(workspace: Workspace) -> None:
    block(workspace, "manual")
    first, second = write(workspace, "لغو"), write(workspace, "عضویت")

    assert (first.effect, second.effect, entry().is_active) == ("opted_out_before", "opt_in_refused", True)


@pytest.mark.parametrize("source", ["manual", "import", "api", "target_status"])
def test_an_operator_s_block_on_top_of_a_no_survives_the_person_s_yes(
    workspace: Workspace, source: str
) -> None:
    write(workspace, "لغو")
    block(workspace, source)

    assert write(workspace, "۱۲").effect == "opt_in_refused"
    assert (entry().is_active, entry().reason) == (True, "opt_out")
    assert AuditRecord.objects.filter(old={"source": "opt_out"}).count() == 1


def test_yes_of_somebody_who_never_said_no_changes_nothing(workspace: Workspace) -> None:
    assert write(workspace, "start").effect == "opt_in_idle"
    assert not AuditRecord.objects.exists()


def test_an_unknown_sender_is_only_noted(workspace: Workspace) -> None:
    assert write(workspace, "لغو", number="MCI").effect == "unknown_sender"
    assert not BlacklistEntry.objects.exists()


def test_fields_that_do_not_fit_are_noted(workspace: Workspace) -> None:
    row = make(InboundSms, workspace, number="", sender="", text="", unread={"msg": "لغو"})
    make(InboundPending, workspace, inbound=row)
    process([row.pk], core_clock.now())

    assert InboundOutcome.objects.get().effect == "unreadable"


def test_another_workspace_s_block_stays_its_own(workspace: Workspace, other_workspace: Workspace) -> None:
    write(workspace, "لغو")

    with workspace_scope(other_workspace.pk):
        assert not BlacklistEntry.objects.exists()


# -- whose number it is -------------------------------------------------------------------------------


def test_the_person_is_found_by_number(workspace: Workspace, other_workspace: Workspace) -> None:
    person = make(Target, workspace, mobile=NUMBER)
    make(Target, other_workspace, mobile=NUMBER)

    done = write(workspace, "سلام", number="+98 912 345 6789")

    assert (done.subject_type, done.subject_id) == ("target", person.pk)


def test_a_landline_is_found_too(workspace: Workspace) -> None:
    person = make(Target, workspace, mobile="", landline="02122334455")

    assert write(workspace, "سلام", number="2122334455").subject_id == person.pk


def test_a_number_of_nobody_blocks_all_the_same(workspace: Workspace) -> None:
    done = write(workspace, "لغو")

    assert (done.subject_id, entry().is_active) == (None, True)


# -- handlers -----------------------------------------------------------------------------------------


def test_a_handler_is_shown_what_was_understood(workspace: Workspace, heard: list[Inbound]) -> None:
    person = make(Target, workspace, mobile=NUMBER)
    done = write(workspace, "قرعه كشي")

    (message,) = heard
    assert (done.effect, done.handled_by) == ("handled", ["lottery"])
    assert (message.number, message.text, message.key) == (NUMBER, "قرعه كشي", "قرعهکشی")
    assert (message.subject, message.effect) == (("target", person.pk), "nothing")


def test_a_handler_knows_that_a_message_was_a_no(workspace: Workspace, heard: list[Inbound]) -> None:
    done = write(workspace, "لغو")

    assert (done.effect, done.handled_by, heard[0].effect) == ("opted_out", [], "opted_out")


def test_a_broken_handler_undoes_its_own_work_only(workspace: Workspace, heard: list[Inbound]) -> None:
    def broken(message: Inbound) -> bool:
        make(Target, workspace)
        raise RuntimeError("keyword")

    hooks.register_inbound_handler("broken", broken)
    try:
        done = write(workspace, "لغو")
    finally:
        hooks.unregister_inbound_handler("broken")

    assert (done.effect, entry().is_active, len(heard)) == ("opted_out", True, 1)
    assert not Target.objects.exists()


@pytest.mark.parametrize(("text", "done"), [("بله", 0), ("لغو", 1)])
def test_a_busy_database_puts_everything_off_but_a_no(workspace: Workspace, text: str, done: int) -> None:
    def busy(_message: Inbound) -> bool:
        raise OperationalError("locked")

    row = make(InboundSms, workspace, text=text, number=NUMBER)
    make(InboundPending, workspace, inbound=row)
    hooks.register_inbound_handler("busy", busy)
    try:
        assert process([row.pk], core_clock.now()) == done
    finally:
        hooks.unregister_inbound_handler("busy")

    assert InboundPending.objects.count() == 1 - done
    assert process([row.pk], core_clock.now()) == 1 - done


# -- once, and never lost -----------------------------------------------------------------------------


def test_a_doubled_task_does_nothing(workspace: Workspace, heard: list[Inbound]) -> None:
    write(workspace, "سلام")
    row = InboundSms.objects.get()

    assert process([row.pk], core_clock.now()) == 0
    assert (len(heard), InboundOutcome.objects.count()) == (1, 1)


def test_the_queue_is_told_when_a_message_is_kept(
    workspace: Workspace, django_capture_on_commit_callbacks: object
) -> None:
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]  # the fixture's function
        relay(token_of(workspace), body="لغو")

    assert InboundOutcome.objects.get().effect == "opted_out"


def test_while_the_queue_is_down_the_tick_hears_the_no(
    workspace: Workspace,
    clock: MovableClock,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: object,
) -> None:
    def down(*_args: object, **_options: object) -> None:
        raise ConnectionError("no broker")

    monkeypatch.setattr(storing, "enqueue", down)
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]  # the fixture's function
        assert relay(token_of(workspace), body="لغو").status_code == 200
    assert not InboundOutcome.objects.exists()
    clock.advance(seconds=31)
    run_tick()

    assert (InboundOutcome.objects.get().effect, entry().is_active) == ("opted_out", True)
    assert not InboundPending.objects.exists()


def test_the_tick_leaves_what_the_queue_has_just_been_told_of(workspace: Workspace) -> None:
    relay(token_of(workspace), body="لغو")
    run_tick()

    assert InboundPending.objects.count() == 1


def test_a_message_that_cannot_be_worked_on_waits_whole(workspace: Workspace, clock: MovableClock) -> None:
    row = make(InboundSms, workspace, text="لغو", number=NUMBER)
    make(InboundPending, workspace, inbound=row)
    with refusing_rows("sms_inboundoutcome"):
        assert process([row.pk], clock.at) == 0
    assert (entry(), InboundPending.objects.get().due_at) == (None, clock.at + timedelta(minutes=10))

    clock.advance(minutes=10)
    run_tick()
    assert (InboundOutcome.objects.get().effect, entry().is_active) == ("opted_out", True)


def test_not_knowing_whose_number_it_is_undoes_no_opt_out(workspace: Workspace) -> None:
    def broken(_number: str) -> None:
        raise RuntimeError("matcher")

    hooks.register_matcher(broken)
    try:
        done = write(workspace, "لغو")
    finally:
        hooks._matchers.remove(broken)

    assert (done.effect, done.subject_id, entry().is_active) == ("opted_out", None, True)


def test_what_came_in_and_what_it_did_are_history(workspace: Workspace) -> None:
    done = write(workspace, "سلام")
    for row in (done, done.inbound):
        for change in (row.save, row.delete):
            with pytest.raises(HistoryIsAppendOnly):
                change()


@pytest.mark.concurrency
@pytest.mark.django_db(transaction=True)
def test_a_message_worked_on_by_many_at_once_did_it_once(clock: MovableClock) -> None:
    workspace = make_workspace("many")
    seen: list[int] = []
    with workspace_scope(workspace.pk):
        make(InboundSettings, workspace, confirmation="لغو شد.")
        row = make(InboundSms, workspace, text="لغو", number=NUMBER)
        make(InboundPending, workspace, inbound=row)
        hooks.register_inbound_handler("count", lambda message: bool(seen.append(message.id)))  # type: ignore[func-returns-value]
        try:
            done = at_once(6, lambda _i: process([row.pk], clock.at), workspace_id=workspace.pk)
        finally:
            hooks.unregister_inbound_handler("count")

        assert sorted(done) == [0, 0, 0, 0, 0, 1]
        assert InboundOutcome.objects.get().effect == "opted_out"
        assert SmsLog.objects.filter(producer="opt_out").count() == 1
        assert AuditRecord.objects.filter(event="blacklist.added").count() == 1
    assert connection.vendor != "postgresql" or seen == [row.pk]
