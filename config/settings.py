"""Django settings. Everything that differs between hosts comes from the environment (`config/env.py`)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import django_stubs_ext
from csp.constants import NONE, SELF
from django.utils.translation import gettext_lazy as _

from config import env as environment

django_stubs_ext.monkeypatch()  # lets forms, views and managers name their type at run time

BASE_DIR = Path(__file__).resolve().parent.parent
ENV = environment.read(os.environ)

VAR_DIR = (BASE_DIR / ENV.text("PEYK_VAR_DIR")).resolve()
VAR_DIR.mkdir(parents=True, exist_ok=True)

SECRET_KEY = ENV.text("PEYK_SECRET_KEY")
DATA_KEYS = ENV.keys("PEYK_DATA_KEYS")
DEBUG = ENV.flag("PEYK_DEBUG")
HTTPS = ENV.flag("PEYK_HTTPS")
ALLOWED_HOSTS = ENV.words("PEYK_ALLOWED_HOSTS")

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "axes",
    "csp",
    "django_q",
    "template_partials",
    "core",
    "workspaces",
    "blacklist",
    "targets",
    "sms",
    "automation",
    "campaigns",
    "config",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "core.middleware.PrivateCacheMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "workspaces.middleware.WorkspaceMiddleware",
    "core.middleware.DomainErrorMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "django.template.context_processors.i18n",
                "core.context_processors.shell",
                "workspaces.context_processors.help_for_page",
            ],
            "builtins": ["core.templatetags.peyk", "django.templatetags.i18n", "django.templatetags.static"],
        },
    },
]

DATABASE: dict[str, Any] = dict(ENV["DATABASE_URL"])  # type: ignore[call-overload]  # parsed by env.database
if DATABASE["ENGINE"].endswith("sqlite3"):
    DATABASE["NAME"] = str(BASE_DIR / DATABASE["NAME"])
    DATABASE["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 30,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA recursive_triggers=ON;",
    }
else:
    # Statements of one text again and again are prepared (core/statements.py); the ORM's never are.
    DATABASE["OPTIONS"] = {"application_name": "peyk", "prepare_threshold": 3}
# The django-q2 broker and Celery close old connections around every task: without this each one reconnects.
DATABASE["CONN_MAX_AGE"] = 600
DATABASE["CONN_HEALTH_CHECKS"] = True
DATABASES = {"default": DATABASE}

REDIS_URL = ENV.text("REDIS_URL")
CACHES: dict[str, dict[str, Any]] = {
    "default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": REDIS_URL}
    if REDIS_URL
    else {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "peyk"}
}

AUTH_USER_MODEL = "workspaces.User"
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "workspaces:sign-in"
LOGIN_REDIRECT_URL = "workspaces:home"
LOGOUT_REDIRECT_URL = "workspaces:sign-in"

# Sign-in throttling: by person and address, by address, and by person alone except from browsers that
# person has used before; the last one else would let anybody lock an owner out.
AXES_LOCKOUT_PARAMETERS = "workspaces.sign_in.lockout_parameters"
AXES_USERNAME_FORM_FIELD = "username"
AXES_FAILURE_LIMIT = 6
AXES_COOLOFF_TIME = 0.25  # hours
AXES_RESET_ON_SUCCESS = True
AXES_LOCKOUT_CALLABLE = "workspaces.sign_in.locked_out"
AXES_CLIENT_IP_CALLABLE = "core.client_address.client_ip"
AXES_VERBOSE = False
AXES_ENABLE_ACCESS_FAILURE_LOG = False
AXES_SENSITIVE_PARAMETERS = ["username", "ip_address"]
PROXY_COUNT = ENV.number("PEYK_PROXY_COUNT")

LANGUAGE_CODE = "fa"
LANGUAGES = [("fa", _("Persian")), ("en", _("English"))]
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"
DEFAULT_WORKSPACE_TIMEZONE = ENV.text("PEYK_TIMEZONE")

STATIC_URL = "static/"
STATIC_ROOT = VAR_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": VAR_DIR / "uploads"},
    },
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage" if DEBUG else "core.storage.Hashed"
    },
}
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024
FILE_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
FILE_UPLOAD_HANDLERS = [
    "core.uploads.CutOff",
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "django.core.files.uploadhandler.TemporaryFileUploadHandler",
]
DATA_UPLOAD_MAX_NUMBER_FIELDS = 2000

SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = HTTPS
SESSION_COOKIE_NAME = "__Host-session" if HTTPS else "peyk_session"
CSRF_COOKIE_HTTPONLY = True
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SECURE = HTTPS
CSRF_COOKIE_NAME = "__Host-csrf" if HTTPS else "peyk_csrf"
CSRF_FAILURE_VIEW = "core.views.csrf_failure"
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^healthz$"]
SECURE_HSTS_SECONDS = 31536000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
SECURE_HSTS_PRELOAD = HTTPS
SECURE_REFERRER_POLICY = "same-origin"
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if PROXY_COUNT else None
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "manifest-src": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "object-src": [NONE],
    }
}
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"
SILENCED_SYSTEM_CHECKS: list[str] = []

ENVIRONMENT = ENV.text("PEYK_ENVIRONMENT")[:50]
ENVIRONMENT_GUARD = True  # see core.installation

QUEUE = ENV.text("PEYK_QUEUE")
LEASE_SECONDS = ENV.number("PEYK_LEASE_SECONDS")
TASK_TIME_LIMIT = max(20, LEASE_SECONDS - 60) if LEASE_SECONDS > 90 else 20
HTTP_BUDGET_SECONDS = ENV.number("PEYK_HTTP_BUDGET_SECONDS")
SEND_CONCURRENCY = ENV.number("PEYK_SEND_CONCURRENCY")
CHUNK_SIZE = ENV.number("PEYK_CHUNK_SIZE")
CLOCK_FILE = ENV.text("PEYK_CLOCK_FILE")
METRICS_TOKEN = ENV.text("PEYK_METRICS_TOKEN")
PROVIDER_HOSTS = ENV.words("PEYK_PROVIDER_HOSTS")
SMS_FINALITY_HOURS = ENV.number("PEYK_SMS_FINALITY_HOURS")
RECONCILE_WAIT_MINUTES = ENV.number("PEYK_RECONCILE_WAIT_MINUTES")
RECONCILE_ABSENT_MINUTES = ENV.number("PEYK_RECONCILE_ABSENT_MINUTES")
OUTBOX_PAGES = ENV.number("PEYK_OUTBOX_PAGES")
SMS_QUESTIONS_PER_SECOND = ENV.number("PEYK_SMS_QUESTIONS_PER_SECOND")
CREDIT_CHECK_MINUTES = ENV.number("PEYK_CREDIT_CHECK_MINUTES")

Q_CLUSTER = {
    "name": "peyk",
    "orm": "default",
    "workers": 2,
    "recycle": 5000,
    "timeout": TASK_TIME_LIMIT,
    "retry": LEASE_SECONDS * 4,  # a hint only: the claim, not the broker, decides who may send
    "max_attempts": 1,
    "ack_failures": True,
    "save_limit": -1,
    "bulk": 1,
    "queue_limit": 8,
    "poll": 0.2,
    "catch_up": False,
    "label": "Peyk queue",
    "log_level": "WARNING",
}
CELERY_BROKER_URL = REDIS_URL or "memory://"
# Sends come before everything else; a message that was handed out is not handed out again within a day.
CELERY_BROKER_TRANSPORT_OPTIONS = {"queue_order_strategy": "priority", "visibility_timeout": 86400}
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = False
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_TIME_LIMIT = TASK_TIME_LIMIT
CELERY_TASK_DEFAULT_QUEUE = "default"
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False

LOG_LEVEL = ENV.text("PEYK_LOG_LEVEL")
LOGGING_CONFIG = "core.logging.configure"
LOGGING = {"level": LOG_LEVEL, "json": not DEBUG}
