"""Pages of tables: figures measured on real data (`benchmarks/measured`), and analyses of the published systems."""

import sys
from collections.abc import Iterator
from pathlib import Path

import isogloss
from isogloss.tables.findings import shown_rows
from markdown_table import table

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
MEASURED = BENCHMARKS / "measured"
_INTRO = """\
# Measured figures

Figures on real data and models, each with how to measure them again. Pages that use them link here. The
same tables are files in `benchmarks/measured`; figures on speed and coverage are in [benchmarks](../benchmarks.md).
"""
_FINDINGS = """\
# Analyses of the published systems

What [`isogloss analyze`](../analysis.md) says about the systems of the papers' tables, computed when this site
was built.
"""
_COSTS = """\
# Cost of a study: tables

Computed by `python benchmarks/capacity.py` from [measured rates](../benchmarks.md); see [what they
mean](../capacity.md).
A line of the first table is two epochs of training and all predictions: inputs × mean tokens ÷ measured tokens per
second, with 30 s assumed for the start. XQuAD, MLQA and Tatoeba share one model. Jobs are placed longest first, each on
one device.

"""
# Analysis, source, and the table shown.
_SHOWN = (
    ("transfer-gap", "published", "gaps"),
    ("families", "published:checklist", "contrasts"),
    ("families", "published:checklist-passable", "contrasts"),
    ("rankings", "published", "ranks"),
    ("spread", "published:keung", "spread"),
    ("saturation", "published", "tasks"),
)
_ROWS = 60


def _table(path: Path) -> Iterator[str]:
    """Yield title, remarks and rows of a file: lines with # and tab-separated lines."""
    lines = path.read_text(encoding="utf-8").splitlines()
    title, *remarks = [line.removeprefix("# ") for line in lines if line.startswith("# ")]
    yield f"### {title}"
    yield from remarks
    head, *rows = [line.split("\t") for line in lines if not line.startswith("# ")]
    yield table(head, rows)


def measured() -> str:
    """Return the page of measured figures, one section per folder."""
    parts = [_INTRO]
    for folder in sorted(path for path in MEASURED.iterdir() if path.is_dir()):
        parts.append(f"## {folder.name.replace('-', ' ').capitalize()}")
        for path in sorted(folder.glob("*.tsv")):
            parts += _table(path)
    return "\n\n".join(parts) + "\n"


def findings() -> str:
    """Return the page of analyses of the published systems."""
    parts = [_FINDINGS]
    for name, source, shown in _SHOWN:
        found = isogloss.analyze(name, source)
        parts += [f"## {found.title}", f"```bash\nisogloss analyze {name} {source}\n```", found.reading]
        parts.append(shown_rows(found.table(shown), _ROWS).markdown())
    return "\n\n".join(parts) + "\n"


def costs() -> str:
    """Return the page of costs of a study, as the program computes them."""
    sys.path.insert(0, str(BENCHMARKS))
    import capacity

    return _COSTS + "\n".join(capacity.tables()) + "\n"
