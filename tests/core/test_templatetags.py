"""Numbers, dates, badges and controls as templates write them, in both languages."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from django import forms
from django.core.paginator import Paginator
from django.template import Context, Template
from django.utils import timezone, translation

from core import clock
from core.formfields import DigitsIntegerField, JalaliDateField
from core.templatetags import peyk

NOW = datetime(2026, 11, 30, 11, 5, tzinfo=UTC)  # 14:35 in Tehran


def render(source: str, language: str = "fa", **context: object) -> str:
    with translation.override(language):
        return Template(source).render(Context(context))


@pytest.fixture(autouse=True)
def _in_tehran() -> Iterator[None]:
    with timezone.override(ZoneInfo("Asia/Tehran")), clock.frozen(NOW):
        yield


@pytest.mark.parametrize(
    ("value", "persian", "english"),
    [
        (12345, "۱۲٬۳۴۵", "12,345"),
        (0, "۰", "0"),
        (-7, "-۷", "-7"),
        (1234.5, "۱٬۲۳۴٫۵", "1,234.5"),
        (Decimal("20.00"), "۲۰", "20"),
        (None, "—", "—"),
    ],
)
def test_numbers_have_the_digits_of_the_language(value: object, persian: str, english: str) -> None:
    assert [render("{% num n %}", code, n=value) for code in ("fa", "en")] == [persian, english]


def test_a_number_can_be_used_in_a_sentence() -> None:
    assert render("{{ n|number }}", n=1000) == "۱٬۰۰۰"


def test_digits_keep_years_without_separators() -> None:
    assert render("{{ n|digits }}", n=1405) == "۱۴۰۵"


@pytest.mark.parametrize(("ratio", "text"), [(0.256, "۲۵٫۶٪"), (0.25, "۲۵٪"), (1, "۱۰۰٪"), (None, "—")])
def test_percent_takes_a_ratio(ratio: float | None, text: str) -> None:
    assert render("{{ r|percent }}", r=ratio) == text


def test_percent_is_written_with_the_sign_of_the_language() -> None:
    assert render("{{ r|percent }}", "en", r=0.256) == "25.6%"


@pytest.mark.parametrize(("language", "text"), [("fa", "۹ آذر ۱۴۰۵"), ("en", "30 Nov 2026")])
def test_a_day_is_jalali_in_persian_and_gregorian_in_english(language: str, text: str) -> None:
    assert render("{{ d|jdate }}", language, d=date(2026, 11, 30)) == text


def test_a_moment_near_midnight_belongs_to_the_workspaces_day() -> None:
    assert render('{{ d|jdate:"short" }}', d=datetime(2026, 11, 29, 21, 0, tzinfo=UTC)) == "۱۴۰۵/۰۹/۰۹"


@pytest.mark.parametrize(("language", "text"), [("fa", "۹ آذر ۱۴۰۵، ۱۴:۳۵"), ("en", "30 Nov 2026, 14:35")])
def test_a_moment_is_shown_in_the_workspaces_zone(language: str, text: str) -> None:
    assert render("{{ d|jdatetime }}", language, d=NOW) == text


@pytest.mark.parametrize("name", ["jdate", "jdatetime", "reltime"])
def test_no_date_is_a_dash(name: str) -> None:
    assert render(f"{{{{ d|{name} }}}}", d=None) == "—"


@pytest.mark.parametrize(
    ("distance", "persian", "english"),
    [
        (timedelta(seconds=-20), "همین حالا", "a moment ago"),
        (timedelta(seconds=-60), "۱ دقیقه پیش", "1 minute ago"),
        (timedelta(minutes=-5), "۵ دقیقه پیش", "5 minutes ago"),
        (timedelta(hours=-3), "۳ ساعت پیش", "3 hours ago"),
        (timedelta(days=-6), "۶ روز پیش", "6 days ago"),
        (timedelta(hours=2), "۲ ساعت دیگر", "in 2 hours"),
        (timedelta(days=-8), "۱ آذر ۱۴۰۵، ۱۴:۳۵", "22 Nov 2026, 14:35"),
    ],
)
def test_times_are_told_from_now(distance: timedelta, persian: str, english: str) -> None:
    texts = [render("{{ d|reltime|striptags }}", code, d=NOW + distance) for code in ("fa", "en")]
    assert texts == [persian, english]


def test_a_relative_time_carries_the_exact_one() -> None:
    expected = '<time datetime="2026-11-30T11:05:00+00:00" title="۹ آذر ۱۴۰۵، ۱۴:۳۵">'
    assert render("{{ d|reltime }}", d=NOW).startswith(expected)


@pytest.mark.parametrize(
    ("status", "tone"),
    [
        ("active", "success"),
        ("PAUSED", "warn"),
        ("failed", "danger"),
        ("info", "info"),
        ("never heard of", "muted"),
    ],
)
def test_a_status_has_its_tone(status: str, tone: str) -> None:
    assert peyk.tone_of(status) == tone


def test_no_status_word_has_two_tones() -> None:
    words = [word for words in peyk.STATUS_TONES.values() for word in words.split()]
    assert len(words) == len(set(words))


def test_a_badge_escapes_its_label() -> None:
    assert (
        render("{% badge s l %}", s="active", l="<b>") == '<span class="badge badge-success">&lt;b&gt;</span>'
    )


def test_typed_text_is_isolated_and_escaped() -> None:
    assert render("{% bdi t %}", t="<علی>") == "<bdi>&lt;علی&gt;</bdi>"


def test_a_phone_number_keeps_latin_digits_and_direction() -> None:
    assert render("{% phone t %}", t="09121234567") == '<bdi dir="ltr">09121234567</bdi>'


def test_an_icon_is_decoration() -> None:
    assert render('{% icon "plus" %}') == (
        '<svg class="icon" aria-hidden="true"><use href="/static/img/icons.svg#plus"></use></svg>'
    )


def test_an_icon_that_points_forward_is_mirrored_in_persian() -> None:
    assert 'class="icon icon-mirror"' in render('{% icon "chevron" %}')


def test_an_icon_with_a_label_is_an_image() -> None:
    assert 'role="img" aria-label="Bad &amp; worse"' in render('{% icon "error" l %}', l="Bad & worse")


@pytest.mark.parametrize(
    ("number", "shown"),
    [(1, [1, 2, None, 25]), (4, [1, 2, 3, 4, 5, None, 25]), (12, [1, None, 11, 12, 13, None, 25])],
)
def test_pages_near_the_current_one_are_offered(number: int, shown: list[int | None]) -> None:
    assert peyk.page_numbers(Paginator(range(1234), 50).page(number)) == shown


class SampleForm(forms.Form):
    name = forms.CharField(help_text="as friends say it")
    email = forms.EmailField(required=False)
    count = DigitsIntegerField()
    day = JalaliDateField(required=False)
    agree = forms.BooleanField(required=False)
    body = forms.CharField(widget=forms.Textarea)
    color = forms.ChoiceField(choices=[("r", "red")], widget=forms.RadioSelect)


def field(name: str, data: dict[str, str] | None = None, more: str = "") -> str:
    source = f'{{% include "components/field.html" with field=f.{name} {more} %}}'
    return " ".join(render(source, f=SampleForm(data)).split())


def test_a_control_is_described_by_its_hint_and_its_errors() -> None:
    html = field("name", {"name": ""})
    assert 'aria-describedby="id_name_helptext id_name_error"' in html
    assert 'aria-invalid="true"' in html
    assert 'id="id_name_helptext"' in html
    assert 'id="id_name_error"' in html


def test_a_field_without_hint_or_error_has_no_description() -> None:
    assert "aria-describedby" not in field("email")


def test_a_field_that_may_be_empty_says_so() -> None:
    assert "(اختیاری)" in field("email")


def test_the_remark_about_empty_fields_can_be_left_out() -> None:
    assert "(اختیاری)" not in field("email", more="optional_mark=False")


def test_an_address_is_typed_left_to_right() -> None:
    assert 'dir="ltr"' in field("email")


def test_a_name_takes_the_direction_of_its_letters() -> None:
    assert 'dir="auto"' in field("name")


def test_a_number_box_accepts_persian_digits() -> None:
    html = field("count")
    assert 'type="text"' in html
    assert 'inputmode="numeric"' in html


def test_a_date_has_a_calendar() -> None:
    assert "<jalali-date" in field("day")


def test_a_checkbox_stands_before_its_words() -> None:
    assert '<label class="choice" for="id_agree"><input type="checkbox"' in field("agree")


def test_choices_are_a_group_with_a_legend() -> None:
    assert "<fieldset" in field("color")
    assert "<legend>Color" in field("color")


def test_a_message_box_can_show_its_parts() -> None:
    html = field("body", more="parts=True")
    assert 'aria-describedby="id_body_counter"' in html
    assert 'id="id_body_counter"' in html
