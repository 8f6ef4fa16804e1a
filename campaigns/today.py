"""What a campaign may do now: its limits, its hours, and in one sentence what it is doing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _

from automation.counters import scopes_of, used_today
from automation.definition_cache import UnreadableVersion, compiled
from automation.models import CounterScope
from automation.runtime.policy import RunPolicy
from campaigns.health import Banner
from campaigns.models import Campaign, CampaignStatus
from core.dates import format_datetime, format_number
from core.text import to_persian_digits

LIMITS: Final = {
    CounterScope.CAMPAIGN: gettext_lazy("Limit of this campaign"),
    CounterScope.WORKFLOW: gettext_lazy("Limit of the workflow"),
    CounterScope.WORKSPACE: gettext_lazy("Limit of the workspace"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """One daily limit with what of it is used."""

    scope: str
    label: str | Promise
    used: int
    limit: int

    @property
    def left(self) -> int:
        return max(0, self.limit - self.used)


@dataclass(frozen=True, slots=True, kw_only=True)
class Today:
    """What may still be sent on the workspace's calendar day. None is no limit.

    The same counters that the send path reserves from, so the page and what happens never differ.
    """

    used: int
    limits: tuple[Limit, ...]

    @property
    def remaining(self) -> int | None:
        return min((limit.left for limit in self.limits), default=None)

    @property
    def limit(self) -> int | None:
        return self._of(CounterScope.CAMPAIGN)

    @property
    def workspace_limit(self) -> int | None:
        return self._of(CounterScope.WORKSPACE)

    def _of(self, scope: str) -> int | None:
        return next((limit.limit for limit in self.limits if limit.scope == scope), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hours:
    """The sending window at this moment; `turns_at` is when that changes, None for never."""

    restricted: bool
    is_open: bool
    turns_at: datetime | None

    def sentence(self, now: datetime) -> str:
        if not self.restricted or (self.is_open and self.turns_at is None):
            return _("Messages may leave at any hour.")
        text = _("Open until %(moment)s.") if self.is_open else _("Closed until %(moment)s.")
        return text % {"moment": when(self.turns_at, now)}


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What the campaign is doing, for somebody who looks for five seconds."""

    tone: str
    icon: str
    title: str
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    """What the sentence depends on: people inside, those whose turn it is, and the next one's moment."""

    total: int
    live: int
    due: int
    next_at: datetime | None


def today_of(policy: RunPolicy, now: datetime) -> Today:
    """One query."""
    used = used_today([policy], policy.day(now))
    limits = tuple(
        Limit(scope=scope[0], label=LIMITS[CounterScope(scope[0])], used=used[scope], limit=limit)
        for scope, limit in scopes_of(policy)
        if limit is not None
    )
    return Today(used=used[(CounterScope.CAMPAIGN, policy.campaign_id)], limits=limits)


def hours_of(policy: RunPolicy, now: datetime) -> Hours:
    window = policy.window()
    if window is None:
        return Hours(restricted=False, is_open=True, turns_at=None)
    if window.is_open(now):
        return Hours(restricted=True, is_open=True, turns_at=window.closes_at(now))
    return Hours(restricted=True, is_open=False, turns_at=window.next_open(now))


def state_of(
    campaign: Campaign, policy: RunPolicy, *, crowd: Crowd, today: Today, hours: Hours,
    closed: datetime | None, trouble: Banner | None, now: datetime,
) -> State:  # fmt: skip
    """The one sentence. `closed`: until when the SMS channel is closed; `trouble`: why nothing moves."""
    if campaign.status != CampaignStatus.ACTIVE:
        return _not_running(campaign, now)
    if not crowd.live:
        return _nobody(crowd)
    return _held_up(policy, today, hours, closed, now) or _moving(crowd, trouble, now)


def _not_running(campaign: Campaign, now: datetime) -> State:
    match campaign.status:
        case CampaignStatus.DRAFT:
            return State(
                tone="muted", icon="edit", title=_("Not started"), text=_("Nothing is sent before that.")
            )
        case CampaignStatus.SCHEDULED:
            text = _("Starts: %(moment)s.") % {"moment": when(campaign.starts_at, now)}
            return State(tone="info", icon="calendar", title=_("Waits for its start"), text=text)
        case CampaignStatus.PAUSED:
            text = _("Nothing is sent, and everybody keeps their place.")
            return State(tone="warn", icon="pause", title=_("Frozen"), text=text)
        case CampaignStatus.CANCELLED:
            return State(tone="muted", icon="stop", title=_("Cancelled"), text=_("Nothing more is sent."))
        case _completed:
            return State(tone="success", icon="check", title=_("Finished"), text=_("Nothing more is sent."))


def _nobody(crowd: Crowd) -> State:
    if crowd.total:
        text = _("Nobody is on the way any more; new people can still be added.")
        return State(tone="success", icon="check", title=_("Everybody is through"), text=text)
    return State(tone="info", icon="users", title=_("Nobody is inside yet"), text=_("Add people to begin."))


def _held_up(
    policy: RunPolicy, today: Today, hours: Hours, closed: datetime | None, now: datetime
) -> State | None:
    """Why nothing leaves although people may be in line; None when nothing is in the way."""
    try:
        compiled(policy.version_id)
    except UnreadableVersion as error:
        title = _("The workflow cannot be read")
        return State(tone="danger", icon="warning", title=title, text=str(error))
    if closed is not None:
        text = _("Nobody loses their place. Next try: %(moment)s.") % {"moment": when(closed, now)}
        return State(tone="danger", icon="warning", title=_("The SMS channel is closed"), text=text)
    if not hours.is_open:
        return State(
            tone="info", icon="clock", title=_("Waits for the sending hours"), text=hours.sentence(now)
        )
    if today.remaining == 0:
        moment = when(policy.next_open(policy.next_day(now)), now)
        text = _("Those in line go on from %(moment)s.") % {"moment": moment}
        return State(tone="warn", icon="pulse", title=_("Today's limit is used up"), text=text)
    return None


def _moving(crowd: Crowd, trouble: Banner | None, now: datetime) -> State:
    if trouble is not None:
        return State(tone="danger", icon="warning", title=str(trouble.title), text=str(trouble.text))
    if crowd.due:
        text = _("%(n)s people are in line or in work.") % {"n": format_number(crowd.due, _language())}
        return State(tone="success", icon="send", title=_("Sending now"), text=text)
    if crowd.next_at is None:
        text = _("Everybody inside is held or waits for an event.")
        return State(tone="info", icon="wait", title=_("Nobody is due"), text=text)
    text = _("Next step: %(moment)s.") % {"moment": when(crowd.next_at, now)}
    return State(tone="info", icon="wait", title=_("Everybody inside is waiting"), text=text)


def when(moment: datetime | None, now: datetime) -> str:
    """A moment as people say it: only the time for today, "tomorrow" for tomorrow."""
    if moment is None:
        return "—"
    local, today = timezone.localtime(moment), timezone.localtime(now).date()
    time = f"{local:%H:%M}"
    time = to_persian_digits(time) if _language().startswith("fa") else time
    match (local.date() - today).days:
        case 0:
            return time
        case 1:
            return _("tomorrow, %(time)s") % {"time": time}
        case _later:
            return format_datetime(moment, timezone.get_current_timezone_name(), _language(), words=True)


def _language() -> str:
    return get_language() or "fa"
