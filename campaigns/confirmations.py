"""The questions before a campaign is moved: each says what will happen, and to how many."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse
from django.utils import timezone
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _

from automation.states import CLAIMED, ExecutionStatus
from campaigns.dashboard import People
from campaigns.models import Campaign, CampaignStatus
from core.dates import format_datetime, format_number

S = CampaignStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One button that asks before it posts."""

    key: str
    url: str
    button: str
    title: str
    text: str
    confirm: str
    tone: str = ""
    icon: str = ""


def questions(campaign: Campaign, people: People) -> dict[str, Question]:
    """The moves this campaign allows now, by name."""
    makers = {
        S.DRAFT: (_activate, _cancel),
        S.SCHEDULED: (_pause, _cancel),
        S.ACTIVE: (_pause, _end, _cancel),
        S.PAUSED: (_resume, _end, _cancel),
    }
    found = [make(campaign, people) for make in makers.get(S(campaign.status), ())]
    if not campaign.is_over:
        found.append(_intake(campaign, people))
    return {question.key: question for question in found}


def _url(campaign: Campaign, action: str) -> str:
    return reverse(f"campaigns:{action}", args=[campaign.pk])


def _number(count: int) -> str:
    return format_number(count, get_language() or "fa")


def _activate(campaign: Campaign, people: People) -> Question:
    waiting = people.by_status[ExecutionStatus.PENDING]
    who = ngettext("%(n)s person begins then.", "%(n)s people begin then.", waiting) % {"n": _number(waiting)}
    if not waiting:  # adding people comes first
        who = _("Nobody is in the campaign yet; whoever you add later begins at once.")
    return Question(
        key="activate",
        url=_url(campaign, "activate"),
        button=_("Start"),
        title=_("Start this campaign?"),
        text=f"{_when(campaign)} {who}",
        confirm=_("Yes, start"),
        tone="primary" if waiting else "",
        icon="play",
    )


def _when(campaign: Campaign) -> str:
    if campaign.starts_at is None:
        return _("It starts now; messages leave within its hours and limits.")
    moment = format_datetime(
        campaign.starts_at, str(timezone.get_current_timezone()), get_language() or "fa", words=True
    )
    return _("It starts at %(moment)s.") % {"moment": moment}


def _pause(campaign: Campaign, people: People) -> Question:
    text = ngettext(
        "%(n)s person stays where they are: nothing is sent until you resume, and nobody loses their place.",
        "%(n)s people stay where they are: nothing is sent until you resume, and nobody loses their place.",
        people.live,
    ) % {"n": _number(people.live)}
    return Question(
        key="pause",
        url=_url(campaign, "pause"),
        button=_("Pause"),
        title=_("Freeze this campaign?"),
        text=text,
        confirm=_("Yes, pause"),
        tone="primary",
        icon="pause",
    )


def _resume(campaign: Campaign, people: People) -> Question:
    text = ngettext(
        "%(n)s person goes on. Whoever became due meanwhile is next, within the hours and limits.",
        "%(n)s people go on. Whoever became due meanwhile is next, within the hours and limits.",
        people.live,
    ) % {"n": _number(people.live)}
    return Question(
        key="resume",
        url=_url(campaign, "resume"),
        button=_("Resume"),
        title=_("Let this campaign go on?"),
        text=text,
        confirm=_("Yes, resume"),
        tone="primary",
        icon="play",
    )


def _stopped(people: People) -> str:
    """What both ways of stopping for good do to the people inside."""
    text = ngettext(
        "%(n)s person stops for good and gets no further message.",
        "%(n)s people stop for good and get no further message.",
        people.live,
    ) % {"n": _number(people.live)}
    in_work = sum(people.by_status[status] for status in CLAIMED)
    if in_work:
        text += " " + ngettext(
            "%(n)s message is on its way and may still arrive.",
            "%(n)s messages are on their way and may still arrive.",
            in_work,
        ) % {"n": _number(in_work)}
    return f"{text} {_('This cannot be taken back; the history stays.')}"


def _end(campaign: Campaign, people: People) -> Question:
    return Question(
        key="end",
        url=_url(campaign, "end"),
        button=_("End"),
        title=_("End this campaign now?"),
        text=_stopped(people),
        confirm=_("Yes, end it"),
        tone="danger",
        icon="check",
    )


def _cancel(campaign: Campaign, people: People) -> Question:
    return Question(
        key="cancel",
        url=_url(campaign, "cancel"),
        button=_("Cancel campaign"),
        title=_("Cancel this campaign?"),
        text=_stopped(people),
        confirm=_("Yes, cancel it"),
        tone="danger",
        icon="stop",
    )


def _intake(campaign: Campaign, people: People) -> Question:
    if campaign.intake_open:
        text = ngettext(
            "Nobody new can be added. The %(n)s person inside walks on as before.",
            "Nobody new can be added. The %(n)s people inside walk on as before.",
            people.live,
        ) % {"n": _number(people.live)}
        return Question(
            key="close",
            url=_url(campaign, "close"),
            button=_("Close to new people"),
            title=_("Close this campaign to new people?"),
            text=text,
            confirm=_("Yes, close it"),
        )
    return Question(
        key="open",
        url=_url(campaign, "open"),
        button=_("Open to new people"),
        title=_("Open this campaign to new people?"),
        text=_("People can be added again. Nothing changes for those inside."),
        confirm=_("Yes, open it"),
        icon="plus",
    )
