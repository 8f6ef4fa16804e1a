"""API tokens of a workspace: the list, a new one, an end for one."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from core.errors import DomainError
from core.pagination import paginate
from core.posting import posted
from workspaces import tokens
from workspaces.decorators import permission_required
from workspaces.http import MemberRequest
from workspaces.permissions import Perm
from workspaces.token_forms import TokenForm, permission_label


@require_safe
@permission_required(Perm.WORKSPACE_MANAGE)
def token_list(request: MemberRequest) -> HttpResponse:
    return _list_page(request)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@permission_required(Perm.WORKSPACE_MANAGE)
def token_add(request: MemberRequest) -> HttpResponse:
    """Make a token. The answer shows its secret, and nothing keeps it."""
    form = TokenForm(posted(request), membership=request.membership)
    if form.is_bound and form.is_valid():
        try:
            issued = tokens.issue(
                request.membership,
                name=form.cleaned_data["name"],
                permissions=form.cleaned_data["permissions"],
                expires_at=form.expires_at(),
            )
        except DomainError as exc:
            form.add_error(None, str(exc))
        else:
            return _list_page(request, secret=issued.secret)
    return render(request, "workspaces/token_new.html", {"form": form}, status=422 if form.is_bound else 200)


@require_POST
@permission_required(Perm.WORKSPACE_MANAGE)
def token_revoke(request: MemberRequest, pk: int) -> HttpResponse:
    if tokens.revoke(tokens.token_for(request.workspace, pk), user=request.user):
        messages.success(request, _("The token is revoked; whatever used it is refused from now on."))
    return redirect("workspaces:tokens")


def _list_page(request: MemberRequest, *, secret: str = "") -> HttpResponse:
    page = paginate(request, tokens.tokens_of(request.workspace))
    rows = [
        {
            "token": token,
            "state": tokens.state_of(token),
            "permissions": [permission_label(p) for p in token.permissions],
        }
        for token in page
    ]
    return render(request, "workspaces/tokens.html", {"page": page, "rows": rows, "secret": secret})
