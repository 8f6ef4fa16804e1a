"""What people may type about themselves, their workspace and its members."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, cast
from zoneinfo import available_timezones

from django import forms
from django.conf import settings
from django.contrib.auth.forms import PasswordChangeForm, SetPasswordForm
from django.utils.functional import lazy
from django.utils.translation import get_language_info
from django.utils.translation import gettext_lazy as _

from workspaces import audit
from workspaces.models import Membership, Role, User, Workspace

LTR = {"dir": "ltr"}

if TYPE_CHECKING:
    _SetPasswordForm = SetPasswordForm[User]
else:  # not generic at run time
    _SetPasswordForm = SetPasswordForm


@cache  # the host's files are walked for them
def zone_choices() -> list[tuple[str, str | list[tuple[str, str]]]]:
    """Every time zone by its region, Tehran first. Not to be changed."""
    regions: dict[str, list[tuple[str, str]]] = {}
    for name in sorted(available_timezones()):
        region, _slash, city = name.partition("/")
        if city and region not in ("Etc", "SystemV"):
            regions.setdefault(region, []).append((name, city.replace("_", " ")))
    return [("Asia/Tehran", "Asia/Tehran"), ("UTC", "UTC"), *regions.items()]


def language_choices() -> list[tuple[str, str]]:
    """Each language named in itself."""
    return [(code, get_language_info(code)["name_local"]) for code, _name in settings.LANGUAGES]


class WorkspaceForm(forms.ModelForm[Workspace]):
    timezone = forms.ChoiceField(
        label=_("Time zone"),
        choices=zone_choices,
        help_text=_("Sending windows, daily limits and dates follow it."),
        error_messages={"invalid_choice": _("%(value)s is not a time zone.")},
        widget=forms.Select(attrs=LTR),
    )
    language = forms.ChoiceField(
        label=_("Language"),
        choices=language_choices,
        help_text=_("For members who did not choose one themselves."),
    )

    class Meta:
        model = Workspace
        fields = ["name", "timezone", "language"]
        labels = {"name": _("Name of the workspace")}


class AccountForm(forms.ModelForm[User]):
    language = forms.ChoiceField(
        label=_("Language"),
        required=False,
        choices=lazy(lambda: [("", _("Same as the workspace")), *language_choices()], list),
    )

    class Meta:
        model = User
        fields = ["full_name", "language"]
        labels = {"full_name": _("Full name")}


class RoleForm(forms.Form):
    role = forms.ChoiceField(label=_("Role"), choices=Role.choices)


class MemberForm(RoleForm):
    email = forms.EmailField(
        label=_("E-mail"), max_length=254, widget=forms.EmailInput(attrs={**LTR, "autocomplete": "off"})
    )
    full_name = forms.CharField(label=_("Full name"), max_length=120, required=False)
    field_order = ["email", "full_name", "role"]

    def offer_roles(self, roles: list[tuple[str, Any]]) -> None:
        """Show these roles. What was posted is judged by the action, which says why it refuses."""
        cast(forms.ChoiceField, self.fields["role"]).choices = roles


def _say_it_our_way(form: forms.Form) -> None:
    """Passwords are typed left to right, and the rules are one sentence."""
    for field in form.fields.values():
        field.widget.attrs.update(LTR)
    form.fields["new_password1"].help_text = _(
        "At least 10 characters; not a common word and not like your name or e-mail."
    )
    form.fields["new_password2"].label = _("The new password once more")
    form.fields["new_password2"].help_text = ""


class ChangePasswordForm(PasswordChangeForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _say_it_our_way(self)


class FirstPasswordForm(_SetPasswordForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _say_it_our_way(self)


class AuditFilter(forms.Form):
    """Which rows of the audit log are shown. A wrong value narrows nothing."""

    event = forms.ChoiceField(label=_("Event"), required=False)
    user = forms.ModelChoiceField(
        label=_("Who"), required=False, queryset=User.objects.none(), empty_label=_("Everybody")
    )

    def __init__(self, *args: Any, members: list[Membership], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        events = sorted(audit.AUDIT_LABELS.items(), key=lambda item: str(item[1]))
        cast(forms.ChoiceField, self.fields["event"]).choices = [("", _("All events")), *events]
        ids = [member.user_id for member in members]
        people = cast(forms.ModelChoiceField[User], self.fields["user"])
        people.queryset = User.objects.filter(pk__in=ids).order_by("email")
