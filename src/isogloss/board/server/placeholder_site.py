"""The least that a board can show: the systems on it, in a plain page, and their figures as JSON."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from isogloss.escaping import html_text
from isogloss.figures import score_text
from isogloss.scoring.results import Results

_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<h1>{title}</h1><p>Suite {suite}. <a href="submit.html">Submit</a></p>
<table><tr><th>System<th>Regime<th>Overall</tr>{rows}</table></html>
"""


def build_board(sources: Sequence[Results], out: Path, *, suite: str, title: str) -> Path:
    """Write the pages of a board into a new folder; the path of the first."""
    out.mkdir(parents=True)
    rows = "".join(
        f"<tr><td>{html_text(str(each.system['name']))}<td>{html_text(str(each.system['regime']))}<td>{_overall(each)}</tr>"
        for each in sources
    )
    page = _PAGE.format(title=html_text(title), suite=html_text(suite), rows=rows)
    (out / "index.html").write_text(page, encoding="utf-8")
    (out / "data.js").write_bytes(b"globalThis.isoglossBoardData = " + msgspec.json.encode(sources) + b";\n")
    return out / "index.html"


def _overall(results: Results) -> str:
    return score_text(None if results.overall.score is None else results.overall.score.value)
