"""Tables of a comparison of two systems."""

from isogloss.report.formatting import contrast_texts, interval_notes
from isogloss.report.left_out import left_out_notes
from isogloss.report.score_tables import direction_notes
from isogloss.report.tables import Table
from isogloss.report.uncertainty_notes import comparison_notes
from isogloss.scoring.comparison import Comparison, ScoreContrast


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
    tasks.notes = [comparison.verdict(), *comparison_notes(comparison)]
    tasks.notes.append(f"{_together(len(comparison.tasks), 'task')}{rule}; ● p < 0.05")
    if any(contrast.partial for contrast in comparison.tasks):
        tasks.notes.append("* over a part of the languages or tasks: those that both systems have")
    tasks.notes += direction_notes(contrast.name for contrast in comparison.tasks)
    tasks.notes += interval_notes(tasks)
    if comparison.skipped:
        tasks.notes.append(f"only in some of the systems, left out: {' '.join(comparison.skipped)}")
    tasks.notes += left_out_notes(comparison.left_out)
    cells = Table(f"{first} against {second}: cells", header)
    for contrast in comparison.cells:
        _add(cells, contrast)
    tests = sorted({contrast.test for contrast in comparison.cells})
    cells.notes = [f"{_together(len(comparison.cells), 'cell')}; tests: {', '.join(tests)}", *interval_notes(cells)]
    return [tasks, cells]


def _add(table: Table, contrast: ScoreContrast, *, strong: bool = False) -> None:
    name = contrast.name if contrast.level != "overall" else "overall"
    table.add(
        name + "*" * contrast.partial, *contrast_texts(contrast), "●" if contrast.significant else "", strong=strong
    )


def _together(number: int, what: str) -> str:
    """For how many tests at once p-values and intervals hold."""
    if number == 1:
        return f"p and interval are of one {what}"
    return f"p (Holm) and intervals (Bonferroni, a little wider) hold for all {number} {what}s at once"
