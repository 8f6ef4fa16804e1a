"""Addresses of the start page, signing in, one's account and the workspace's settings."""

from django.urls import path

from workspaces import sign_in
from workspaces.views import account, administration, downloads, guide, searching, start, tokens

app_name = "workspaces"
urlpatterns = [
    path("", start.home, name="home"),
    path("search", searching.page, name="search"),
    path("search/suggestions", searching.suggestions, name="search-suggestions"),
    path("sign-in", sign_in.SignInView.as_view(), name="sign-in"),
    path("sign-out", sign_in.sign_out, name="sign-out"),
    path("invitation/<str:who>/<str:token>", account.invitation, name="invitation"),
    path("language", start.set_language, name="set-language"),
    path("workspaces", start.workspace_list, name="workspace-list"),
    path("workspaces/switch", start.switch, name="switch"),
    path("account", account.account, name="account"),
    path("account/password", account.change_password, name="change-password"),
    path("settings", administration.settings, name="settings"),
    path("settings/members", administration.members, name="members"),
    path("settings/members/export.<slug:kind>", downloads.members, name="members-export"),
    path("settings/members/add", administration.member_add, name="member-add"),
    path("settings/members/<int:pk>/role", administration.member_role, name="member-role"),
    path("settings/members/<int:pk>/remove", administration.member_remove, name="member-remove"),
    path("settings/members/<int:pk>/invitation", administration.member_invite, name="member-invite"),
    path("settings/audit", administration.audit_log, name="audit"),
    path("settings/audit/export.<slug:kind>", downloads.audit_log, name="audit-export"),
    path("settings/tokens", tokens.token_list, name="tokens"),
    path("settings/tokens/export.<slug:kind>", downloads.api_tokens, name="tokens-export"),
    path("settings/tokens/new", tokens.token_add, name="token-add"),
    path("settings/tokens/<int:pk>/revoke", tokens.token_revoke, name="token-revoke"),
    path("help/", guide.chapter, name="guide"),
    path("help/<slug:chapter>", guide.chapter, name="guide-chapter"),
    path("help/pictures/<str:language>/<slug:name>.webp", guide.picture, name="guide-picture"),
]
