"""Template tags of every page: numbers, dates, badges, icons and form controls in the reader's language.

Times are shown in Django's active time zone, which the middleware sets to the workspace's.
"""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

from django import forms, template
from django.core.paginator import Page
from django.forms.boundfield import BoundField
from django.forms.utils import ErrorList
from django.template.loader_tags import BLOCK_CONTEXT_KEY
from django.templatetags.static import static
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _

from core import clock
from core.dates import format_date, format_datetime, format_number
from core.text import to_persian_digits

register = template.Library()

NOTHING = "—"
TONES = ("success", "info", "warn", "danger", "muted", "primary")
STATUS_TONES = {
    "success": "active published completed delivered done ok healthy valid converted enabled connected "
    "accepted finished added allowed",
    "info": "scheduled running sending queued processing waiting sent in_progress preparing ready pending "
    "imported",
    "warn": "paused unknown held deferred partial duplicate conflict retrying unconfirmed expiring warning "
    "degraded pausing",
    "danger": "failed blocked blacklisted rejected undelivered error stopped invalid down refused "
    "not_delivered opted_out suspended",
    "muted": "draft archived ended cancelled canceled skipped expired inactive disabled superseded removed "
    "new exited merged closed",
}
_TONE_OF = {word: tone for tone, words in STATUS_TONES.items() for word in words.split()}
# Icons that point along the line of reading are mirrored in Persian.
MIRRORED = frozenset(
    {"chevron", "back", "sign-out", "send", "lists", "campaign", "external", "start", "help"}
)
# Django's messages that hold a limit.
_NUMBERED = frozenset(
    {"max_length", "min_length", "max_value", "min_value", "max_digits", "max_decimal_places",
     "max_whole_digits", "step_size", "password_too_short"}
)  # fmt: skip
MINUTE, HOUR, DAY = 60, 3600, 86400
WEEK = 7 * DAY


def _language() -> str:
    return get_language() or "fa"


def _zone() -> str:
    return str(timezone.get_current_timezone())


def _number(value: Any) -> str:
    """Grouped digits; None is a dash, what is not a number stays as it is."""
    if value is None or value == "":
        return NOTHING
    if isinstance(value, Decimal):
        value = int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return format_number(value, _language())


@register.simple_tag
def num(value: Any) -> str:
    """`{% num 12345 %}`: ۱۲٬۳۴۵ in Persian, 12,345 in English."""
    return _number(value)


@register.filter
def number(value: Any) -> str:
    """`{{ n|number }}`: what `num` does, inside other tags."""
    return _number(value)


@register.filter
def digits(value: Any) -> str:
    """The digits of the language, without separators: years, times, page numbers in a sentence."""
    return to_persian_digits(str(value)) if _language().startswith("fa") else str(value)


@register.filter
def unlocalized(value: Any) -> str:
    """A number as machines read it, for attributes."""
    return str(value if value is not None else 0)


@register.filter
def percent(ratio: float | Decimal | None) -> str:
    """`{{ 0.256|percent }}`: ۲۵٫۶٪ or 25.6%. At most one decimal place."""
    if ratio is None:
        return NOTHING
    value = round(float(ratio) * 100, 1)
    sign = "٪" if _language().startswith("fa") else "%"
    return format_number(int(value) if value.is_integer() else value, _language()) + sign


def _local_day(value: date) -> date:
    if isinstance(value, datetime):
        return timezone.localtime(value).date() if timezone.is_aware(value) else value.date()
    return value


@register.filter
def jdate(value: date | None, form: str = "words") -> str:
    """The day in words (۹ آذر ۱۴۰۵, 30 Nov 2026), or with "short" as ۱۴۰۵/۰۹/۰۹, 2026-11-30."""
    if not value:
        return NOTHING
    return format_date(_local_day(value), _language(), words=form != "short")


@register.filter
def jdatetime(value: datetime | None, form: str = "words") -> str:
    """The day and the time of day of an aware moment; None is a dash."""
    if not value:
        return NOTHING
    return format_datetime(value, _zone(), _language(), words=form != "short")


def _distance(seconds: float) -> tuple[str, int]:
    for unit, length in (("day", DAY), ("hour", HOUR), ("minute", MINUTE)):
        if seconds >= length:
            return unit, int(seconds // length)
    return "", 0


def _ago(unit: str, count: int) -> str:
    match unit:
        case "minute":
            text = ngettext("%(n)s minute ago", "%(n)s minutes ago", count)
        case "hour":
            text = ngettext("%(n)s hour ago", "%(n)s hours ago", count)
        case _unit:
            text = ngettext("%(n)s day ago", "%(n)s days ago", count)
    return text % {"n": _number(count)}


def _ahead(unit: str, count: int) -> str:
    match unit:
        case "minute":
            text = ngettext("in %(n)s minute", "in %(n)s minutes", count)
        case "hour":
            text = ngettext("in %(n)s hour", "in %(n)s hours", count)
        case _unit:
            text = ngettext("in %(n)s day", "in %(n)s days", count)
    return text % {"n": _number(count)}


@register.filter
def reltime(value: datetime | None) -> str | SafeString:
    """`<time>` with "5 minutes ago" within a week, else the date; the exact moment is its title."""
    if not value:
        return NOTHING
    seconds = (value - clock.now()).total_seconds()
    exact = format_datetime(value, _zone(), _language(), words=True)
    unit, count = _distance(abs(seconds))
    if abs(seconds) >= WEEK:
        text = exact
    elif not unit:
        text = _("a moment ago") if seconds <= 0 else _("in a moment")
    else:
        text = _ago(unit, count) if seconds < 0 else _ahead(unit, count)
    return format_html('<time datetime="{}" title="{}">{}</time>', value.isoformat(), exact, text)


def tone_of(status: object) -> str:
    """The tone of a status word; a tone's own name is itself, an unlisted word is muted."""
    word = str(status).lower()
    return word if word in TONES else _TONE_OF.get(word, "muted")


@register.simple_tag
def badge(status: object, label: object = "") -> SafeString:
    """`{% badge campaign.status campaign.get_status_display %}`: a coloured word."""
    return format_html('<span class="badge badge-{}">{}</span>', tone_of(status), label or status)


@register.simple_tag
def bdi(value: object) -> str | SafeString:
    """Text that people typed, kept from turning the line around it."""
    return format_html("<bdi>{}</bdi>", value) if value not in (None, "") else NOTHING


@register.simple_tag
def phone(value: object) -> str | SafeString:
    """A number, address or id: always left to right, never in Persian digits."""
    return format_html('<bdi dir="ltr">{}</bdi>', value) if value not in (None, "") else NOTHING


@register.simple_tag
def icon(name: str, label: str = "") -> SafeString:
    """A drawing of `static/img/icons.svg`: decoration unless it has a `label`."""
    kind = "icon icon-mirror" if name in MIRRORED else "icon"
    href = f"{static('img/icons.svg')}#{name}"
    if label:
        return format_html(
            '<svg class="{}" role="img" aria-label="{}"><use href="{}"></use></svg>', kind, label, href
        )
    return format_html('<svg class="{}" aria-hidden="true"><use href="{}"></use></svg>', kind, href)


@register.simple_tag(takes_context=True)
def repeat_block(context: template.RequestContext, name: str) -> str:
    """The content of a page's block a second time, so that a heading can default to the title."""
    blocks = context.render_context.get(BLOCK_CONTEXT_KEY)
    block = blocks.get_block(name) if blocks is not None else None
    return block.nodelist.render(context) if block is not None else ""


@register.filter
def page_numbers(page: Page[Any]) -> list[int | None]:
    """First, last and neighbouring page numbers; None stands for a gap."""
    last = page.paginator.num_pages
    near = sorted({1, last, *range(max(1, page.number - 1), min(last, page.number + 1) + 1)})
    numbers: list[int | None] = []
    for before, number in zip([0, *near], near, strict=False):
        if number - before == 2:
            numbers.append(number - 1)
        elif number - before > 2:
            numbers.append(None)
        numbers.append(number)
    return numbers


_KINDS: tuple[tuple[type[forms.Widget], str], ...] = (
    (forms.HiddenInput, "hidden"),
    (forms.CheckboxSelectMultiple, "choices"),
    (forms.RadioSelect, "choices"),
    (forms.CheckboxInput, "checkbox"),
    (forms.Select, "select"),
    (forms.Textarea, "textarea"),
    (forms.FileInput, "file"),
    (forms.DateInput, "date"),
    (forms.DateTimeInput, "date"),
)
_CLASSES = {"select": "select", "textarea": "textarea", "file": "file", "checkbox": "checkbox"}


@register.filter
def field_kind(field: BoundField) -> str:
    """Which control `components/field.html` draws for a form field."""
    if field.is_hidden:
        return "hidden"
    return next((kind for cls, kind in _KINDS if isinstance(field.field.widget, cls)), "input")


@register.filter
def error_texts(errors: Any) -> list[str]:
    """The messages of a form's or field's errors, their limits in the reader's digits.

    Django writes the numbers of its own messages in Latin digits; those name nothing that a person typed.
    """
    texts: list[str] = []
    for error in errors.as_data() if isinstance(errors, ErrorList) else ():
        for text in error.messages:
            own = error.code in _NUMBERED and _language() == "fa"
            texts.append(to_persian_digits(text) if own else text)
    return texts or [str(error) for error in errors]


@register.filter
def filters_set(form: forms.Form) -> int:
    """How many fields of a filter form hold something."""
    return sum(field.value() not in (None, "", [], False) for field in form) if form.is_bound else 0


@register.simple_tag
def described_by(field: BoundField, hint: object = "", counter: str = "", parts: bool = False) -> str:
    """Ids of the hint, the errors and the counter that belong to a field, for `aria-describedby`."""
    if parts:
        counter = f"{field.id_for_label}_counter"
    ids = [f"{field.auto_id}_helptext"] if hint else []
    if field.errors:
        ids.append(f"{field.auto_id}_error")
    if counter:
        ids.append(counter)
    return " ".join(ids)


@register.simple_tag
def control(field: BoundField, described: str = "", dir: str = "", autofocus: bool = False) -> SafeString:
    """The field's own element with Peyk's class, direction and description."""
    kind = field_kind(field)
    attrs: dict[str, Any] = {"class": _CLASSES.get(kind, "input")}
    own = field.field.widget.attrs
    if own.get("class"):
        attrs["class"] += f" {own['class']}"
    if described:
        attrs["aria-describedby"] = described
    if dir or (kind in ("input", "textarea") and "dir" not in own):
        attrs["dir"] = dir or _natural_direction(field)
    if autofocus:
        attrs["autofocus"] = True
    return field.as_widget(attrs=attrs)


def _natural_direction(field: BoundField) -> str:
    ltr = (forms.EmailInput, forms.URLInput, forms.PasswordInput, forms.NumberInput, forms.TimeInput)
    return "ltr" if isinstance(field.field.widget, ltr) else "auto"
