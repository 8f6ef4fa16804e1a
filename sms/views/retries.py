"""Support has one failed message sent again."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from sms import log_queries, retries
from sms.log_forms import RetryForm
from sms.views.logs import only_while_on
from workspaces.decorators import permission_required
from workspaces.http import MemberRequest
from workspaces.permissions import Perm


@require_POST
@permission_required(Perm.SUPPORT)
def retry(request: MemberRequest, pk: int) -> HttpResponse:
    """Write the new attempt and go to it; without a reason, or too late, say so and change nothing."""
    only_while_on(request)
    row = log_queries.message(pk)
    form = RetryForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Say why the message is sent again."))
        return redirect("sms:log", row.pk)
    try:
        new_pk = retries.ask(row.pk, reason=form.cleaned_data["reason"], user=request.user)
    except retries.CannotRetry as exc:
        messages.error(request, str(exc))
        return redirect("sms:log", row.pk)
    messages.success(request, _("The message is sent again. This page shows the new attempt."))
    return redirect("sms:log", new_pk)
