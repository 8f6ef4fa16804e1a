from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AutomationConfig(AppConfig):
    name = "automation"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from automation import (
            audit_events,
            audit_texts,
            catalogue,
            fields,
            home,
            registry,
            searching,
            variables,
        )
        from automation.action_specs import create_followup, send_sms
        from automation.models import Workflow, WorkflowExecution
        from automation.models.definition import WorkflowStatus
        from automation.states import ExecutionStatus
        from workspaces import audit

        registry.register_action(send_sms.PLUGIN)
        registry.register_action(create_followup.PLUGIN)
        for variable in variables.BUILT_IN:
            registry.register_variable(variable)
        for field in fields.BUILT_IN:
            registry.register_field(field)
        audit.register_events(audit_events.LABELS)
        audit.register_fields(audit_events.FIELDS)
        audit.register_values(None, audit_events.VALUES)
        audit.register_texts(audit_texts.TEXTS)
        templates = {template.key: template.name for template in catalogue.BUILT_IN}
        audit.register_values(Workflow, {"status": dict(WorkflowStatus.choices), "template": templates})
        audit.register_values(WorkflowExecution, {"status": dict(ExecutionStatus.choices)})
        home.register()
        searching.register()
        _register_menu()


def _register_menu() -> None:
    from automation import workspace_settings
    from core import navigation
    from workspaces.permissions import Perm

    navigation.register(
        navigation.NavItem(
            key="workflows",
            label=_("Workflows"),
            url_name="automation:list",
            permission=Perm.WORKFLOWS_VIEW,
            order=35,
            icon="workflow",
            group="automation",
            enabled=workspace_settings.on_for,
        )
    )
