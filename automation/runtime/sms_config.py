"""The config of an SMS step, read once a version instead of once a person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from automation.action_specs.send_sms import SendSmsConfig, read
from automation.runtime.actions.base import Step

CAPACITY: Final = 512
_read: dict[int, tuple[Mapping[str, Any], SendSmsConfig]] = {}


def config_of(step: Step) -> SendSmsConfig:
    """The step's config. A compiled version holds it as one object, which never changes: that is the key."""
    config = step.perform.config
    known = _read.get(id(config))
    if known is not None and known[0] is config:
        return known[1]
    if len(_read) >= CAPACITY:
        _read.clear()
    # The object is kept beside its reading, so that its id stays its own.
    fresh = read(config)
    _read[id(config)] = (config, fresh)
    return fresh
