"""What people choose for a new API token."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final, cast

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from core import clock
from workspaces import tokens
from workspaces.models import Membership
from workspaces.permissions import Perm

PERMISSION_LABELS: Final[Mapping[str, str | Promise]] = {
    Perm.WORKFLOWS_VIEW: _("See workflows"),
    Perm.WORKFLOWS_MANAGE: _("Change workflows"),
    Perm.WORKFLOWS_PUBLISH: _("Publish workflows"),
    Perm.CAMPAIGNS_VIEW: _("See campaigns and people's history in them"),
    Perm.CAMPAIGNS_MANAGE: _("Change campaigns, add people"),
    Perm.BLACKLIST_VIEW: _("See the blacklist"),
    Perm.BLACKLIST_MANAGE: _("Change the blacklist"),
    Perm.SMS_TEMPLATES_MANAGE: _("Change SMS templates"),
    Perm.SMS_LOGS_VIEW: _("See the message log"),
    Perm.JOURNEY_READ: _("See journeys"),
    Perm.JOURNEY_WRITE: _("Change journeys"),
    Perm.JOURNEY_PUBLISH: _("Publish journeys"),
    Perm.TARGETS_VIEW: _("See all people"),
    Perm.TARGETS_VIEW_OWN: _("See own people"),
    Perm.TARGETS_MANAGE: _("Change people"),
    Perm.TARGETS_IMPORT: _("Import people"),
    Perm.ACTIVITIES_MANAGE: _("Plan and record activities"),
}


def permission_label(perm: str) -> str:
    """A permission in words; one without words is shown by its name."""
    return str(PERMISSION_LABELS.get(perm, perm))


class TokenForm(forms.Form):
    name = forms.CharField(
        label=_("Name"), max_length=80, help_text=_("What will use it, such as “Reports of the shop”.")
    )
    lifetime = forms.TypedChoiceField(
        label=_("Valid for"),
        coerce=int,
        initial=90,
        choices=[(30, _("30 days")), (90, _("90 days")), (365, _("One year")), (0, _("Without an end"))],
    )
    permissions = forms.MultipleChoiceField(
        label=_("Permissions"),
        widget=forms.CheckboxSelectMultiple,
        help_text=_("It may never do more than you may do at that moment."),
        error_messages={"required": _("Choose at least one permission.")},
    )

    def __init__(self, *args: Any, membership: Membership, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [(str(perm), permission_label(perm)) for perm in tokens.grantable_to(membership)]
        cast(forms.MultipleChoiceField, self.fields["permissions"]).choices = choices

    def expires_at(self) -> datetime | None:
        """The chosen end, None for a token without one. Only after `is_valid`."""
        days: int = self.cleaned_data["lifetime"]
        return clock.now() + timedelta(days=days) if days else None
