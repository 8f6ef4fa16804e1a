from django.apps import AppConfig


class PeykConfig(AppConfig):
    """Last of the installed apps: every other one is ready when it connects them."""

    name = "config"
    verbose_name = "Peyk"

    def ready(self) -> None:
        from automation.runtime import runner  # noqa: F401  # registers its queue task
        from config import celery  # noqa: F401  # makes it the process's current Celery application
        from config.wiring import connect

        connect()
