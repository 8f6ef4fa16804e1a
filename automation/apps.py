from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AutomationConfig(AppConfig):
    name = "automation"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from automation import audit_events, fields, home, registry, variables
        from automation.action_specs import send_sms
        from core import navigation
        from workspaces import audit
        from workspaces.permissions import Perm

        registry.register_action(send_sms.PLUGIN)
        for variable in variables.BUILT_IN:
            registry.register_variable(variable)
        for field in fields.BUILT_IN:
            registry.register_field(field)
        audit.register_events(audit_events.LABELS)
        audit.register_fields(audit_events.FIELDS)
        home.register()
        navigation.register(
            navigation.NavItem(
                key="workflows",
                label=_("Workflows"),
                url_name="automation:list",
                permission=Perm.WORKFLOWS_VIEW,
                order=50,
                icon="workflow",
                group="automation",
            )
        )
