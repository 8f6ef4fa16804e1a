"""The Celery application: one task that looks the real one up in the registry."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
app = Celery("peyk")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["core.queue"], related_name="celery_tasks")
