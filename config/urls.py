"""Every address of the site. Pages and JSON live under their app; the provider calls /api/webhooks/."""

from django.urls import include, path

from config import api

handler400 = "core.views.bad_request"
handler403 = "core.views.permission_denied"
handler404 = "core.views.page_not_found"
handler500 = "core.views.server_error"

urlpatterns = [
    path("", include("core.urls")),
    path("", include("workspaces.urls")),
    path("", include("sms.urls")),
    path("targets/", include("targets.urls")),
    path("automation/", include((api.addresses(), "json"))),
    path("automation/blacklist/", include("blacklist.urls")),
    path("automation/workflows/", include("automation.urls")),
    path("automation/", include("campaigns.urls")),
]
