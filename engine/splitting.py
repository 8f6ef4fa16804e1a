"""Who goes which way at a split: by hash, never by chance, so that every retry gives the same answer.

Any language can repeat it:

    text      = node key + "|" + subject + "|" + purpose, as UTF-8
    number    = the first 8 bytes of SHA-256(text), read big-endian, shifted right by 11 bits
    fraction  = number / 2**53                 (a double without rounding: 0 <= fraction < 1)

The purpose is "holdout" for the question whether somebody is held out and "branch" for the choice of the
branch, so that the two are independent; a split with a salt has "salt:holdout" and "salt:branch".
Somebody is held out when fraction(holdout) < percent / 100. The branch is the first one whose share of the
weights, added up from the left as doubles, is above fraction(branch) * (the last of these sums).

    fraction("split", "1", "holdout") = 0.3901786656174162
    fraction("split", "1", "branch")  = 0.8464667444848795
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from itertools import accumulate


def fraction(node: str, subject: str, purpose: str) -> float:
    """Where `subject` falls in [0, 1) at `node`, evenly spread over subjects."""
    digest = sha256(f"{node}|{subject}|{purpose}".encode()).digest()
    return (int.from_bytes(digest[:8], "big") >> 11) / 2**53


def is_held_out(node: str, subject: str, percent: float, *, salt: str = "") -> bool:
    """Whether `subject` belongs to the `percent` (0 to 100) who get nothing."""
    return fraction(node, subject, _purpose("holdout", salt)) < percent / 100


def branch_of(node: str, subject: str, weights: Sequence[float], *, salt: str = "") -> int:
    """The index of the branch of `subject`. Weights are shares: none negative, their sum above 0."""
    shares = tuple(accumulate(weights))
    point = fraction(node, subject, _purpose("branch", salt)) * shares[-1]
    return next((index for index, share in enumerate(shares) if point < share), shares.index(shares[-1]))


def _purpose(word: str, salt: str) -> str:
    return f"{salt}:{word}" if salt else word
