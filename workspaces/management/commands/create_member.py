"""Add a member: `manage.py create_member --workspace kaveh --email a@b.example --role owner`."""

from __future__ import annotations

import secrets
import sys
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.core.validators import validate_email

from workspaces import actions
from workspaces.errors import AlreadyMember
from workspaces.models import Role, User, Workspace

GENERATED_BYTES = 15  # 20 characters


class Command(BaseCommand):
    help = (
        "Make a person a member of a workspace. Somebody new gets the password read from standard input, "
        "or a generated one that is printed once. An existing account keeps its password."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--workspace", required=True, help="The slug.")
        parser.add_argument("--email", required=True)
        parser.add_argument("--role", required=True, choices=Role.values)
        parser.add_argument("--full-name", default="")
        parser.add_argument(
            "--password-stdin", action="store_true", help="Read the password from standard input."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        workspace = Workspace.objects.filter(slug=options["workspace"]).first()
        if workspace is None:
            raise CommandError(f"there is no workspace with the slug {options['workspace']!r}")
        email = options["email"].strip().lower()
        try:
            validate_email(email)
        except ValidationError as exc:
            raise CommandError(f"{email!r} is not an e-mail address") from exc
        given = self._given_password(email) if options["password_stdin"] else ""
        password = given or secrets.token_urlsafe(GENERATED_BYTES)
        try:
            added = actions.add_member(
                workspace,
                email=email,
                role=options["role"],
                full_name=options["full_name"],
                by=None,
                password=password,
            )
        except AlreadyMember as exc:
            raise CommandError(f"{email} is a member of {workspace.slug} already") from exc
        self.stdout.write(f"{email} is now {options['role']} of {workspace.slug}.")
        if added.is_new and not given:
            self.stdout.write(f"Password (shown only now): {password}")
        elif not added.is_new:
            self.stdout.write("The account existed already and keeps its password.")

    def _given_password(self, email: str) -> str:
        password = sys.stdin.readline().rstrip("\r\n")
        try:
            validate_password(password, User(email=email))
        except ValidationError as exc:
            raise CommandError("the password was refused: " + " ".join(exc.messages)) from exc
        return password
