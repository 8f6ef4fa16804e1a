"""API tokens: what they open, what ends them, and that nothing gives them away."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.cache import cache
from django.test import Client

from campaigns.enrollment import batches
from core.errors import Invalid, Refused
from core.logging import mask
from core.tenancy import workspace_scope
from tests.api.conftest import caller, secret_of
from tests.campaigns import builders
from tests.clocks import MovableClock
from tests.factories import make
from tests.people import client_of
from workspaces import actions, tokens
from workspaces.models import ApiToken, AuditRecord, Membership, Role, User, Workspace
from workspaces.permissions import Perm
from workspaces.token_forms import PERMISSION_LABELS

CATALOG = "/catalog"


def status(secret: str, path: str = CATALOG) -> int:
    return caller(secret)("GET", path).status_code


def test_a_token_opens_what_it_was_given(marketer: User) -> None:
    secret = secret_of(marketer, Perm.WORKFLOWS_VIEW)

    assert status(secret) == 200
    assert status(secret, "/targets/1/timeline") == 403


def test_only_the_digest_is_kept(marketer: User) -> None:
    secret = secret_of(marketer)
    row = ApiToken.objects.values().get()

    assert secret not in repr(row)
    assert secret.startswith(row["prefix"])
    assert len(secret) - len(tokens.MARK) >= 43


@pytest.mark.parametrize(
    "wrong", ["peyk_" + "a" * 43, "", "x", "peyk_\ud800", "peyk_" + "ی" * 43, "p" * 5000]
)
def test_a_wrong_token_is_401(wrong: str, workspace: Workspace) -> None:
    headers = {"Authorization": f"Bearer {wrong}".encode("utf-8", "surrogatepass").decode("latin-1")}
    answer = Client().get("/automation/catalog", headers=headers)

    assert answer.status_code == 401
    assert answer.json()["code"] in ("token_invalid", "not_signed_in")
    assert answer["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize("change", [str.lower, str.upper, lambda text: text[:-1]])
def test_a_token_is_exact(change, marketer: User) -> None:
    assert status(change(secret_of(marketer))) == 401


def test_a_token_in_the_address_counts_for_nothing(marketer: User) -> None:
    secret = secret_of(marketer)

    assert Client().get(f"/automation/catalog?token={secret}&access_token={secret}").status_code == 401


def test_a_token_ends_with_its_date(clock: MovableClock, marketer: User) -> None:
    secret = secret_of(marketer, expires_at=clock.now() + timedelta(days=30))
    before = status(secret)
    clock.advance(days=31)

    assert (before, status(secret)) == (200, 401)


def test_a_revoked_token_is_refused(marketer: User, owner: User) -> None:
    secret = secret_of(marketer)
    token = ApiToken.objects.get()

    assert tokens.revoke(token, user=owner)
    assert status(secret) == 401
    assert not tokens.revoke(token, user=owner)


def test_a_token_dies_with_the_membership_and_stays_dead(
    marketer: User, owner: User, workspace: Workspace
) -> None:
    secret = secret_of(marketer)
    boss = Membership.objects.get(user=owner)
    actions.remove_member(Membership.objects.get(user=marketer), by=boss)
    gone = status(secret)
    actions.add_member(workspace, email=marketer.email, full_name="", role=Role.MARKETER, by=boss)

    assert (gone, status(secret)) == (401, 401)


def test_a_token_dies_with_the_account_of_its_maker(marketer: User) -> None:
    secret = secret_of(marketer)
    marketer.is_active = False
    marketer.save()

    assert status(secret) == 401


def test_a_maker_who_may_do_less_makes_the_token_do_less(marketer: User, owner: User) -> None:
    secret = secret_of(marketer)
    actions.change_role(
        Membership.objects.get(user=marketer), role=Role.SELLER, by=Membership.objects.get(user=owner)
    )

    assert status(secret) == 403


def test_a_token_sees_only_the_people_it_may_see(marketer: User, workspace: Workspace) -> None:
    from targets.models import Target

    own, other = make(Target, workspace, owner=marketer), make(Target, workspace)
    secret = secret_of(marketer, Perm.CAMPAIGNS_VIEW, Perm.TARGETS_VIEW_OWN)
    blind = secret_of(marketer, Perm.CAMPAIGNS_VIEW)

    assert status(secret, f"/targets/{own.pk}/timeline") == 200
    assert status(secret, f"/targets/{other.pk}/timeline") == 404
    assert status(blind, f"/targets/{own.pk}/timeline") == 404


def test_a_token_counts_in_its_own_workspace_only(
    owner: User, workspace: Workspace, other_workspace: Workspace
) -> None:
    from campaigns.models import Campaign

    with workspace_scope(other_workspace.pk):
        theirs = make(Campaign, other_workspace)
        Membership.objects.create(workspace=other_workspace, user=owner, role=Role.OWNER)
    secret = secret_of(owner)

    assert caller(secret)("POST", f"/campaigns/{theirs.pk}/activate").status_code == 404


def test_a_token_ignores_the_session_beside_it(marketer: User) -> None:
    browser = client_of(marketer)
    answer = browser.get("/automation/catalog", headers={"Authorization": "Bearer peyk_wrong"})

    assert answer.status_code == 401


def test_a_session_needs_the_csrf_token_and_a_bearer_does_not(marketer: User, workspace: Workspace) -> None:
    browser = client_of(marketer, enforce_csrf_checks=True)
    refused = browser.post("/automation/sms/preview", {"text": "Hi"}, content_type="application/json")

    assert (refused.status_code, refused.json()["code"]) == (403, "csrf_failed")
    assert caller(secret_of(marketer))("POST", "/sms/preview", {"text": "Hi"}).status_code == 200


def test_somebody_without_anything_is_told_to_sign_in(workspace: Workspace) -> None:
    answer = Client(enforce_csrf_checks=True).post(
        "/automation/sms/preview", {}, content_type="application/json"
    )

    assert (answer.status_code, answer.json()["code"]) == (401, "not_signed_in")


def test_a_fast_caller_is_slowed_down(
    clock: MovableClock, marketer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "PER_MINUTE", 3)
    secret = secret_of(marketer)
    answers = [caller(secret)("GET", CATALOG) for _ in range(4)]
    clock.advance(seconds=60)

    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert 0 < int(answers[-1]["Retry-After"]) <= 60
    assert answers[-1].json()["code"] == "too_many_requests"
    assert status(secret) == 200


def test_guessing_is_slowed_down_and_the_owner_is_not(marketer: User) -> None:
    cache.clear()
    guesses = [status("peyk_guess") for _ in range(22)]

    assert guesses[:20] == [401] * 20
    assert guesses[20:] == [429, 429]
    assert status(secret_of(marketer)) == 200


def test_the_last_use_is_kept_coarsely(clock: MovableClock, marketer: User) -> None:
    secret = secret_of(marketer)
    seen = []
    for minutes in (0, 5, 10):
        clock.advance(minutes=minutes)
        status(secret)
        seen.append(ApiToken.objects.get().last_used_at)

    assert seen[0] == seen[1] < seen[2]


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"permissions": [Perm.WORKSPACE_MANAGE]}, "permission_not_yours"),
        ({"permissions": [Perm.SUPPORT]}, "permission_not_yours"),
        ({"permissions": ["everything"]}, "permission_not_yours"),
        ({"permissions": []}, "permissions_missing"),
        ({"name": " \u200f "}, "name_missing"),
        ({"expires_at": "past"}, "expiry_past"),
    ],
)
def test_what_cannot_be_given(values, code, clock: MovableClock, owner: User) -> None:
    asked = {"name": "Reports", "permissions": [Perm.CAMPAIGNS_VIEW], "expires_at": None, **values}
    if asked["expires_at"]:
        asked["expires_at"] = clock.now()

    with pytest.raises(Invalid) as refused:
        tokens.issue(Membership.objects.get(user=owner), **asked)

    assert refused.value.code == code
    assert not ApiToken.objects.exists()


def test_a_workspace_has_a_bounded_number_of_living_tokens(
    owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "MAX_LIVE", 1)
    secret_of(owner)

    with pytest.raises(Refused):
        secret_of(owner)


def test_making_and_revoking_are_audited_without_the_secret(owner: User) -> None:
    secret = secret_of(owner)
    tokens.revoke(ApiToken.objects.get(), user=owner)
    rows = AuditRecord.objects.filter(event__startswith="api_token").order_by("pk")

    assert [row.event for row in rows] == ["api_token.created", "api_token.revoked"]
    assert secret not in repr(list(rows.values()))


def test_a_log_line_never_holds_a_token(marketer: User) -> None:
    secret = secret_of(marketer)

    assert secret not in mask(f"GET /automation/catalog {secret} failed")


def test_every_permission_a_token_can_have_has_words() -> None:
    assert set(tokens.GRANTABLE) <= set(PERMISSION_LABELS)


# The pages


def test_the_page_shows_the_secret_once(owner: User) -> None:
    browser = client_of(owner, language="en")
    data = {"name": "Shop <b>", "lifetime": "30", "permissions": [Perm.CAMPAIGNS_VIEW]}
    made = browser.post("/settings/tokens/new", data).content.decode()
    token = ApiToken.objects.get()
    secret = made.partition('value="peyk_')[2].partition('"')[0]

    assert status("peyk_" + secret) == 403  # alive, and not for the catalogue
    assert secret not in browser.get("/settings/tokens").content.decode()
    assert "Shop &lt;b&gt;" in made
    assert token.expires_at is not None


def test_a_token_is_revoked_from_the_page(owner: User) -> None:
    secret = secret_of(owner)
    browser = client_of(owner, language="en")
    browser.post(f"/settings/tokens/{ApiToken.objects.get().pk}/revoke")

    assert status(secret) == 401
    assert "Revoked" in browser.get("/settings/tokens").content.decode()


def test_a_form_without_permissions_comes_back(owner: User) -> None:
    answer = client_of(owner, language="en").post("/settings/tokens/new", {"name": "Shop", "lifetime": "30"})

    assert answer.status_code == 422
    assert "Choose at least one permission." in answer.content.decode()


def test_the_list_costs_the_same_for_many_tokens(owner: User, workspace: Workspace) -> None:
    from tests.campaigns.reading import statements

    browser = client_of(owner)
    secret_of(owner)
    few = statements(browser, "/settings/tokens")
    for _ in range(5):
        make(ApiToken, workspace)

    assert statements(browser, "/settings/tokens") == few


def test_a_token_that_sees_nobody_cannot_use_its_makers_selection(
    marketer: User, clock: MovableClock
) -> None:
    campaign = builders.running()
    batch = batches.create(campaign, builders.people(2), user=marketer)
    blind = caller(secret_of(marketer, Perm.CAMPAIGNS_MANAGE))
    seeing = caller(secret_of(marketer, Perm.CAMPAIGNS_MANAGE, Perm.TARGETS_VIEW))
    path = f"/enrollments/{batch.pk}"

    assert [blind(*ask).status_code for ask in (("GET", path), ("POST", f"{path}/commit"))] == [404, 404]
    assert builders.statuses(campaign) == {}
    assert seeing("POST", f"{path}/commit").status_code == 200
