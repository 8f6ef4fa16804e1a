from django.apps import AppConfig
from django.core.checks import register
from django.db.models.signals import post_migrate


class CoreConfig(AppConfig):
    name = "core"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from core import checks, zone_rules

        register(checks.check_times, checks.TAG)
        register(checks.check_database, checks.TAG)
        register(checks.check_failpoints, checks.TAG)
        post_migrate.connect(zone_rules.remember, sender=self)
