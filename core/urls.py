"""Addresses for those who run the installation."""

from django.urls import path

from core import operations

app_name = "core"
urlpatterns = [
    path("healthz", operations.healthz, name="healthz"),
    path("metrics", operations.metrics_page, name="metrics"),
]
