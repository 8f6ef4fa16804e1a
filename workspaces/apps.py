from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class WorkspacesConfig(AppConfig):
    name = "workspaces"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from core.navigation import NavItem, register
        from workspaces.permissions import Perm

        register(NavItem(key="home", label=_("Home"), url_name="workspaces:home", order=0, icon="home"))
        for key, label, permission, order, icon in (
            ("settings", _("Workspace"), Perm.WORKSPACE_MANAGE, 80, "settings"),
            ("members", _("Members"), Perm.WORKSPACE_MEMBERS, 82, "users"),
            ("audit", _("Audit log"), Perm.WORKSPACE_AUDIT, 84, "audit"),
            ("tokens", _("API tokens"), Perm.WORKSPACE_MANAGE, 86, "link"),
        ):
            register(
                NavItem(
                    key=f"workspaces.{key}",
                    label=label,
                    url_name=f"workspaces:{key}",
                    permission=permission,
                    order=order,
                    icon=icon,
                    group="settings",
                )
            )
