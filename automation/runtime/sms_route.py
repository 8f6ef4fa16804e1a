"""By which account and line one attempt of an SMS step leaves, and whether it may leave by that line."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from automation.action_specs.send_sms import SendSmsConfig
from sms.channel import Account, Channel
from sms.lines import NOT_APPROVED, choose
from sms.sending import Past


class Way(NamedTuple):
    """`refused`: why the message can not leave at all; "" when it can."""

    account: Account | None
    sender: str = ""
    has_next: bool = False
    refused: str = ""


def way_of(channel: Channel, config: SendSmsConfig, text: str, past: Past | None, now: datetime) -> Way:
    """A line that the step names belongs to the account it was chosen for: one that stands in for that
    account uses its own line of the same kind.

    First attempts of one step leave by one way, unless their account has texts to choose its lines by.
    """
    if past is not None:
        return _way(channel, config, text, past, now)
    note = (id(config), now)
    known = channel.notes.get(note)
    if known is not None and known[0] is config:
        found: Way = known[1]
        return found
    way = _way(channel, config, text, None, now)
    if way.account is not None and not way.account.details:
        channel.notes[note] = (config, way)
    return way


def _way(channel: Channel, config: SendSmsConfig, text: str, past: Past | None, now: datetime) -> Way:
    route = channel.route(config.provider, past.tried if past else {}, now)
    account = route.account
    if account is None:
        return Way(None, config.sender or "")
    foreign = route.stands_in and config.sender not in account.lines
    wanted = "" if foreign else config.sender or ""
    line, refused = choose(account.sender_lines, wanted, config.message_kind)
    if refused:
        return Way(account, refused=refused)
    sender = line.number if line else ""
    if account.outbound(to="0000", text=text, sender=sender, reference="") is None:
        return Way(account, sender, refused=NOT_APPROVED)
    return Way(account, sender, route.has_next)
