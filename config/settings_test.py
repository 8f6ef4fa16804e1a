"""Settings of the test suite: fixed keys, plain static files, the database named by TEST_DATABASE_URL."""

import os
import tempfile

os.environ.setdefault("PEYK_SECRET_KEY", "test-" + "k7Qw9zXr2LmP4vNb6TsY8uJd1HgFcEa3" * 2)
os.environ.setdefault("PEYK_DATA_KEYS", "k1:" + "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")
os.environ.setdefault("PEYK_HTTPS", "0")
os.environ.setdefault("PEYK_QUEUE", "inline")
# A folder for each process of a parallel run: the file locks in it are between processes of one host.
_scratch = tempfile.TemporaryDirectory(prefix="peyk-test-", ignore_cleanup_errors=True)  # gone at exit
os.environ["PEYK_VAR_DIR"] = _scratch.name
os.environ["DATABASE_URL"] = os.environ.get("TEST_DATABASE_URL") or f"sqlite:///{_scratch.name}/peyk.sqlite3"
os.environ["REDIS_URL"] = ""

from config.settings import *  # noqa: E402, F403
from config.settings import DATABASE, DATABASES, INSTALLED_APPS, STORAGES  # noqa: E402

TESTING = True
ENVIRONMENT_GUARD = False  # a test's database comes and goes; those of the guard turn it on
INSTALLED_APPS = ["tests.flushing", *INSTALLED_APPS]  # its own `flush`, since history cannot be emptied
SMS_QUESTIONS_PER_SECOND = 1000  # the simulator is at hand; those of the pace set their own
ALLOWED_HOSTS = ["testserver", "localhost", "127.0.0.1"]
PROVIDER_HOSTS = ["rest.payamak-panel.com", "127.0.0.1", "localhost"]
STORAGES = {**STORAGES, "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
if DATABASE["ENGINE"].endswith("sqlite3"):
    # A file, not memory: threads and processes of one test see the same database. One file a run.
    DATABASES["default"]["TEST"] = {"NAME": f"{_scratch.name}/test.sqlite3"}
DATABASES["default"]["CONN_MAX_AGE"] = 0
