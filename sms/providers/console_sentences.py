"""The sentences the Melipayamak console answers with, and the codes of the classic table they stand for.

The console says in words what the panel's other interfaces say in codes. Only sentences of the panel's
own table are listed; letters, digits and signs are compared in one form.
"""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.translation import gettext_lazy as _

from core.text import search_key
from sms.providers.codes import CodeTable, Meaning
from sms.providers.melipayamak_codes import SEND_CODES
from sms.types import Outcome

CONSOLE_CODES: CodeTable = {
    **SEND_CODES,
    "console_key": Meaning(
        Outcome.UNAVAILABLE,
        _("The console key is wrong. It is not the API key of the panel: copy the one of the console."),
    ),
    "no_id": Meaning(
        Outcome.IN_DOUBT,
        _("The provider gave no message id and no reason, so the message may or may not have been sent."),
    ),
}

_SENTENCES: Mapping[str, tuple[str, ...]] = {
    "console_key": ("کلید کنسول معتبر نیست", "کلید کنسول معتبر نمی باشد"),
    "0": ("نام کاربری یا رمز عبور اشتباه می باشد", "نام کاربری یا رمز عبور اشتباه است"),
    "2": ("اعتبار کافی نمی باشد", "اعتبار کافی نیست"),
    "3": ("محدودیت در ارسال روزانه",),
    "4": ("محدودیت در حجم ارسال",),
    "5": ("شماره فرستنده معتبر نمی باشد", "شماره فرستنده معتبر نیست"),
    "6": ("سامانه در حال بروزرسانی می باشد", "سامانه در حال بروزرسانی است"),
    "7": ("متن حاوی کلمه فیلتر شده می باشد", "متن حاوی کلمه فیلتر شده است"),
    "9": ("ارسال از خطوط عمومی از طریق وب سرویس امکان پذیر نمی باشد",),
    "10": ("کاربر مورد نظر فعال نمی باشد", "کاربر مورد نظر فعال نیست"),
    "11": ("ارسال نشده",),
    "12": ("مدارک کاربر کامل نمی باشد", "مدارک کاربر کامل نیست"),
    "14": ("متن حاوی لینک می باشد", "متن حاوی لینک است"),
    "16": ("شماره گیرنده ای یافت نشد",),
    "17": ("متن پیامک خالی می باشد", "متن پیامک خالی است"),
    "18": ("شماره گیرنده نامعتبر است", "شماره گیرنده معتبر نمی باشد"),
    "35": ("شماره در لیست سیاه مخابرات است", "شماره در لیست سیاه مخابرات می باشد"),
    "-4": (
        "کد متن ارسالی صحیح نمی باشد و یا توسط مدیر سامانه تایید نشده است",
        "کد متن ارسالی صحیح نیست و یا توسط مدیر سامانه تایید نشده است",
    ),
    "-5": ("متن ارسالی باتوجه به متغیرهای مشخص شده در متن پیشفرض همخوانی ندارد",),
}


def _plain(sentence: str) -> str:
    """Letters and digits alone: half-spaces, spaces and full stops vary."""
    return "".join(one for one in search_key(sentence) if one.isalnum())


_CODES: Mapping[str, str] = {
    _plain(sentence): code for code, sentences in _SENTENCES.items() for sentence in sentences
}


def code_of(status: object) -> str:
    """The code a sentence stands for; `no_id` for an empty one, `unlisted` for any other."""
    if status in (None, ""):
        return "no_id"
    return _CODES.get(_plain(status), "unlisted") if isinstance(status, str) else "unlisted"
