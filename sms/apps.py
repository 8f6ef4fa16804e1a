from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class SmsConfig(AppConfig):
    name = "sms"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from core.navigation import NavItem, register
        from sms import (
            home,
            message_rules,
            sealed,
            tasks,  # noqa: F401  # registers its queue task
        )
        from sms.audit_events import register_events
        from sms.inbound import sweep  # noqa: F401  # registers its queue tasks
        from workspaces.permissions import Perm

        register_events()
        home.register()
        message_rules.register()
        sealed.register()
        register(
            NavItem(
                key="sms.logs", label=_("Message log"), url_name="sms:logs", permission=Perm.SMS_LOGS_VIEW,
                order=50, icon="message", group="automation",
            )
        )  # fmt: skip
        register(
            NavItem(
                key="sms.inbound", label=_("Inbound"), url_name="sms:inbound", permission=Perm.SMS_LOGS_VIEW,
                order=51, icon="phone", group="automation",
            )
        )  # fmt: skip
        register(
            NavItem(
                key="sms.usage", label=_("Usage"), url_name="sms:usage", permission=Perm.SMS_LOGS_VIEW,
                order=55, icon="chart", group="automation",
            )
        )  # fmt: skip
        register(
            NavItem(
                key="sms.templates", label=_("SMS templates"), url_name="sms:templates",
                permission=Perm.SMS_TEMPLATES_MANAGE, order=53, icon="template", group="automation",
            )
        )  # fmt: skip
        register(
            NavItem(
                key="sms.settings", label=_("SMS"), url_name="sms:settings", permission=Perm.SETTINGS_MANAGE,
                order=81, icon="provider", group="settings",
            )
        )  # fmt: skip
