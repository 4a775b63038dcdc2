"""Tables of a comparison of two systems."""

from isogloss.figures import score_text
from isogloss.scoring.comparison import Comparison, ScoreContrast
from isogloss.tables.formatting import contrast_texts, interval_notes, left_out_notes
from isogloss.tables.score_tables import direction_notes
from isogloss.tables.table import Table
from isogloss.tasks.registry import task


def comparison_tables(comparison: Comparison) -> list[Table]:
    """Return overall and tasks first, then every cell; the verdict is below the first table."""
    first, second = comparison.first, comparison.second
    header = ("", first, second, "Δ", "95 %", "p", "")
    tasks = Table(f"{first} against {second}: tasks", header)
    for contrast in comparison.tasks:
        _add(tasks, contrast)
    if comparison.overall is not None:
        _add(tasks, comparison.overall, strong=True)
    rule = f"; overall by rule {comparison.rule}" if comparison.overall else ""
    tasks.notes = [comparison.verdict(), *_population_notes(comparison)]
    tasks.notes.append(f"{_together(len(comparison.tasks), 'task')}{rule}; ● p < 0.05")
    if any(contrast.partial for contrast in comparison.tasks):
        tasks.notes.append("* partial: over the languages or tasks that both systems have")
    tasks.notes += direction_notes(contrast.name for contrast in comparison.tasks)
    tasks.notes += interval_notes(tasks)
    if comparison.skipped:
        tasks.notes.append(f"left out, since some systems lack them: {' '.join(comparison.skipped)}")
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
    """Return the number of tests that p-values and intervals jointly cover, in words."""
    if number == 1:
        return f"p and interval cover one {what}"
    return f"p (Holm) and intervals (Bonferroni, slightly wider) hold jointly for all {number} {what}s"


def _population_notes(comparison: Comparison) -> list[str]:
    """Return the population of p-values and intervals, and the minimum detectable difference."""
    first, second = comparison.seeds
    if comparison.of_methods:
        top = comparison.overall or comparison.tasks[0]
        split = f", {top.seed_share:.0%} of the variance is due to seeds" if top.seed_share is not None else ""
        notes = [f"applies to the methods: {first} and {second} seeds{split}"]
    else:
        notes = ["applies to these checkpoints only; other seeds may reverse it"]
    words = dict.fromkeys(f"{task(name).cluster or 'source'}s" for name in comparison.clustered)
    if words:
        notes.append(f"covers new {' and '.join(words)}, not only those of the test set")
    averages = [*comparison.tasks, *([] if comparison.overall is None else [comparison.overall])]
    smallest = [
        f"{'overall' if row.level == 'overall' else row.name} {score_text(row.detectable)}"
        for row in averages
        if row.detectable is not None
    ]
    detectable = [f"minimum detectable difference (80 % power): {', '.join(smallest)} points"] if smallest else []
    return ["; ".join(notes), *detectable]
