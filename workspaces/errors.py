"""Refusals about members."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from core.errors import Forbidden, Refused


class LastOwner(Refused):
    """A workspace keeps at least one owner."""

    code = "last_owner"

    def __init__(self) -> None:
        super().__init__(_("This is the only owner. Make somebody else an owner first."))


class OwnersOnly(Forbidden):
    """Owners are made, changed and removed by owners."""

    code = "owners_only"

    def __init__(self) -> None:
        super().__init__(_("Only an owner can do this to an owner."))


class AlreadyMember(Refused):
    """The person is a member already."""

    code = "already_member"

    def __init__(self) -> None:
        super().__init__(_("This person is a member already."))


class HasPassword(Refused):
    """An invitation is for somebody who has no password yet."""

    code = "has_password"

    def __init__(self) -> None:
        super().__init__(_("This person has a password already; no new link is needed."))
