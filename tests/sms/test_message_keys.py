"""The keys of a message that a step writes: one for each visit, person and try, and no two alike."""

from __future__ import annotations

import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sms.sending import Draft, StepKey

IDS = st.integers(min_value=1, max_value=2**63 - 1)


def draft(
    *, execution: int = 7, cycle: int = 1, node: int = 3, attempt: int = 1, phone: str = "09123456789"
) -> Draft:
    return Draft(
        step=StepKey(execution, cycle, node), workflow_id=1, campaign_id=1, subject_type="target",
        subject_id=1, attempt_number=attempt, status="sending", phone=phone,
    )  # fmt: skip


def pair(one: Draft) -> tuple[str, str]:
    keys = one.identity()
    return keys["partition_key"], keys["row_key"]


def test_cycles_nodes_and_tries_have_keys_of_their_own() -> None:
    drafts = [draft(cycle=c, node=n, attempt=a) for c, n, a in product((1, 2), (3, 4), (1, 2))]

    assert len({pair(one) for one in drafts}) == len({one.idempotency_key for one in drafts}) == 8


def test_the_same_try_has_the_same_keys_again() -> None:
    assert pair(draft(attempt=2)) == pair(draft(attempt=2))


def test_only_a_deliberate_new_try_has_a_suffix() -> None:
    first, second = pair(draft())[1], pair(draft(attempt=2))[1]

    assert second == f"{first}_2"


def test_another_number_is_another_recipient() -> None:
    assert pair(draft(phone="09120000000"))[1] != pair(draft())[1]


@pytest.mark.parametrize("phone", ["09123456789", "نام", ""])
def test_a_key_holds_no_number_and_no_text(phone: str) -> None:
    assert not phone or phone not in "".join(pair(draft(phone=phone)))


@given(
    execution=IDS,
    cycle=st.integers(1, 2**31 - 1),
    node=IDS,
    attempt=st.integers(1, 2**31 - 1),
    phone=st.text(),
)
def test_keys_fit_their_columns_and_are_plain(
    execution: int, cycle: int, node: int, attempt: int, phone: str
) -> None:
    one = draft(execution=execution, cycle=cycle, node=node, attempt=attempt, phone=phone)
    partition, row = pair(one)

    assert re.fullmatch(r"[0-9:]{1,80}", partition)
    assert re.fullmatch(r"[0-9a-z_]{1,120}", row)
    assert len(one.idempotency_key) <= 120
