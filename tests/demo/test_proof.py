"""The proof must see what it claims to see: each promise, broken once by hand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from demo.proof import Check, Evidence, Rules, Sent, Walk, Witnessed, holds, prove

TEHRAN = ZoneInfo("Asia/Tehran")
SATURDAY_NOON = datetime(2026, 5, 2, 12, 0, tzinfo=TEHRAN).astimezone(UTC)
DAILY = (time(9), time(18))
RULES = Rules(
    cap_per_day=2,
    zone=TEHRAN,
    hours={5: DAILY, 6: DAILY, 0: DAILY, 1: DAILY, 2: DAILY, 3: (time(9), time(13))},
    steps={"first": re.compile("first .*"), "second": re.compile("second .*")},
)


def witnessed(number: int, to: str, step: str, days: int = 0) -> Witnessed:
    return Witnessed(f"id{number}", to, f"{step} text", SATURDAY_NOON + timedelta(days=days))


SEEN = [
    witnessed(1, "ana", "first"), witnessed(2, "bo", "first"),
    witnessed(3, "ana", "second", 1), witnessed(4, "bo", "second", 1),
]  # fmt: skip
STEPS = {"first": ["delivered"], "second": ["delivered"]}
GOOD = Evidence(
    witnessed=SEEN,
    walks=[Walk("ana", True, True, STEPS), Walk("bo", True, True, STEPS)],
    sent=[Sent(seen.to, seen.message_id) for seen in SEEN],
    blocked={"cy": SATURDAY_NOON},
)


def broken(evidence: Evidence) -> list[str]:
    return [check.promise for check in prove(evidence, RULES) if not check.holds]


def with_extra(extra: Witnessed, walks: Sequence[Walk] = GOOD.walks) -> Evidence:
    """GOOD and one more accepted message that our tables know of too."""
    return replace(
        GOOD, witnessed=[*SEEN, extra], sent=[*GOOD.sent, Sent(extra.to, extra.message_id)], walks=walks
    )


def test_a_clean_run_holds() -> None:
    assert holds(prove(GOOD, RULES))


def test_a_second_message_of_a_step_is_seen() -> None:
    assert broken(with_extra(witnessed(5, "ana", "first", 2))) == ["nobody twice in a step"]


def test_a_text_that_no_step_sends_is_seen() -> None:
    assert broken(with_extra(witnessed(5, "ana", "other", 2))) == ["nobody twice in a step"]


def test_a_day_over_the_cap_is_seen() -> None:
    walks = [*GOOD.walks, Walk("di", True, False, {"first": ["sent"]})]

    assert broken(with_extra(witnessed(5, "di", "first", 1), walks=walks)) == ["no day over 2"]


@pytest.mark.parametrize(
    "at",
    [
        datetime(2026, 5, 3, 8, 59, 59, tzinfo=TEHRAN),
        datetime(2026, 5, 3, 18, 0, tzinfo=TEHRAN),
        datetime(2026, 5, 7, 13, 0, tzinfo=TEHRAN),
        datetime(2026, 5, 8, 12, 0, tzinfo=TEHRAN),
    ],
    ids=["before nine", "at six", "Thursday at one", "Friday"],
)
def test_a_message_outside_the_window_is_seen(at: datetime) -> None:
    late = [*SEEN[:3], replace(SEEN[3], at=at.astimezone(UTC))]

    assert broken(replace(GOOD, witnessed=late)) == ["nothing outside the window"]


def test_a_message_after_the_blacklisting_is_seen() -> None:
    assert broken(replace(GOOD, blocked={"bo": SATURDAY_NOON + timedelta(hours=1)})) == [
        "nothing to a blacklisted number"
    ]


def test_a_message_before_the_blacklisting_is_no_fault() -> None:
    assert broken(replace(GOOD, blocked={"bo": SATURDAY_NOON + timedelta(days=2)})) == []


def test_somebody_who_completed_without_a_message_is_missed() -> None:
    lost = replace(GOOD, witnessed=SEEN[:3], sent=GOOD.sent[:3])

    assert broken(lost) == ["everyone accounted for"]


def test_a_failed_step_explains_a_missing_message() -> None:
    walks = [GOOD.walks[0], Walk("bo", True, True, {"first": ["delivered"], "second": ["failed", "failed"]})]

    assert broken(replace(GOOD, witnessed=SEEN[:3], sent=GOOD.sent[:3], walks=walks)) == []


def test_a_retry_that_never_came_is_missed() -> None:
    walks = [
        GOOD.walks[0],
        Walk("bo", True, False, {"first": ["delivered"], "second": ["failed", "sending"]}),
    ]

    assert broken(replace(GOOD, witnessed=SEEN[:3], sent=GOOD.sent[:3], walks=walks)) == [
        "everyone accounted for"
    ]


def test_a_walk_that_has_not_ended_is_missed() -> None:
    walks = [GOOD.walks[0], replace(GOOD.walks[1], ended=False)]

    assert broken(replace(GOOD, walks=walks)) == ["everyone accounted for"]


def test_a_message_to_somebody_who_never_entered_is_seen() -> None:
    assert broken(with_extra(witnessed(5, "stranger", "first", 2))) == ["everyone accounted for"]


def test_a_person_who_entered_twice_is_seen() -> None:
    assert broken(replace(GOOD, walks=[*GOOD.walks, GOOD.walks[0]])) == ["everyone accounted for"]


def test_a_message_our_tables_invented_is_seen() -> None:
    assert broken(replace(GOOD, sent=[*GOOD.sent, Sent("ana", "id9")])) == [
        "the provider's record and our tables agree"
    ]


def test_a_message_only_the_provider_knows_is_seen() -> None:
    assert broken(replace(GOOD, sent=GOOD.sent[:3])) == ["the provider's record and our tables agree"]


def test_a_lost_answer_explains_a_message_only_the_provider_knows() -> None:
    walks = [GOOD.walks[0], Walk("bo", True, True, {"first": ["delivered"], "second": ["unknown"]})]

    assert broken(replace(GOOD, sent=GOOD.sent[:3], walks=walks)) == []


def test_a_run_that_did_nothing_proves_nothing() -> None:
    assert not holds(prove(Evidence([], [], [], {}), RULES))


def test_examples_are_few_and_the_count_is_whole() -> None:
    crowd = [witnessed(number, f"p{number}", "first", 1) for number in range(50)]
    over: Check = prove(replace(GOOD, witnessed=crowd), RULES)[0]

    assert over.violations >= 50
    assert len(over.examples) == 5
