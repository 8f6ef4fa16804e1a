"""axe-core, run inside the page. It is vendored under tests/vendor (MPL-2.0) and never shipped."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

AXE = Path(__file__).resolve().parent.parent / "vendor" / "axe.min.js"
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# Kinds that axe cannot decide alone and that were looked at. Contrast over pseudo-elements and images is
# computed by tests/architecture/test_colours.py; the names of a calendar's days hold the whole date.
REVIEWED = {"color-contrast", "label-content-name-mismatch"}
_RUN = """async ([tags, without]) => {
  const only = { type: "tag", values: tags };
  const rules = Object.fromEntries(without.map((id) => [id, { enabled: false }]));
  const done = await axe.run(document, { runOnly: only, rules, resultTypes: ["violations", "incomplete"] });
  const where = (node) => `${node.target.join(" ")} ${node.failureSummary || ""}`;
  const brief = (found) =>
    found.map((rule) => ({
      id: rule.id, help: rule.help, nodes: rule.nodes.map(where),
      targets: rule.nodes.map((node) => node.target[0]),
    }));
  return { violations: brief(done.violations), incomplete: brief(done.incomplete) };
}"""

# Whether an element is too small where nothing that stays in place while people scroll lies over it.
_SMALL = """async (target) => {
  const element = document.querySelector(target);
  if (!element) return true;
  const before = [window.scrollX, window.scrollY];
  element.scrollIntoView({ block: "center", behavior: "instant" });
  const done = await axe.run(element, { runOnly: { type: "rule", values: ["target-size"] } });
  window.scrollTo({ left: before[0], top: before[1], behavior: "instant" });
  return done.violations.length > 0;
}"""


@cache
def _source() -> str:
    return AXE.read_text(encoding="utf-8")


def _lines(found: list[dict[str, Any]]) -> str:
    return "\n".join(f"{rule['id']}: {rule['help']}\n  " + "\n  ".join(rule["nodes"]) for rule in found)


def assert_accessible(page: Page) -> None:
    """No axe violation on the page as it stands, and nothing undecided of a kind nobody looked at.

    Evaluated through the browser's debugger, so the site's CSP stays as it is.
    """
    found = violations(page)
    assert not found, "\n".join(found)


def violations(page: Page, *, without: Sequence[str] = ()) -> list[str]:
    """What `assert_accessible` would fail on, one text a rule; rules named in `without` are not asked."""
    page.evaluate(_source())
    result = page.evaluate(_RUN, [TAGS, list(without)])
    undecided = [rule for rule in result["incomplete"] if rule["id"] not in REVIEWED]
    found = [rule for rule in [*result["violations"], *undecided] if not _only_under_a_bar(page, rule)]
    return [_lines([rule]) for rule in found]


def _only_under_a_bar(page: Page, rule: dict[str, Any]) -> bool:
    """A target half under the bar of a phone is as large as ever once it is scrolled out from there."""
    if rule["id"] != "target-size":
        return False
    return not any(page.evaluate(_SMALL, target) for target in rule["targets"])
