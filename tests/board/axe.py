"""axe-core, which finds barriers for people who do not see a page, or not its colours, or use no mouse."""

import os
from pathlib import Path
from typing import Any

import pytest

AXE = os.environ.get("ISOGLOSS_AXE", "")
needs_axe = pytest.mark.skipif(
    not AXE, reason="axe-core is not here: npm install axe-core, and ISOGLOSS_AXE=…/axe.min.js"
)
_RUN = """axe.run(document, { preload: false, resultTypes: ["violations"] }).then((made) =>
  made.violations.map(({ id, nodes }) =>
    `${id} × ${nodes.length}: ${nodes[0].html.slice(0, 150)} ${nodes[0].failureSummary}`))"""


def barriers(tab: Any) -> list[str]:
    """What axe finds on the page as it is; the page must have been opened with its policy bypassed."""
    if not tab.evaluate("'axe' in window"):
        tab.evaluate(Path(AXE).read_text(encoding="utf-8"))
    found: list[str] = tab.evaluate(_RUN)
    return found
