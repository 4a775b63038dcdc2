"""Draw the figures of docs/analysis.md from published scores and, if given, runs on LAReQA.

python docs/figures/draw.py [runs/ngram/zero-shot/seed-0 runs/embedder-nano-48/zero-shot/seed-0]

With the scores of checkpoints, draw the figure of docs/selection.md:

python docs/figures/draw.py STUDY/wikiann.csv
"""

import re
import sys
from pathlib import Path
from typing import Any

import isogloss
from isogloss.tables.findings import finding_charts
from isogloss.tables.vega import svg

ZERO_SHOT = ("published:mBERT, zero-shot", "published:XLM-R Large, zero-shot")
# Update from which English dev no longer rises in the study of docs/selection.md.
FROM_STEP = 300
MARGIN = 24
# File name, name of the analysis's chart, and the call of the analysis.
FIGURES: tuple[tuple[str, str, tuple[str, ...], dict[str, Any]], ...] = (
    ("families", "families-languages", ("families", "published:XLM-R Large"), {"tasks": ["udpos"]}),
    ("resources", "resources-points", ("resources", *ZERO_SHOT), {"tasks": ["xnli", "tatoeba"]}),
    ("rankings", "rankings-ranks", ("rankings", "published:further"), {"tasks": ["xcopa"]}),
    ("saturation", "saturation-cells", ("saturation", *ZERO_SHOT), {}),
)


def draw(name: str, chart_name: str, call: tuple[str, ...], options: dict[str, Any]) -> None:
    """Write one chart of an analysis as SVG, next to this file."""
    [chart] = [chart for chart in finding_charts(isogloss.analyze(*call, **options)) if chart.name == chart_name]
    path = Path(__file__).with_name(f"{name}.svg")
    path.write_text(widened(svg(chart)) + "\n", encoding="utf-8")


def widened(drawing: str) -> str:
    """Return a drawing with a margin on the left: a browser's font may be wider than the one that measured labels."""
    width, height = re.findall(r'viewBox="0 0 (\d+) (\d+)"', drawing)[0]
    wide = f'width="{int(width) + MARGIN}" height="{height}" viewBox="{-MARGIN} 0 {int(width) + MARGIN} {height}"'
    drawing = drawing.replace(f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"', wide, 1)
    return drawing.replace(f'<rect width="{width}"', f'<rect x="{-MARGIN}" width="{int(width) + MARGIN}"', 1)


def main(sources: list[str]) -> None:
    """Draw the figures that these sources allow."""
    if any(source.endswith(".csv") for source in sources):
        call = ("checkpoint-selection", *sources)
        draw("selection", "checkpoint-selection-agreement", call, {"task": "wikiann", "from_step": FROM_STEP})
        return
    for figure in FIGURES:
        draw(*figure)
    if sources:
        draw("language-pairs", "language-pairs-matrix-lareqa", ("language-pairs", *sources), {"tasks": ["lareqa"]})


if __name__ == "__main__":
    main(sys.argv[1:])
