from django.apps import AppConfig


class BlacklistConfig(AppConfig):
    name = "blacklist"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from blacklist import wiring

        wiring.register()
