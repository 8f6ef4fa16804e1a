from __future__ import annotations

from typing import Any

import pytest

from core.crypto import SecretUnreadable, needs_rotation, open_sealed, seal

SECRET = "رمز-پنل-123"


def test_what_was_sealed_can_be_opened_in_its_own_place():
    assert open_sealed(seal(SECRET, bound_to="w1|row1"), bound_to="w1|row1") == SECRET


def test_a_ciphertext_moved_to_another_row_does_not_open():
    with pytest.raises(SecretUnreadable):
        open_sealed(seal(SECRET, bound_to="w1|row1"), bound_to="w1|row2")


def test_the_same_secret_never_looks_the_same():
    assert seal(SECRET, bound_to="x") != seal(SECRET, bound_to="x")
    assert SECRET not in seal(SECRET, bound_to="x")


@pytest.mark.parametrize(
    "token", ["", "v1", "v2:k1:a:b", "v1:nokey:AAAA:AAAA", "v1:k1:*:*", "v1:k1:AAAA:AAAA"]
)
def test_garbage_is_refused_with_one_error(token: str):
    with pytest.raises(SecretUnreadable):
        open_sealed(token, bound_to="x")


def test_a_changed_ciphertext_is_refused():
    token = seal(SECRET, bound_to="x")
    flipped = token[:-3] + ("A" if token[-3] != "A" else "B") + token[-2:]
    with pytest.raises(SecretUnreadable):
        open_sealed(flipped, bound_to="x")


def test_rotation_reads_the_old_key_and_writes_the_new_one(settings: Any):
    old = seal(SECRET, bound_to="x")
    settings.DATA_KEYS = {"k2": bytes(range(32)), **settings.DATA_KEYS}
    assert open_sealed(old, bound_to="x") == SECRET
    assert needs_rotation(old)
    assert not needs_rotation(seal(SECRET, bound_to="x"))


def test_a_key_that_is_gone_is_named_as_unreadable(settings: Any):
    old = seal(SECRET, bound_to="x")
    settings.DATA_KEYS = {"k2": bytes(range(32))}
    with pytest.raises(SecretUnreadable):
        open_sealed(old, bound_to="x")
