"""The builder of a draft in the browser: by keyboard alone, by dragging, both ways and on a phone."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.utils import translation
from playwright.sync_api import Locator, Page, expect

from automation import publishing
from automation.builder import drafts, outline
from automation.builder.claiming import Base
from automation.builder.outline import Outline
from automation.models import Workflow, WorkflowVersion
from core.tenancy import workspace_scope
from tests import people
from tests.browser.accessibility import assert_accessible, violations
from tests.browser.conftest import Watch
from tests.factories import make_target
from workspaces.models import User, Workspace

pytestmark = pytest.mark.django_db(transaction=True)
Show = Callable[[str], None]


@pytest.fixture
def home() -> Workspace:
    return people.make_workspace("bazaar", name="بازار")


@pytest.fixture
def owner(home: Workspace) -> User:
    return people.make_member(home, "owner", email="owner@bazaar.example")


def make_workflow(home: Workspace, owner: User, template: str | None, *, kind: str = "list") -> Workflow:
    with workspace_scope(home.pk), translation.override("en"):
        workflow = publishing.create_workflow(name="آشنایی", template_key=template, user=owner)
        Workflow.objects.filter(pk=workflow.pk).update(kind=kind)
    return workflow


def lists_of(home: Workspace, workflow: Workflow) -> Outline:
    with workspace_scope(home.pk):
        draft = WorkflowVersion.objects.get(workflow=workflow, status="draft")
        return outline.read(publishing.load_definition(draft))


def names(home: Workspace, workflow: Workflow, source: str = "", port: str = "default") -> list[str]:
    """The names of the steps behind an exit of the step called `source` ("": the root)."""
    lists = lists_of(home, workflow)
    key = lists.start.key
    if source:
        key = next(one.key for nodes in lists.lists.values() for one in nodes if one.name == source)
    return [one.name for one in lists.lists[key, port]]


def keys_of(home: Workspace, workflow: Workflow) -> list[str]:
    lists = lists_of(home, workflow)
    return [node.key for node in lists.lists[lists.root]]


def card(page: Page, title: str) -> Locator:
    return page.locator(".step-card", has=page.get_by_role("link", name=title, exact=True))


def calm(page: Page) -> None:
    page.wait_for_load_state("networkidle")


def look(page: Page, shot: Show, name: str) -> None:
    """No finding of axe, nothing wider than the screen, and a picture."""
    calm(page)
    assert_accessible(page)
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(wide) <= 0, f"{name} scrolls sideways"
    shot(name)


def open_builder(page: Page, workflow: Workflow) -> None:
    page.goto(f"/automation/workflows/{workflow.pk}/builder")
    calm(page)


class Keys:
    """Somebody who has no mouse: Tab, arrows, Enter, Space and letters."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def go_to(self, target: Locator, *, key: str = "Tab", most: int = 400) -> None:
        """Press Tab until `target` has the focus."""
        expect(target).to_be_attached()
        for _press in range(most):
            if target.evaluate("(node) => node === document.activeElement"):
                return
            self.page.keyboard.press(key)
        raise AssertionError(f"the keyboard does not reach {target}")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def add(self, at: str, kind: str) -> None:
        """Open the sheet of kinds at the button called `at`, choose `kind`, wait for the focus."""
        page = self.page
        self.go_to(page.get_by_role("button", name=at, exact=True))
        self.press("Enter")
        choice = page.locator(f"#kinds .kind[value='insert:{kind}']")
        expect(page.locator("#kinds")).to_be_visible()
        self.go_to(choice)
        self.press("Enter")
        expect(page.locator("#said")).to_contain_text("Added")
        expect(page.locator("#kinds")).to_be_hidden()
        page.evaluate("document.getElementById('said').textContent = ''")

    def open_focused(self) -> None:
        """Open the step that the focus is on, in the sheet over the list."""
        expect(self.page.locator(":focus")).to_have_attribute("id", re.compile("^title-"))
        self.press("Enter")
        expect(self.page.locator("#step-sheet-title")).to_be_focused()

    def write(self, label: str, text: str) -> None:
        self.go_to(self.page.get_by_label(label, exact=True))
        self.press("Control+A")
        self.page.keyboard.insert_text(text)

    def save(self) -> None:
        """Close the sheet: the list shows what was saved, and the step it was opened at has the focus."""
        self.go_to(self.page.get_by_role("button", name="Save and close"))
        self.press("Enter")
        expect(self.page.locator("#step-sheet")).to_be_hidden()
        calm(self.page)
        expect(self.page.locator(":focus")).to_have_attribute("id", re.compile("^title-"))


@pytest.mark.parametrize("language", ["en"], indirect=True)
def test_a_ten_step_workflow_with_branches_is_built_by_keyboard_alone(
    page, home, owner, sign_in, shot, language
):
    workflow = make_workflow(home, owner, None)
    sign_in(owner)
    open_builder(page, workflow)
    keys = Keys(page)
    keys.add("Add a step after: Start", "send_sms")
    keys.open_focused()
    keys.write("Text of the message", "سلام {first_name|دوست} گرامی")
    keys.write("Name of the step (optional)", "Hello")
    keys.save()
    keys.add("Add a step after: Hello", "wait")
    keys.open_focused()
    keys.write("How long", "2")
    keys.save()
    keys.add("Add a step after: Wait", "condition")
    keys.open_focused()
    keys.go_to(page.get_by_label("What is asked about"))
    page.keyboard.type("City")
    expect(page.get_by_label("Comparison")).to_contain_text("contains")
    calm(page)
    keys.write("Value; several with a comma between them", "تهران")
    keys.go_to(page.get_by_role("button", name="Add a question"))
    keys.press("Enter")
    expect(page.get_by_label("What is asked about")).to_have_count(2)
    look(page, shot, "builder-condition")
    keys.go_to(page.get_by_role("button", name="Remove question 2"))
    keys.press("Enter")
    expect(page.get_by_label("What is asked about")).to_have_count(1)
    keys.save()
    assert names(home, workflow) == ["Hello", "Wait", "Condition"]
    assert names(home, workflow, "Condition", "yes") == ["End"]

    keys.add("Add a step: Condition, yes", "send_sms")
    keys.open_focused()
    keys.write("Text of the message", "خبر برای تهران")
    keys.write("Name of the step (optional)", "Tehran")
    keys.save()
    keys.add("Add a step: Condition, no", "wait_until")
    keys.open_focused()
    keys.write("Until", "1406/01/15 10:00")
    keys.save()
    keys.add("Add a step after: Wait until a date", "send_sms")
    keys.open_focused()
    keys.write("Text of the message", "خبر برای دیگران")
    keys.write("Name of the step (optional)", "Others")
    keys.save()
    keys.add("Add a step after: Others", "end")
    keys.add("Add a step after: Tehran", "wait")
    assert names(home, workflow, "Condition", "yes") == ["Tehran", "Wait", "End"]
    assert names(home, workflow, "Condition", "no") == ["Wait until a date", "Others", "End"]

    keys.go_to(card(page, "Tehran").locator(".step-handle"), key="Shift+Tab")
    keys.press("ArrowDown", "ArrowDown", "ArrowUp")
    expect(page.locator("#said")).to_have_text("“Tehran” stands after “Wait”.")
    expect(card(page, "Tehran").locator(".step-handle")).to_be_focused()
    calm(page)
    keys.press("Control+z")
    expect(page.locator("#said")).to_have_text("Undone: a step moved")
    look(page, shot, "builder-ten-steps")
    assert lists_of(home, workflow).size() == 10
    with workspace_scope(home.pk):
        assert publishing.publish(workflow, user=owner).status == "published"


@pytest.mark.parametrize("language", ["en"], indirect=True)
def test_dragging_moves_a_step_into_a_branch(page, home, owner, sign_in, shot, language):
    workflow = make_workflow(home, owner, "welcome_and_reminder")
    sign_in(owner)
    open_builder(page, workflow)
    card(page, "Reminder").evaluate("(node) => node.scrollIntoView({block: 'end'})")
    handle = card(page, "Wait").locator(".step-handle")
    target = card(page, "Reminder")
    start, end = handle.bounding_box(), target.bounding_box()
    assert start is not None
    assert end is not None
    page.mouse.move(start["x"] + 5, start["y"] + 5)
    page.mouse.down()
    carried = page.locator(".branch .sortable-ghost")
    for turn in range(200):  # the hand stays on the card until the list has followed it
        page.mouse.move(end["x"] + 40, end["y"] + end["height"] * (0.6 + turn % 3 / 10), steps=6)
        if carried.count():
            break
    page.mouse.up()

    expect(page.locator("#said")).to_contain_text("Wait")
    assert names(home, workflow) == ["Welcome", "Already interested?"]
    branches = [names(home, workflow, "Already interested?", port) for port in ("yes", "no")]
    assert "Wait" in [*branches[0], *branches[1]]
    look(page, shot, "builder-dragged")


EVERYTHING = ("wait_until_time", "send_sms", "wait_for_event", "goal", "switch")


def add_everything(home: Workspace, owner: User, workflow: Workflow, language: str) -> None:
    """A journey with every kind of fork, most of it unfinished."""
    with workspace_scope(home.pk), translation.override(language):
        workflow.refresh_from_db()

        def put(kind: str, source: str, port: str = "default", index: int = 0) -> str:
            draft = WorkflowVersion.objects.get(workflow=workflow, status="draft")
            place = f"{source}.{port}.{index}"
            node = drafts.insert_step(workflow, base=Base.of(draft), place=place, kind=kind, user=owner)
            return node.key

        start = lists_of(home, workflow).start.key
        made = {kind: put(kind, start) for kind in reversed(EVERYTHING)}
        put("split", made["switch"], "case_1", 0)
        put("end_stop", made["switch"])
        put("send_sms", made["wait_for_event"], "timeout")


@pytest.mark.parametrize("screen", ["desktop", "phone"], indirect=True)
@pytest.mark.parametrize("language", ["fa", "en"], indirect=True)
def test_every_page_of_the_builder_reads_well(page, home, owner, sign_in, shot, language, screen):
    workflow = make_workflow(home, owner, None, kind="journey")
    add_everything(home, owner, workflow, language)
    make_target(home, name="سارا کریمی", first_name="سارا", mobile="09121112233")
    sign_in(owner)
    open_builder(page, workflow)
    look(page, shot, "builder-list")
    page.locator(".insert").first.click()
    expect(page.locator("#kinds")).to_be_visible()
    assert_accessible(page)
    shot("builder-kinds")
    page.keyboard.press("Escape")
    page.locator(".glyph-more").first.click()
    expect(page.locator("#step-menu [data-places]").first).to_be_visible()
    # An open menu lies over buttons; how large they are is asked before it opens.
    assert violations(page, without=["target-size"]) == []
    shot("builder-menu")
    page.locator("#step-menu [data-places]").first.click()
    expect(page.locator("#place-choice")).to_be_visible()
    assert_accessible(page)
    shot("builder-places")
    lists = lists_of(home, workflow)
    for node in (one for nodes in lists.lists.values() for one in nodes):
        page.goto(f"/automation/workflows/{workflow.pk}/builder/steps/{node.key}")
        look(page, shot, f"builder-step-{node.type}-{node.subtype}")
    for name in ("settings", "read-in", "trial", "canvas"):
        page.goto(f"/automation/workflows/{workflow.pk}/builder/{name}")
        look(page, shot, f"builder-{name}")


@pytest.mark.parametrize("screen", ["narrow"], indirect=True)
def test_nothing_scrolls_sideways_at_320_pixels(page, home, owner, sign_in, shot, screen):
    workflow = make_workflow(home, owner, None, kind="journey")
    add_everything(home, owner, workflow, "fa")
    sign_in(owner)
    open_builder(page, workflow)
    look(page, shot, "builder-list")
    lists = lists_of(home, workflow)
    for node in (one for nodes in lists.lists.values() for one in nodes):
        page.goto(f"/automation/workflows/{workflow.pk}/builder/steps/{node.key}")
        look(page, shot, f"builder-step-{node.type}-{node.subtype}")


@pytest.mark.parametrize("screen", ["desktop", "phone"], indirect=True)
def test_a_trial_shows_the_way_of_the_chosen_person(page, home, owner, sign_in, shot, screen):
    workflow = make_workflow(home, owner, "three_step_introduction")
    make_target(home, name="علی رضایی", first_name="علی", mobile="09129998877")
    make_target(home, name="سارا کریمی", first_name="سارا", mobile="09121112233")
    sign_in(owner)
    page.goto(f"/automation/workflows/{workflow.pk}/builder/trial")
    expect(page.locator("#trial-title")).to_have_text("سارا کریمی")
    page.locator(".person-picker summary").click()
    page.locator("#person-search").fill("علی")
    page.get_by_label("علی رضایی").check()
    expect(page.locator("#trial-title")).to_have_text("علی رضایی")
    expect(page.locator("#trial")).to_contain_text("علی گرامی")
    look(page, shot, "builder-trial-chosen")


@pytest.mark.parametrize("language", ["fa", "en"], indirect=True)
def test_the_chart_shows_the_list_and_is_used_like_it(page, home, owner, sign_in, shot, language):
    workflow = make_workflow(home, owner, "welcome_and_reminder")
    sign_in(owner)
    page.goto(f"/automation/workflows/{workflow.pk}/builder/canvas")
    nodes, shown = page.locator(".node"), page.locator("[data-zoom-shown]")
    expect(nodes).to_have_count(7)
    yes, no = (page.locator(".flow-label").nth(index).bounding_box() for index in (0, 1))
    assert yes is not None
    assert no is not None
    assert (yes["x"] > no["x"]) == (language == "fa")  # branches follow the direction of reading
    before = shown.inner_text()
    page.locator(".flow-box").focus()
    page.keyboard.press("+")
    expect(shown).not_to_have_text(before)
    look(page, shot, "builder-canvas-zoomed")
    nodes.first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    opened = page.locator(":focus")
    key = opened.get_attribute("data-key")
    page.keyboard.press("Enter")
    expect(page.locator("#step-form")).to_have_attribute("action", re.compile(f"/steps/{key}$"))
    page.locator("#id_amount").fill("9")
    page.keyboard.press("Escape")
    expect(page.locator(f"#node-{key}")).to_be_focused()
    expect(page.locator(f"#node-{key}")).to_contain_text("۹" if language == "fa" else "9")
    page.locator(".flow-add").first.click()
    page.locator("#kinds .kind[value='insert:wait']").click()
    expect(nodes).to_have_count(8)


def test_two_editors_do_not_overwrite_each_other(page, home, owner, sign_in, shot, watch: Watch):
    workflow = make_workflow(home, owner, "welcome_and_reminder")
    watch.allow("409")
    sign_in(owner)
    open_builder(page, workflow)
    other = page.context.new_page()
    other.goto(f"/automation/workflows/{workflow.pk}/builder")
    card(other, "انتظار").locator(".step-handle").press("ArrowUp")
    expect(other.locator("#said")).not_to_be_empty()
    other.close()
    card(page, "Welcome").locator(".step-handle").press("ArrowDown")

    expect(page.locator(".toast-warn")).to_be_visible()
    assert names(home, workflow) == ["Wait", "Welcome", "Already interested?"]
    expect(page.locator(".step-title").nth(1)).to_contain_text("انتظار")
    card(page, "Welcome").locator(".step-handle").press("ArrowUp")
    expect(page.locator("#said")).not_to_be_empty()
    assert names(home, workflow) == ["Welcome", "Wait", "Already interested?"]
    shot("builder-conflict")


def test_what_is_typed_is_saved_without_a_button(page, home, owner, sign_in, shot, watch: Watch):
    workflow = make_workflow(home, owner, "three_step_introduction")
    sign_in(owner)
    open_builder(page, workflow)
    card(page, "Introduction").get_by_role("link").first.click()
    box = page.locator("#id_body")
    box.fill("سلام {city} عزیز")
    expect(page.locator(".saved-note")).to_be_visible()
    box.press_sequentially("، خوبید؟", delay=20)
    calm(page)
    page.locator("#id_title").fill("عنوان")
    page.keyboard.press("Escape")
    expect(page.locator("#step-sheet")).to_be_hidden()
    expect(card(page, "Introduction")).to_contain_text("خوبید؟")

    stored = lists_of(home, workflow)
    first = stored.lists[stored.root][0].config
    assert (first["body"], first["title"]) == ("سلام {city} عزیز، خوبید؟", "عنوان")
    page.locator("#undo").click()
    expect(page.locator("#said")).not_to_be_empty()
    assert lists_of(home, workflow).lists[stored.root][0].config["body"].startswith("{target.first_name")


def test_what_cannot_be_stored_keeps_the_sheet_open(page, home, owner, sign_in, watch: Watch):
    workflow = make_workflow(home, owner, "welcome_and_reminder")
    watch.allow("422")
    sign_in(owner)
    open_builder(page, workflow)
    card(page, "انتظار").get_by_role("link").first.click()
    page.locator("#id_amount").fill("سه")
    page.keyboard.press("Escape")
    expect(page.locator("#step-status .field-error")).to_be_visible()
    expect(page.locator("#id_amount")).to_have_attribute("aria-invalid", "true")
    page.locator("#id_amount").fill("۴")
    page.keyboard.press("Escape")
    expect(page.locator("#step-sheet")).to_be_hidden()
    expect(card(page, "انتظار")).to_contain_text("۴ روز")
    page.goto(f"/automation/workflows/{workflow.pk}/builder/steps/{keys_of(home, workflow)[0]}")
    page.locator("#id_body").fill("بدون برگه")
    page.get_by_role("button", name="ذخیره و بازگشت").click()
    page.wait_for_url(re.compile("/builder#step-"))
    expect(card(page, "Welcome")).to_contain_text("بدون برگه")
