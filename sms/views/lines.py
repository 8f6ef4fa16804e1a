"""Hours and finality times of sender lines."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from sms import line_windows, queries
from sms.line_forms import LineRuleForm, hours_of
from sms.line_windows import EVERY_LINE
from workspaces.decorators import permission_required
from workspaces.http import MemberRequest
from workspaces.permissions import Perm


@require_http_methods(["GET", "HEAD", "POST"])
@permission_required(Perm.SETTINGS_MANAGE)
def line_rules(request: MemberRequest) -> HttpResponse:
    form = LineRuleForm(request.POST or None, lines=_lines(request))
    if form.is_bound and form.is_valid():
        changed = line_windows.keep_rule(
            request.workspace,
            line=form.cleaned_data["line"],
            operator=form.cleaned_data["operator"],
            window=form.window(request.workspace.timezone),
            finality_hours=form.cleaned_data["finality_hours"],
            user=request.user,
        )
        if changed:
            messages.success(request, _("The settings were saved."))
        return redirect("sms:line-rules")
    rows = [{"row": row, "hours": hours_of(row)} for row in line_windows.all_rules()]
    context = {"form": form, "rows": rows, "every_line": EVERY_LINE}
    return render(request, "sms/line_rules.html", context, status=422 if form.is_bound else 200)


@require_POST
@permission_required(Perm.SETTINGS_MANAGE)
def line_rule_delete(request: MemberRequest, pk: int) -> HttpResponse:
    line_windows.drop_rule(pk, user=request.user)
    messages.success(request, _("The rule was removed."))
    return redirect("sms:line-rules")


def _lines(request: MemberRequest) -> list[str]:
    """The lines of the active accounts, without repetitions."""
    accounts = queries.usable_accounts(request.workspace.pk)
    return list(dict.fromkeys(str(line) for account in accounts for line in account.lines))
