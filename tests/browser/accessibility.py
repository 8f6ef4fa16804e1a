"""axe-core, run inside the page. It is vendored under tests/vendor (MPL-2.0) and never shipped."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

AXE = Path(__file__).resolve().parent.parent / "vendor" / "axe.min.js"
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# Kinds that axe cannot decide alone and that were looked at. Contrast over pseudo-elements and images is
# computed by tests/architecture/test_colours.py; the names of a calendar's days hold the whole date.
REVIEWED = {"color-contrast", "label-content-name-mismatch"}
_RUN = """async ([tags]) => {
  const only = { type: "tag", values: tags };
  const done = await axe.run(document, { runOnly: only, resultTypes: ["violations", "incomplete"] });
  const where = (node) => `${node.target.join(" ")} ${node.failureSummary || ""}`;
  const brief = (found) =>
    found.map((rule) => ({ id: rule.id, help: rule.help, nodes: rule.nodes.map(where) }));
  return { violations: brief(done.violations), incomplete: brief(done.incomplete) };
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
    page.evaluate(_source())
    result = page.evaluate(_RUN, [TAGS])
    undecided = [rule for rule in result["incomplete"] if rule["id"] not in REVIEWED]
    assert not result["violations"], _lines(result["violations"])
    assert not undecided, _lines(undecided)
