from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class CampaignsConfig(AppConfig):
    name = "campaigns"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from automation import workspace_settings
        from campaigns import audit_events, home, searching, tasks  # noqa: F401  # the tasks register themselves
        from campaigns.models import Campaign, CampaignStatus
        from core.navigation import NavItem, register
        from workspaces import audit
        from workspaces.permissions import Perm

        audit.register_events(audit_events.LABELS)
        audit.register_fields(audit_events.FIELDS)
        audit.register_values(Campaign, {"status": dict(CampaignStatus.choices)})
        home.register()
        searching.register()
        register(
            NavItem(
                key="campaigns",
                label=_("Campaigns"),
                url_name="campaigns:list",
                permission=Perm.CAMPAIGNS_VIEW,
                order=30,
                icon="campaign",
                group="automation",
                enabled=workspace_settings.on_for,
            )
        )
        register(
            NavItem(
                key="campaigns.checkup",
                label=_("Health"),
                url_name="campaigns:checkup",
                permission=Perm.SUPPORT,
                order=88,
                icon="pulse",
                group="settings",
            )
        )
