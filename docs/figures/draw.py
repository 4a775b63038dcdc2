"""Draw the figures of docs/analysis.md again, from published scores and, where they are given, runs on LAReQA.

python docs/figures/draw.py [runs/ngram/zero-shot/seed-0 runs/embedder-nano-48/zero-shot/seed-0]

And that of docs/selection.md, from the scores of checkpoints:

python docs/figures/draw.py STUDY/wikiann.csv
"""

import sys
from pathlib import Path
from typing import Any

import isogloss
from isogloss.report.charts import svg
from isogloss.report.finding_charts import finding_charts

ZERO_SHOT = ("published:mBERT, zero-shot", "published:XLM-R Large, zero-shot")
# After which updates English dev rises no more in the study of docs/selection.md.
FROM_STEP = 300
# The file, the chart that is taken of those that the analysis draws, and the call of the analysis.
FIGURES: tuple[tuple[str, str, tuple[str, ...], dict[str, Any]], ...] = (
    ("families", "families-languages", ("families", "published:XLM-R Large"), {"tasks": ["udpos"]}),
    ("resources", "resources-points", ("resources", *ZERO_SHOT), {"tasks": ["xnli", "tatoeba"]}),
    ("rankings", "rankings-ranks", ("rankings", "published:further"), {"tasks": ["xcopa"]}),
    ("saturation", "saturation-cells", ("saturation", *ZERO_SHOT), {}),
)


def draw(name: str, chart_name: str, call: tuple[str, ...], options: dict[str, Any]) -> None:
    """Write one chart of an analysis as SVG, beside this file."""
    [chart] = [chart for chart in finding_charts(isogloss.analyze(*call, **options)) if chart.name == chart_name]
    path = Path(__file__).with_name(f"{name}.svg")
    path.write_text(svg(chart) + "\n", encoding="utf-8")


def main(sources: list[str]) -> None:
    """Draw what can be drawn of these sources."""
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
