"""What people type about automation in their workspace."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from automation.builder.window_form import WindowForm
from core.formfields import DigitsIntegerField
from engine.compile_settings import MAX_LIMIT


class AutomationSettingsForm(WindowForm):
    """One panel of the SMS settings page."""

    enabled = forms.BooleanField(
        label=_("Automation is on"),
        required=False,
        help_text=_("Switched off, nothing is sent and the pages of automation are closed."),
    )
    global_daily_limit = DigitsIntegerField(
        label=_("Messages a day of the whole workspace"),
        required=False,
        min_value=0,
        max_value=MAX_LIMIT,
        help_text=_("For all campaigns together. Empty means no such limit."),
    )
    field_order = ("enabled", "global_daily_limit")
