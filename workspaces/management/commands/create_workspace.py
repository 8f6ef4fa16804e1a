"""Create a workspace: `manage.py create_workspace --name "Kaveh shop" --slug kaveh`."""

from __future__ import annotations

from typing import Any
from zoneinfo import available_timezones

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.core.validators import validate_slug

from workspaces import actions
from workspaces.models import Workspace


class Command(BaseCommand):
    help = "Create an empty workspace. Add its first owner with create_member."

    def add_arguments(self, parser: CommandParser) -> None:
        languages = [code for code, _name in settings.LANGUAGES]
        parser.add_argument("--name", required=True, help="As its members read it.")
        parser.add_argument("--slug", required=True, help="Letters, digits, hyphens; for commands.")
        parser.add_argument(
            "--timezone", default=settings.DEFAULT_WORKSPACE_TIMEZONE, help="Such as Asia/Tehran."
        )
        parser.add_argument("--language", default=settings.LANGUAGE_CODE, choices=languages)

    def handle(self, *args: Any, **options: Any) -> None:
        name, slug, zone = options["name"].strip(), options["slug"].strip(), options["timezone"]
        if not 0 < len(name) <= 120:
            raise CommandError("--name must have 1 to 120 characters")
        try:
            validate_slug(slug)
        except ValidationError as exc:
            raise CommandError("--slug may hold Latin letters, digits, hyphens and underscores only") from exc
        if len(slug) > 60:
            raise CommandError("--slug must have at most 60 characters")
        if zone not in available_timezones():
            raise CommandError(f"--timezone {zone!r} is not a time zone; try Asia/Tehran")
        if Workspace.objects.filter(slug=slug).exists():
            raise CommandError(f"a workspace with the slug {slug!r} exists already")
        workspace = actions.create_workspace(
            name=name, slug=slug, timezone=zone, language=options["language"]
        )
        self.stdout.write(f"Workspace {workspace.slug} was created (id {workspace.pk}).")
