"""Every number of a campaign's page as rows of one table, for whoever reckons on in a spreadsheet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from automation.states import ExecutionStatus
from campaigns.dashboard import Dashboard
from core.charts import Chart

COLUMNS: Final[Sequence[str | Promise]] = (
    gettext_lazy("Table"),
    gettext_lazy("Row"),
    gettext_lazy("Figure"),
    gettext_lazy("Value"),
)
Line = tuple[str, str, str, int]


def lines_of(board: Dashboard) -> list[Line]:
    """The tables of the page one after the other: a line for each number, under the names the page gives it.
    A number that was not counted yet has no line."""
    parts = (_people(board), _messages(board), _charts(board), _steps(board), _arms(board), _losses(board))
    return [line for part in parts for line in part] + list(_operators(board))


def _people(board: Dashboard) -> Iterator[Line]:
    for status, label in ExecutionStatus.choices:
        if board.people.by_status[status]:
            yield _("People"), str(label), _("People"), board.people.by_status[status]


def _messages(board: Dashboard) -> Iterator[Line]:
    for _status, label, count in board.messages.rows():
        yield _("Messages by outcome"), label, _("Messages"), count


def _charts(board: Dashboard) -> Iterator[Line]:
    if board.charts is not None:
        yield from _bars(_("By day"), board.charts.days)
        yield from _bars(_("Today by hour"), board.charts.hours)


def _bars(title: str, chart: Chart) -> Iterator[Line]:
    for bar in chart.bars:
        for series, value in zip(chart.series, bar.values, strict=True):
            yield title, bar.name, series, value


def _steps(board: Dashboard) -> Iterator[Line]:
    for step in board.steps:
        numbers = (
            (_("Came in"), step.entered), (_("Waiting"), step.waiting), (_("Active"), step.active),
            (_("Held"), step.held), (_("Failed"), step.failed), (_("Ended here"), step.ended),
            (_("Went on"), step.went_on), (_("Suppressed"), step.suppressed),
        )  # fmt: skip
        for name, number in numbers:
            if number is not None:
                yield _("Step by step"), step.name, name, number


def _arms(board: Dashboard) -> Iterator[Line]:
    for row in board.arms:
        numbers = (
            (_("People"), row.arm.people), (_("Inside"), row.arm.inside), (_("Held"), row.arm.held),
            (_("Failed"), row.arm.failed), (_("Finished"), row.arm.finished),
            (_("Reached the goal"), row.arm.reached),
        )  # fmt: skip
        for name, number in numbers:
            yield _("Branches of the split"), row.label, name, number


def _losses(board: Dashboard) -> Iterator[Line]:
    for loss in board.people_lost:
        yield _("Why people stopped"), loss.label, _("People"), loss.number
    for loss in board.messages_lost:
        yield _("Why messages did not arrive"), loss.label, _("Messages"), loss.number


def _operators(board: Dashboard) -> Iterator[Line]:
    for row in board.operators:
        numbers = (
            (_("Messages"), row.tried), (_("Delivered"), row.delivered), (_("On the way"), row.on_the_way),
            (_("Not delivered"), row.undelivered), (_("Failed"), row.failed), (_("Unknown"), row.unknown),
        )  # fmt: skip
        for name, number in numbers:
            yield _("Delivery by operator"), row.label, name, number
