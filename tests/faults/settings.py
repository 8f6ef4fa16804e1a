"""The product's own settings for processes that are going to be killed: failpoints are obeyed."""

import os

from config.settings import *  # noqa: F403
from config.settings import DATABASES

TESTING = True
PROVIDER_HOSTS = ["127.0.0.1", "localhost"]
DATABASES["default"]["CONN_MAX_AGE"] = 0
SMS_QUESTIONS_PER_SECOND = 1000  # the provider is a process beside this one
# Shorter than the environment may ask for: a pause past the lease must not take a test half a minute.
LEASE_SECONDS = int(os.environ.get("FAULTS_LEASE_SECONDS", "26"))
TASK_TIME_LIMIT = int(os.environ.get("FAULTS_TASK_SECONDS", LEASE_SECONDS - 1))
CELERY_TASK_TIME_LIMIT = TASK_TIME_LIMIT
Q_CLUSTER = {
    **globals()["Q_CLUSTER"],
    "timeout": TASK_TIME_LIMIT,
    "retry": LEASE_SECONDS * 4,
    "poll": 0.05,
}
# Nobody collected static files for these processes.
STORAGES = {
    **globals()["STORAGES"],
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
