"""What a part costs on a day: the line's own price, else everybody's, from the day it came into force."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from core.errors import NotFound
from sms.models import Script, SmsPrice
from sms.usage.prices import PriceBook, PriceExists, add_price, remove_price
from tests.factories import make
from workspaces.models import AuditRecord, User, Workspace

pytestmark = pytest.mark.django_db
SPRING, AUTUMN, WINTER = date(2026, 3, 21), date(2026, 9, 23), date(2026, 12, 22)


@pytest.fixture
def book(workspace: Workspace) -> PriceBook:
    for line, rials, day in (("", 1000, SPRING), ("", 1200, AUTUMN), ("50001", 700, AUTUMN)):
        make(SmsPrice, workspace, line=line, rials=rials, valid_from=day)
    make(SmsPrice, workspace, script=Script.LATIN, rials="2500.50", valid_from=SPRING)
    return PriceBook.load()


@pytest.mark.parametrize(
    ("line", "script", "day", "rials"),
    [
        ("", "ucs2", SPRING, 1000),
        ("", "ucs2", date(2026, 9, 22), 1000),
        ("", "ucs2", AUTUMN, 1200),
        ("50001", "ucs2", date(2026, 9, 22), 1000),
        ("50001", "ucs2", WINTER, 700),
        ("50002", "ucs2", WINTER, 1200),
        ("50001", "gsm7", WINTER, Decimal("2500.50")),
        ("", "ucs2", date(2026, 3, 20), None),
    ],
)
def test_the_price_of_a_day(book: PriceBook, line: str, script: str, day: date, rials: object) -> None:
    assert book.rials(line, script, day) == rials


def test_a_text_costs_its_parts(book: PriceBook) -> None:
    assert book.cost_of("م" * 71, "50001", WINTER) == 1400
    assert book.cost_of("a" * 160, "50001", WINTER) == Decimal("2500.50")
    assert book.cost_of("سلام", "", date(2020, 1, 1)) is None


def test_the_days_on_which_prices_change(book: PriceBook) -> None:
    assert book.changes_between(SPRING, WINTER) == [AUTUMN]


def test_prices_of_another_workspace_are_not_ours(workspace: Workspace, other_workspace: Workspace) -> None:
    make(SmsPrice, other_workspace)

    assert PriceBook.load().entries == {}


def add(workspace: Workspace, user: User, **values: object) -> SmsPrice:
    given = {"line": "", "script": Script.PERSIAN, "rials": Decimal(1000), "valid_from": SPRING, **values}
    return add_price(workspace, user=user, **given)  # type: ignore[arg-type]  # a test's shorthand


def test_adding_and_removing_a_price_is_audited(workspace: Workspace, owner: User) -> None:
    row = add(workspace, owner)
    remove_price(row.pk, user=owner)

    events = list(AuditRecord.objects.order_by("pk").values_list("event", flat=True))
    assert events == ["sms.price_added", "sms.price_removed"]
    assert not SmsPrice.objects.exists()


def test_one_price_a_line_script_and_day(workspace: Workspace, owner: User) -> None:
    add(workspace, owner)
    with pytest.raises(PriceExists):
        add(workspace, owner, rials=Decimal(5))

    assert SmsPrice.objects.get().rials == 1000


def test_a_price_that_is_gone_is_not_found(
    workspace: Workspace, other_workspace: Workspace, owner: User
) -> None:
    theirs = make(SmsPrice, other_workspace)
    for pk in (theirs.pk, 0):
        with pytest.raises(NotFound):
            remove_price(pk, user=owner)
