"""Tables of a comparison of two systems."""

from isogloss.report.formatting import contrast_texts, interval_notes
from isogloss.report.score_tables import direction_notes
from isogloss.report.tables import Table
from isogloss.scoring.compare import Comparison, ScoreContrast


def comparison_tables(comparison: Comparison) -> list[Table]:
    """Overall and tasks first, then every cell; the verdict stands below the first table."""
    first, second = comparison.first, comparison.second
    header = ("", first, second, "Δ", "95 %", "p", "")
    tasks = Table(f"{first} against {second}: tasks", header)
    for contrast in comparison.tasks:
        _add(tasks, contrast)
    if comparison.overall is not None:
        _add(tasks, comparison.overall, strong=True)
    rule = f"; overall by rule {comparison.rule}" if comparison.overall else ""
    tasks.notes = [comparison.verdict(), f"p: Holm-corrected within this pair of systems{rule}; ● p < 0.05"]
    tasks.notes += direction_notes(contrast.name for contrast in comparison.tasks)
    tasks.notes += interval_notes(tasks)
    if comparison.skipped:
        tasks.notes.append(f"only in some of the systems, left out: {' '.join(comparison.skipped)}")
    cells = Table(f"{first} against {second}: cells", header)
    for contrast in comparison.cells:
        _add(cells, contrast)
    tests = sorted({contrast.test for contrast in comparison.cells})
    cells.notes = [f"tests: {', '.join(tests)}", *interval_notes(cells)]
    return [tasks, cells]


def _add(table: Table, contrast: ScoreContrast, *, strong: bool = False) -> None:
    name = contrast.name if contrast.level != "overall" else "overall"
    table.add(name, *contrast_texts(contrast), "●" if contrast.significant else "", strong=strong)
