"""axe-core, which finds accessibility barriers."""

import os
from pathlib import Path
from typing import Any

import pytest

AXE = os.environ.get("ISOGLOSS_AXE", "")
needs_axe = pytest.mark.skipif(
    not AXE, reason="axe-core is missing: run npm install axe-core and set ISOGLOSS_AXE=…/axe.min.js"
)
_RUN = """axe.run(document, { preload: false, resultTypes: ["violations"] }).then((made) =>
  made.violations.map(({ id, nodes }) =>
    `${id} × ${nodes.length}: ${nodes[0].html.slice(0, 150)} ${nodes[0].failureSummary}`))"""


def barriers(tab: Any) -> list[str]:
    """Return the violations on a page, which must be open with its security policy bypassed."""
    if not tab.evaluate("'axe' in window"):
        tab.evaluate(Path(AXE).read_text(encoding="utf-8"))
    violations: list[str] = tab.evaluate(_RUN)
    return violations
