"""Secrets at rest: AES-256-GCM bound to the place they are stored in, with key ids for rotation."""

from __future__ import annotations

import base64
import binascii
import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings

VERSION = "v1"


class SecretUnreadable(RuntimeError):
    """The ciphertext was changed, moved to another row, or its key is gone."""


def seal(plaintext: str, *, bound_to: str) -> str:
    """Encrypt with the first data key. `bound_to` (table, row and field) must be given again to open it."""
    kid, key = next(iter(_keys().items()))
    nonce = os.urandom(12)
    sealed = AESGCM(key).encrypt(nonce, plaintext.encode(), bound_to.encode())
    return ":".join([VERSION, kid, _encode(nonce), _encode(sealed)])


def open_sealed(token: str, *, bound_to: str) -> str:
    """Decrypt what `seal` made for the same `bound_to`. Raises SecretUnreadable."""
    try:
        version, kid, nonce, sealed = token.split(":")
        if version != VERSION:
            raise SecretUnreadable("unknown envelope version")
        key = _keys()[kid]
        return AESGCM(key).decrypt(_decode(nonce), _decode(sealed), bound_to.encode()).decode()
    except (ValueError, KeyError, InvalidTag, binascii.Error) as exc:
        raise SecretUnreadable("this secret cannot be read with the configured keys") from exc


def needs_rotation(token: str) -> bool:
    """True when `token` was not sealed with the current (first) key."""
    return token.split(":")[1:2] != [next(iter(_keys()))]


def _keys() -> dict[str, bytes]:
    keys: dict[str, bytes] = settings.DATA_KEYS
    return keys


def _encode(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode()


def _decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text)
