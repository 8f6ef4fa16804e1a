"""Panels of the SMS settings page that other apps add: a form, and what saving it does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django import forms
from django.http import QueryDict

from core.errors import NotFound
from workspaces.models import User, Workspace

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

MakeForm = Callable[[Workspace, QueryDict | None], forms.BaseForm]
Save = Callable[[Workspace, Mapping[str, object], User], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsSection:
    """`make_form(workspace, data)` is unbound without data. `save(workspace, cleaned, user)` audits what
    it changes and says whether it changed anything."""

    key: str
    title: StrPromise
    make_form: MakeForm
    save: Save


_sections: dict[str, SettingsSection] = {}


def register_section(section: SettingsSection) -> None:
    """Show this panel on the SMS settings page, below the channel's own. Replaces one of the same key."""
    _sections[section.key] = section


def sections() -> list[SettingsSection]:
    return list(_sections.values())


def section(key: str) -> SettingsSection:
    """Raises NotFound."""
    if key not in _sections:
        raise NotFound
    return _sections[key]
