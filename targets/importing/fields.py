"""What a column of a file can be, and the words people write above it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from core.text import search_key
from targets import traits

IGNORE: Final = ""
TRAIT: Final = "trait:"
DATE: Final = "date:"
NUMBER_FIELDS: Final = ("mobile", "landline", "phone")


@dataclass(frozen=True, slots=True)
class ImportField:
    """A field of a person. `limit` is the longest text it takes."""

    key: str
    label: str | Promise
    limit: int
    words: tuple[str, ...]


FIELDS: Final = (
    ImportField(
        "mobile",
        _("Mobile number"),
        64,
        (
            "موبایل", "شماره موبایل", "تلفن همراه", "شماره تلفن همراه", "همراه", "شماره همراه",
            "mobile", "mobile number", "mobile no", "mobile phone", "cell", "cellphone", "cell phone",
        ),
    ),
    ImportField(
        "phone",
        _("Phone (mobile or landline)"),
        64,
        (
            "تلفن", "شماره تلفن", "شماره", "شماره تماس", "تلفن تماس", "تماس",
            "phone", "phone number", "phone no", "telephone", "tel", "contact number", "number",
        ),
    ),
    ImportField(
        "landline",
        _("Landline"),
        64,
        (
            "تلفن ثابت", "شماره ثابت", "شماره تلفن ثابت", "ثابت", "تلفن منزل", "تلفن محل کار", "تلفن شرکت",
            "landline", "home phone", "work phone", "office phone", "business phone",
        ),
    ),
    ImportField(
        "name",
        _("Full name"),
        160,
        (
            "نام و نام خانوادگی", "نام نام خانوادگی", "نام کامل", "نام مشتری", "نام شخص", "مشتری", "نام شرکت",
            "full name", "fullname", "customer", "customer name", "contact name", "company", "company name",
        ),
    ),
    ImportField(
        "first_name", _("First name"), 80, ("نام کوچک", "اسم", "first name", "firstname", "given name")
    ),
    ImportField(
        "last_name",
        _("Last name"),
        80,
        ("نام خانوادگی", "فامیلی", "فامیل", "نام فامیل", "last name", "lastname", "surname", "family name"),
    ),
    ImportField(
        "external_id",
        _("Customer code"),
        64,
        (
            "کد مشتری", "شناسه مشتری", "شماره مشتری", "کد اشتراک", "شماره اشتراک", "کد عضویت", "شماره عضویت",
            "customer code", "customer id", "customer number", "external id", "member id", "user id",
        ),
    ),
    ImportField(
        "email",
        _("E-mail"),
        254,
        ("ایمیل", "پست الکترونیک", "پست الکترونیکی", "رایانامه", "email", "e mail", "mail", "email address"),
    ),
    ImportField("province", _("Province"), 60, ("استان", "province", "state")),
    ImportField("city", _("City"), 60, ("شهر", "شهرستان", "city", "town")),
    ImportField("status", _("Status"), 60, ("وضعیت", "status")),
    ImportField("priority", _("Priority"), 60, ("اولویت", "priority")),
)  # fmt: skip
BY_KEY: Final = {field.key: field for field in FIELDS}

# "نام" is the whole name in a file without a column for the last name, else the first name.
_NAME_WORDS: Final = frozenset({"نام", "name"})
# Columns that only count the rows, and the reasons that the file of refused rows carries.
_COUNTERS: Final = frozenset({"ردیف", "شماره ردیف", "دلیل", "row", "no", "index", "reason"})
_BIRTHDAY: Final = frozenset(
    {"تاریخ تولد", "تولد", "روز تولد", "birthday", "birth date", "birthdate", "date of birth", "dob"}
)
_DATE_WORDS: Final = re.compile(r"(^|\s)(تاریخ|date)(\s|$)")


def header_key(header: str) -> str:
    """What two spellings of one header share: no marks, no punctuation, no remark in brackets."""
    without_remark = re.sub(r"[(\[{][^)\]}]*[)\]}]", " ", header)
    return " ".join(re.sub(r"[^\w\s]", " ", search_key(without_remark)).split())


_WORDS: Final = {header_key(word): field.key for field in FIELDS for word in field.words}


def recognised(header: str, *, with_last_name: bool) -> str:
    """The field whose usual headers include this one; "" when none does."""
    key = header_key(header)
    if key in _NAME_WORDS:
        return "first_name" if with_last_name else "name"
    if key in _BIRTHDAY:
        return DATE + traits.BIRTH_DATE
    if key in _WORDS:
        return _WORDS[key]
    shorter = re.sub(r"\s*[0-9]+$", "", key)  # "موبایل 1"
    return _WORDS.get(shorter, "") if shorter != key else ""


def is_counter(header: str) -> bool:
    """A column that says nothing about the person."""
    return header_key(header) in _COUNTERS


def is_date_header(header: str) -> bool:
    """A header that promises dates."""
    return bool(_DATE_WORDS.search(header_key(header)))
