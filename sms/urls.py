"""Addresses: the settings page, the message log, and where providers post reports."""

from django.urls import path

from sms import webhooks
from sms.views import logs, settings

app_name = "sms"
urlpatterns = [
    path("settings/sms/", settings.overview, name="settings"),
    path("settings/sms/channel", settings.channel_save, name="channel"),
    path("settings/sms/section/<slug:key>", settings.section_save, name="section"),
    path("settings/sms/webhook/renew", settings.webhook_renew, name="webhook-renew"),
    path("settings/sms/reopen", settings.reopen, name="reopen"),
    path("settings/sms/accounts/new", settings.account_add, name="account-add"),
    path("settings/sms/accounts/<uuid:pk>", settings.account, name="account"),
    path("settings/sms/accounts/<uuid:pk>/primary", settings.account_primary, name="account-primary"),
    path("settings/sms/accounts/<uuid:pk>/check", settings.account_check, name="account-check"),
    path("settings/sms/accounts/<uuid:pk>/test", settings.account_test, name="account-test"),
    path("automation/sms-logs/", logs.log_list, name="logs"),
    path("automation/sms-logs/<int:pk>", logs.log_detail, name="log"),
    path("api/webhooks/sms/<str:provider>/<str:token>", webhooks.receive, name="webhook"),
]
