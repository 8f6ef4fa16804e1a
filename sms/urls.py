"""Addresses: the settings page, the message log, and where providers post reports."""

from django.urls import path

from sms import webhooks
from sms.inbound import relay
from sms.views import downloads, inbound, lines, logs, retries, settings, templates, unknown, usage

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
    path("settings/sms/accounts/<uuid:pk>/lines", settings.account_lines, name="account-lines"),
    path("settings/sms/accounts/<uuid:pk>/fallback", settings.account_fallback, name="account-fallback"),
    path("settings/sms/accounts/<uuid:pk>/check", settings.account_check, name="account-check"),
    path("settings/sms/accounts/<uuid:pk>/test", settings.account_test, name="account-test"),
    path("settings/sms/inbound", inbound.inbound_settings, name="inbound-settings"),
    path("settings/sms/prices", usage.price_list, name="prices"),
    path("settings/sms/prices/<int:pk>/remove", usage.price_remove, name="price-remove"),
    path("automation/usage/", usage.usage, name="usage"),
    path("automation/usage/<slug:what>.<slug:kind>", usage.usage_export, name="usage-export"),
    path("automation/inbound/export.<slug:kind>", downloads.inbound, name="inbound-export"),
    path("automation/inbound/", inbound.inbound_list, name="inbound"),
    path("automation/sms-logs/", logs.log_list, name="logs"),
    path("automation/sms-logs/export.<slug:kind>", downloads.messages, name="logs-export"),
    path("automation/sms-logs/<int:pk>", logs.log_detail, name="log"),
    path("automation/sms-logs/<int:pk>/retry", retries.retry, name="retry"),
    path("automation/sms-unknown/export.<slug:kind>", downloads.unknown, name="unknown-export"),
    path("automation/sms-unknown/", unknown.unknown_list, name="unknown"),
    path("automation/sms-unknown/<int:pk>/look", unknown.look_again, name="look-again"),
    path("automation/sms-templates/", templates.template_list, name="templates"),
    path("automation/sms-templates/export.<slug:kind>", downloads.templates, name="templates-export"),
    path("automation/sms-templates/new", templates.template_add, name="template-add"),
    path("automation/sms-templates/<int:pk>", templates.template_edit, name="template"),
    path("automation/sms-templates/<int:pk>/delete", templates.template_delete, name="template-delete"),
    path("automation/sms-templates/preview", templates.template_preview, name="template-preview"),
    path("settings/sms/lines", lines.line_rules, name="line-rules"),
    path("settings/sms/lines/export.<slug:kind>", downloads.line_rules, name="line-rules-export"),
    path("settings/sms/lines/<int:pk>/delete", lines.line_rule_delete, name="line-rule-delete"),
    path("api/webhooks/sms/inbound/<str:token>", relay.take, name="relay"),
    path("api/webhooks/sms/<str:provider>/<str:token>", webhooks.receive, name="webhook"),
]
