"""Tables of a comparison of two systems."""

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
    if comparison.skipped:
        tasks.notes.append(f"only in some of the systems, left out: {' '.join(comparison.skipped)}")
    cells = Table(f"{first} against {second}: cells", header)
    for contrast in comparison.cells:
        _add(cells, contrast)
    tests = sorted({contrast.test for contrast in comparison.cells})
    cells.notes.append(f"tests: {', '.join(tests)}")
    return [tasks, cells]


def _add(table: Table, contrast: ScoreContrast, *, strong: bool = False) -> None:
    name = contrast.name if contrast.level != "overall" else "overall"
    p = f"{contrast.p:.3f}" if contrast.p >= 0.001 else "<0.001"
    table.add(
        name,
        f"{contrast.first:.1f}",
        f"{contrast.second:.1f}",
        f"{contrast.difference:+.1f}",
        f"{contrast.low:+.1f} to {contrast.high:+.1f}",
        p,
        "●" if contrast.significant else "",
        strong=strong,
    )
