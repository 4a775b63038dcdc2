"""Data sets without any spread, and the package's results for them."""

import coverage_package as package
import numpy as np

from isogloss.metrics.statistics import MEAN, Statistics
from isogloss.scoring.cells import Cell
from isogloss.scoring.contrast import SystemContrast


def _cells(values: list[float], languages: int, task: str = "tatoeba", metric: str = "accuracy") -> list[Cell]:
    rows = {metric: Statistics(np.array(values)[:, None], MEAN)}
    return [package.cell(task, language, rows, None) for language in ("de", "es", "fi")[:languages]]


def _ends(number: package.Interval) -> str:
    return (
        "no interval"
        if number.low is None or number.high is None
        else f"{100 * number.low:.1f} to {100 * number.high:.1f}"
    )


def _said(contrast: SystemContrast) -> str:
    return f"{contrast.difference:+.1f} ({_ends(package.interval(contrast))}), p = {contrast.p:.3g}"


def extremes() -> list[dict[str, str]]:
    """Return rows of text: the input, and the results for a cell, the average and a bucket."""
    rows = []
    for n in (1, 5, 20, 50):
        first, second = _cells([1.0] * n, 2), _cells([0.0] * n, 2)
        compared = package.compared(first, second)
        rows.append(
            {
                "given": f"2 languages × {n}: all right against all wrong",
                "cell": _said(compared.cells[0]),
                "average": _said(compared.tasks[0]),
                "score of the cell": _ends(package.interval(package.scored_cell(first[0]).metrics["accuracy"])),
            }
        )
    equal = package.compared(_cells([1.0] * 50, 2), _cells([1.0] * 50, 2))
    half = package.compared(_cells([0.5] * 50, 2, "mewslix", "map@20"), _cells([0.4] * 50, 2, "mewslix", "map@20"))
    for given, compared in (
        ("2 languages × 50: both all right", equal),
        ("2 languages × 50: AP 0.5 against 0.4", half),
    ):
        rows.append(
            {
                "given": given,
                "cell": _said(compared.cells[0]),
                "average": _said(compared.tasks[0]),
                "score of the cell": "",
            }
        )
    for n in (4, 40):
        systems = [{"accuracy": Statistics(np.full((n, 1), value), MEAN)} for value in (1.0, 0.0)]
        table = package.cell_table("xnli", systems, None)
        bucket = package.contrasted_buckets(table, np.arange(n, dtype=float)[None])[0]
        given = f"a bucket of {n // 4}: all right against all wrong"
        rows.append({"given": given, "cell": _said(bucket), "average": "", "score of the cell": ""})
    return rows
