"""A customer list as people really keep them: the rows behind `demo/people.xlsx`.

The same number of rows always gives the same rows. Every phone number is made up: the mobile
numbers have 000 after the operator's prefix, the landlines 5555 after the area code.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta

import jdatetime

DEFAULT_ROWS = 520
HEADER = ("نام", "نام خانوادگي", "موبايل", "تلفن", "استان", "شهر", "تاریخ تولد", "کد مشتری")
# A second list was pasted under the first one, with its header in another spelling.
PASTED_HEADER = ("نام", "نام‌خانوادگی", "شماره همراه", "تلفن ثابت", "استان", "شهر", "تولد", "کد مشتری")

PREFIXES = ("0912", "0919", "0935", "0901", "0990", "0921", "0937", "0910")
PERSIAN, ARABIC = "۰۱۲۳۴۵۶۷۸۹", "٠١٢٣٤٥٦٧٨٩"
RTL_MARK, LTR_MARK, ZERO_WIDTH, BOM = "\u200f", "\u200e", "\u200b", "\ufeff"

FIRST_NAMES = (
    "سارا", "علی", "مریم", "رضا", "زهرا", "حسین", "نیلوفر", "امیرعلی", "فاطمه", "کیان",
    "پریسا", "مهدی", "یاسمن", "بهرام", "شیرین", "کاوه", "لیلا", "آرش", "نگین", "سینا",
    "مهسا", "پویا", "الهام", "یوسف", "گلناز", "میثم", "هانیه", "کامران", "سمیرا", "ایمان",
)  # fmt: skip
LAST_NAMES = (
    "محمدی", "کریمی", "حسینی", "رضایی", "موسوی", "احمدی", "کاظمی", "صادقی", "یزدانی", "اکبری",
    "نوری", "شریفی", "کیانی", "قاسمی", "ملکی", "زارعی", "عباسی", "یوسفی", "توکلی", "پاکزاد",
    "ابراهیمی‌نژاد", "میرزایی", "سلیمانی", "فرهادی", "خسروی", "بیات", "راد", "جلالی", "عظیمی", "کوهستانی",
)  # fmt: skip
PLACES = (
    ("تهران", "تهران", "021"), ("اصفهان", "اصفهان", "031"), ("فارس", "شیراز", "071"),
    ("خراسان رضوی", "مشهد", "051"), ("آذربایجان شرقی", "تبریز", "041"), ("گیلان", "رشت", "013"),
    ("البرز", "کرج", "026"), ("یزد", "یزد", "035"), ("کرمان", "کرمان", "034"),
)  # fmt: skip

Cell = str | int | date | None


@dataclass(frozen=True, slots=True)
class Formula:
    """A cell that holds a formula; `value` is what the spreadsheet program last computed."""

    text: str
    value: str


Row = tuple["Cell | Formula", ...]


def mobile_number(index: int) -> str:
    """The made-up mobile number of person `index`: 09xx 000 xxxx."""
    return f"{PREFIXES[index % len(PREFIXES)]}000{index // len(PREFIXES):04d}"


def _digits(number: str, alphabet: str) -> str:
    return number.translate(str.maketrans("0123456789", alphabet))


def _grouped(number: str, mark: str) -> str:
    return mark.join((number[:4], number[4:7], number[7:]))


# How the same number is typed by different people; plain spellings are the most common ones.
SPELLINGS: tuple[Callable[[str], Cell], ...] = (
    lambda number: number,
    lambda number: number,
    lambda number: _digits(number, PERSIAN),
    lambda number: int(number[1:]),  # the zero that a number cell swallows
    lambda number: "+98" + number[1:],
    lambda number: number,
    lambda number: "0098" + number[1:],
    lambda number: _digits(number, ARABIC),
    lambda number: "98" + number[1:],
    lambda number: _grouped(number, " "),
    lambda number: _grouped(number, "-"),
    lambda number: RTL_MARK + number + ZERO_WIDTH,
    lambda number: LTR_MARK + "+98 " + _grouped(number, " ")[1:],
    lambda number: _digits("+98" + number[1:], PERSIAN),
    lambda number: f"  {number} ",
    lambda number: BOM + number[1:],
)


def _arabic_letters(text: str) -> str:
    return text.replace("ی", "ي").replace("ک", "ك")


NAME_HABITS: tuple[Callable[[str], str], ...] = (
    lambda name: name,
    lambda name: name,
    _arabic_letters,
    lambda name: f" {name}  ",
    lambda name: name,
    lambda name: RTL_MARK + _arabic_letters(name),
    lambda name: name,
    lambda name: name + ZERO_WIDTH,
)


def _birthday(rng: random.Random, index: int) -> Cell:
    """A Jalali date in one of its usual spellings; every 20th is a real (Gregorian) date cell."""
    if index % 9 == 4:
        return None
    day = date(1965, 1, 1) + timedelta(days=rng.randrange(14_000))
    if index % 20 == 7:
        return day
    jalali = jdatetime.date.fromgregorian(date=day)
    year, month, number = jalali.year, jalali.month, jalali.day
    spellings = (
        f"{year}/{month:02d}/{number:02d}",
        f"{year}/{month}/{number}",
        _digits(f"{year}/{month:02d}/{number:02d}", PERSIAN),
        f"{year}-{month:02d}-{number:02d}",
    )
    return spellings[index % len(spellings)]


def _person(rng: random.Random, index: int) -> Row:
    habit = NAME_HABITS[index % len(NAME_HABITS)]
    province, city, area = PLACES[rng.randrange(len(PLACES))]
    mobile: Cell = SPELLINGS[index % len(SPELLINGS)](mobile_number(index))
    landline = f"{area}5555{index % 10_000:04d}"
    phone: Cell = landline if index % 5 == 0 else None
    if index % 23 == 11:  # only a landline, typed where the mobile number belongs
        mobile, phone = landline, None
    return (
        habit(rng.choice(FIRST_NAMES)),
        habit(rng.choice(LAST_NAMES)),
        mobile,
        phone,
        province,
        _arabic_letters(city) if index % 11 == 3 else city,
        _birthday(rng, index),
        f"M-{index + 1:05d}",
    )


def _again(row: Row, index: int) -> Row:
    """The same person once more, further down, with the number spelled differently."""
    number = mobile_number(index)
    other = SPELLINGS[(index + 5) % len(SPELLINGS)](number)
    return (row[0], row[1], other, *row[3:7], None)


def _with_formulas(row: Row, index: int) -> Row:
    number = mobile_number(index)
    return (row[0], row[1], Formula(f'="0"&{number[1:]}', number), *row[3:])


def _hopeless(which: int) -> Row:
    """Rows that nobody can be reached by; each is refused with its own reason."""
    mobiles: tuple[Cell, ...] = ("ندارد", "0912000", "9" * 40, "test@example.com")
    return ("ناشناس", "—", mobiles[which % len(mobiles)], None, None, None, None, None)


def rows(count: int = DEFAULT_ROWS) -> Iterator[Row]:
    """`count` rows under the header, empty ones and repeated people included."""
    rng = random.Random(1403)
    people: list[tuple[int, Row]] = []
    for line in range(count):
        if line == count // 2:
            yield PASTED_HEADER
        elif line % 41 == 40:
            yield (None,) * len(HEADER) if line % 2 else ("  ", None, "", *(None,) * 5)
        elif line % 130 == 65:
            yield _hopeless(line // 130)
        elif line % 17 == 16 and people:
            index, row = people[rng.randrange(len(people))]
            yield _again(row, index)
        else:
            index = len(people)
            row = _person(rng, index)
            people.append((index, row))
            yield _with_formulas(row, index) if index in (20, 210) else row
