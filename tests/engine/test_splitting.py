"""Who goes which way at a split."""

from __future__ import annotations

import random

import pytest

from engine.splitting import branch_of, fraction, is_held_out

PEOPLE = [str(number) for number in range(20_000)]


@pytest.mark.parametrize(
    ("node", "subject", "purpose", "expected"),
    [
        ("split", "1", "holdout", 0.3901786656174162),
        ("split", "1", "branch", 0.8464667444848795),
        ("split", "۲", "x:branch", 0.0023363129809961247),
    ],
)
def test_the_function_is_fixed(node: str, subject: str, purpose: str, expected: float) -> None:
    assert fraction(node, subject, purpose) == expected


def test_shares_follow_the_weights() -> None:
    shares = [0, 0, 0]
    for person in PEOPLE:
        shares[branch_of("s", person, (1, 2, 1))] += 1
    assert [round(share / len(PEOPLE), 2) for share in shares] == [0.25, 0.5, 0.25]


def test_weights_are_shares_and_no_percentages() -> None:
    assert all(branch_of("s", p, (1, 1)) == branch_of("s", p, (50, 50)) for p in PEOPLE[:500])


def test_a_branch_without_weight_gets_nobody() -> None:
    assert {branch_of("s", person, (0, 3, 0)) for person in PEOPLE[:500]} == {1}


def test_the_holdout_is_as_large_as_said() -> None:
    held = sum(is_held_out("s", person, 10) for person in PEOPLE)
    assert 0.09 < held / len(PEOPLE) < 0.11


def test_nobody_and_everybody_can_be_held_out() -> None:
    assert not any(is_held_out("s", person, 0) for person in PEOPLE[:500])
    assert all(is_held_out("s", person, 100) for person in PEOPLE[:500])


def test_the_holdout_says_nothing_about_the_branch() -> None:
    held = [person for person in PEOPLE if is_held_out("s", person, 50)]
    in_first = sum(branch_of("s", person, (1, 1)) == 0 for person in held)
    assert 0.48 < in_first / len(held) < 0.52


@pytest.mark.parametrize(("other", "salt"), [("t", ""), ("s", "autumn")])
def test_another_split_or_salt_deals_anew(other: str, salt: str) -> None:
    alike = sum(branch_of("s", p, (1, 1)) == branch_of(other, p, (1, 1), salt=salt) for p in PEOPLE)
    assert 0.48 < alike / len(PEOPLE) < 0.52


def test_chance_plays_no_part() -> None:
    before = [branch_of("s", person, (1, 1)) for person in PEOPLE[:200]]
    random.seed(7)
    assert [branch_of("s", person, (1, 1)) for person in PEOPLE[:200]] == before
