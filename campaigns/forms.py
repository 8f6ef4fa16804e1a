"""What people type about a campaign."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from django import forms
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from automation.builder.window_form import WindowForm
from automation.states import ExecutionEventType
from campaigns import queries
from campaigns.details import MAX_DESCRIPTION, MAX_LIMIT, MAX_NAME, CampaignDetails
from campaigns.models import Campaign, CampaignStatus
from campaigns.newcomers import DEFAULT_CAP, MOST_A_DAY
from campaigns.policy import ONE_PER_PHONE, STOP_STATUSES
from core.errors import DomainError, Invalid
from core.formfields import DigitsIntegerField, JalaliDateField
from core.text import to_latin_digits
from targets.models import TargetStatus

# A new person has no reason to be left alone yet, so those statuses are not offered.
STOPPING: Final = (
    TargetStatus.INTERESTED,
    TargetStatus.CONVERTED,
    TargetStatus.UNWILLING,
    TargetStatus.INVALID_NUMBER,
)
_FIELD_OF = {"starts_at": "starts_on", "ends_at": "ends_on", "send_window": "use_window"}


class TimeOfDayField(forms.CharField):
    """`9`, `9:30` or `۰۹:۳۰`; gives a `time`, None when empty."""

    def __init__(self, **kwargs: Any) -> None:
        attrs = {"dir": "ltr", "autocomplete": "off", "inputmode": "numeric", "placeholder": "09:00"}
        super().__init__(max_length=10, required=False, widget=forms.TextInput(attrs=attrs), **kwargs)

    def clean(self, value: Any) -> Any:
        text = to_latin_digits(str(super().clean(value) or "")).strip()
        if not text:
            return None
        hour, _colon, minute = text.partition(":")
        try:
            return time(int(hour), int(minute or 0))
        except ValueError as exc:
            raise forms.ValidationError(_("Write the time as hour:minute, for example 14:30.")) from exc


class CampaignForm(WindowForm):
    """A campaign's details. Moments are typed in the active time zone, the workspace's."""

    name = forms.CharField(label=gettext_lazy("Name"), max_length=MAX_NAME)
    description = forms.CharField(
        label=gettext_lazy("Description"),
        max_length=MAX_DESCRIPTION,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=gettext_lazy("For your colleagues; nobody else sees it."),
    )
    starts_on = JalaliDateField(
        label=gettext_lazy("Start day"),
        required=False,
        help_text=gettext_lazy("Without a day it starts as soon as you press start."),
    )
    starts_time = TimeOfDayField(label=gettext_lazy("Start time"))
    ends_on = JalaliDateField(
        label=gettext_lazy("Last day"),
        required=False,
        help_text=gettext_lazy("Without a day it goes on until you end it."),
    )
    ends_time = TimeOfDayField(
        label=gettext_lazy("End time"), help_text=gettext_lazy("Without a time the whole last day counts.")
    )
    daily_limit = DigitsIntegerField(
        label=gettext_lazy("Messages a day at most"),
        required=False,
        min_value=0,
        max_value=MAX_LIMIT,
        help_text=gettext_lazy("Empty: no limit of its own. Whoever finds no room today is next tomorrow."),
    )
    stop_statuses = forms.MultipleChoiceField(
        label=gettext_lazy("Stop for people who become"),
        required=False,
        choices=[(status.value, status.label) for status in STOPPING],
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy("Asked before every step; whoever has such a status leaves the campaign."),
    )
    one_per_phone = forms.BooleanField(
        label=gettext_lazy("One text for a shared number"),
        required=False,
        help_text=gettext_lazy("Of people with the same number only the first gets each text."),
    )

    def __init__(self, *args: Any, campaign: Campaign | None = None, **kwargs: Any) -> None:
        self.campaign = campaign
        stored = campaign.send_window if campaign else None
        if campaign is not None:
            kwargs["initial"] = _initial(campaign) | (kwargs.get("initial") or {})
        super().__init__(*args, stored=stored, timezone=str(timezone.get_current_timezone()), **kwargs)
        self.fields["use_window"].help_text = _(
            "Without this, the workflow's own hours hold, or else the workspace's."
        )
        if self._has_started:
            for name in ("starts_on", "starts_time"):
                self.fields[name].disabled = True

    @property
    def _has_started(self) -> bool:
        return self.campaign is not None and self.campaign.has_started

    def clean(self) -> dict[str, Any]:
        values = super().clean()
        for day, clock in (("starts_on", "starts_time"), ("ends_on", "ends_time")):
            if values.get(clock) is not None and not values.get(day) and day not in self.errors:
                self.add_error(day, _("Choose the day too."))
        return values

    def details(self) -> CampaignDetails:
        """What was typed. Call it on a valid form."""
        values = self.cleaned_data
        starts_at = _moment(values["starts_on"], values["starts_time"] or time())
        if self.campaign is not None and self._has_started:
            starts_at = self.campaign.starts_at  # to the second, which the boxes do not show
        return CampaignDetails(
            name=values["name"],
            description=values["description"],
            starts_at=starts_at,
            ends_at=_end(values["ends_on"], values["ends_time"]),
            daily_limit=values["daily_limit"],
            send_window=self.window(),
            stop_statuses=frozenset(values["stop_statuses"]),
            one_per_phone=values["one_per_phone"],
        )

    def add_problems(self, error: DomainError) -> None:
        """Show a refusal beside the fields it names, else over the form."""
        problems = error.problems if isinstance(error, Invalid) else []
        for problem in problems:
            name = _FIELD_OF.get(problem.field, problem.field)
            self.add_error(name if name in self.fields else None, str(problem))
        if not problems:
            self.add_error(None, str(error))


class NewCampaignForm(CampaignForm):
    """The same with the workflow, which cannot be changed afterwards."""

    workflow = forms.TypedChoiceField(
        label=gettext_lazy("Workflow"),
        coerce=int,
        help_text=gettext_lazy("The version published now; later versions do not touch this campaign."),
    )
    field_order = ("name", "workflow")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["workflow"]
        assert isinstance(field, forms.TypedChoiceField)
        rows = [(str(pk), name) for pk, name in queries.startable_workflows().values_list("pk", "name")]
        field.choices = rows if len(rows) == 1 else [("", _("Choose one")), *rows]


class EditCampaignForm(CampaignForm):
    """The same for a campaign that exists; `revision` tells whether somebody else was faster."""

    revision = forms.IntegerField(widget=forms.HiddenInput)


class NewcomersForm(forms.Form):
    """The rule for new people beside its conditions, which are the people page's own filter."""

    daily_cap = DigitsIntegerField(
        label=gettext_lazy("New people a day at most"),
        min_value=1,
        max_value=MOST_A_DAY,
        initial=DEFAULT_CAP,
        help_text=gettext_lazy("Whoever finds no room today is looked at tomorrow."),
    )
    include_existing = forms.BooleanField(
        label=gettext_lazy("Also people who exist already"),
        required=False,
        help_text=gettext_lazy("Without this only people who come from now on are meant."),
    )
    confirmed = forms.IntegerField(required=False, widget=forms.HiddenInput)  # the number that was shown


class StatusFilter(forms.Form):
    """The status in the address of the campaign list."""

    status = forms.ChoiceField(required=False, choices=[("", ""), *CampaignStatus.choices])


class CheckForm(forms.Form):
    """What support wants checked, in the address of its page."""

    check = forms.ChoiceField(required=False, choices=[("", ""), ("campaign", ""), ("counters", "")])
    campaign = DigitsIntegerField(
        label=gettext_lazy("Campaign number"), required=False, min_value=1, max_value=2**62
    )


class LogFilter(forms.Form):
    type = forms.ChoiceField(
        label=gettext_lazy("What happened"),
        required=False,
        choices=[("", gettext_lazy("Everything")), *ExecutionEventType.choices],
    )


def _moment(day: date | None, clock: time) -> datetime | None:
    if day is None:
        return None
    return datetime.combine(day, clock, tzinfo=ZoneInfo(str(timezone.get_current_timezone())))


def _end(day: date | None, clock: time | None) -> datetime | None:
    """The end of the last day when no time was given."""
    if day is None or clock is not None:
        return _moment(day, clock or time())
    return _moment(day + timedelta(days=1), time())


def _initial(campaign: Campaign) -> dict[str, Any]:
    start, end = _local(campaign.starts_at), _local(campaign.ends_at)
    if end is not None and end.time() == time():
        end = datetime.combine(end.date() - timedelta(days=1), time.max)
    whole_day = end is not None and end.time() == time.max
    return {
        "name": campaign.name,
        "description": campaign.description,
        "starts_on": start.date() if start else None,
        "starts_time": f"{start:%H:%M}" if start else "",
        "ends_on": end.date() if end else None,
        "ends_time": f"{end:%H:%M}" if end and not whole_day else "",
        "daily_limit": campaign.daily_limit,
        "stop_statuses": campaign.settings.get(STOP_STATUSES, []),
        "one_per_phone": campaign.settings.get(ONE_PER_PHONE, False),
        "revision": campaign.revision,
    }


def _local(moment: datetime | None) -> datetime | None:
    return None if moment is None else timezone.localtime(moment)


def selected(form: forms.Form, name: str, data: Mapping[str, Any]) -> str:
    """The chosen value of a filter; "" for nothing and for a word that is no choice."""
    return str(data.get(name, "")) if form.is_valid() else ""
