from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class SmsConfig(AppConfig):
    name = "sms"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from core.navigation import NavItem, register
        from sms import (
            home,
            tasks,  # noqa: F401  # registers its queue task
        )
        from sms.audit_events import register_events
        from workspaces.permissions import Perm

        register_events()
        home.register()
        register(
            NavItem(
                key="sms.logs", label=_("Message log"), url_name="sms:logs", permission=Perm.SMS_LOGS_VIEW,
                order=50, icon="message", group="automation",
            )
        )  # fmt: skip
        register(
            NavItem(
                key="sms.settings", label=_("SMS"), url_name="sms:settings", permission=Perm.SETTINGS_MANAGE,
                order=81, icon="provider", group="settings",
            )
        )  # fmt: skip
