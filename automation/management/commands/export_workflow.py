"""Write a version of a workflow as JSON, for a backup or for another workspace."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from automation.builder import queries
from automation.publishing import load_definition
from core.errors import NotFound
from core.tenancy import workspace_scope
from engine.portable import definition_to_json
from workspaces.models import Workspace


class Command(BaseCommand):
    help = "Write a version of a workflow as JSON to the standard output."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("workspace", help="slug of the workspace")
        parser.add_argument("workflow", type=int, help="id of the workflow, as in its address")
        parser.add_argument("--number", type=int, help="number of the version; the published one by default")

    def handle(self, *args: Any, **options: Any) -> None:
        workspace = Workspace.objects.filter(slug=options["workspace"]).first()
        if workspace is None:
            raise CommandError(f"There is no workspace {options['workspace']!r}.")
        with workspace_scope(workspace.pk):
            try:
                workflow = queries.workflow_for(options["workflow"])
                version = workflow.published_version
                if options["number"] is not None:
                    version = queries.version_for(workflow, options["number"])
            except NotFound as exc:
                raise CommandError(str(exc)) from exc
            if version is None:
                raise CommandError("Nothing has been published yet; name a version with --number.")
            definition = definition_to_json(load_definition(version))
        self.stdout.write(json.dumps(definition, ensure_ascii=False, indent=2))
