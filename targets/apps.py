from django.apps import AppConfig


class TargetsConfig(AppConfig):
    name = "targets"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from targets import wiring

        wiring.register()
