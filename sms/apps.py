from django.apps import AppConfig


class SmsConfig(AppConfig):
    name = "sms"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from sms import (
            audit_events,
            home,
            menu,
            message_rules,
            sealed,
            tasks,  # noqa: F401  # registers its queue task
        )
        from sms.inbound import sweep  # noqa: F401  # registers its queue tasks

        audit_events.register()
        home.register()
        message_rules.register()
        sealed.register()
        menu.register_all()
