"""Texts and notes shared by several tables, and the table of a validation."""

from collections.abc import Iterable

from msgspec import structs

from isogloss.figures import NO_INTERVAL
from isogloss.grouping import group_by
from isogloss.predictions.problems import LeftOut
from isogloss.predictions.validate import ValidationReport
from isogloss.scoring.results import NO_INTERVAL as WHY_NO_INTERVAL
from isogloss.tables.table import Table

# Maximum number of notes on predictions that were left out.
SHOWN = 10


def validation_table(report: ValidationReport) -> Table:
    """Return one row per run (if there are several), task and split: files, answers, errors, warnings."""
    runs = any(cell.run for cell in report.cells)
    heads = (*(["run"] if runs else []), "task", "split")
    table = Table("Predictions", (*heads, "files", "answers", "errors", "warnings"), words=len(heads))
    for (run, name, split), cells in group_by(report.cells, lambda cell: (cell.run, cell.task, cell.split)).items():
        problems = [problem for cell in cells for problem in cell.problems]
        warnings = sum(problem.warning for problem in problems)
        counts = f"{sum(cell.answers for cell in cells):,}", str(len(problems) - warnings), str(warnings)
        labels = [*([run] if runs else []), name, split]
        table.add(*labels, str(len(cells)), *counts, strong=len(problems) > warnings)
    return table


def interval_notes(table: Table) -> list[str]:
    """Return a note on missing intervals if the table has any."""
    has_dash = any(NO_INTERVAL in row for row in table.rows)
    return [f"{NO_INTERVAL} {WHY_NO_INTERVAL}"] if has_dash else []


def shortened(value: object, width: int = 60) -> str:
    """Return any answer as one short line; the JSON record has the full text."""
    text = " ".join(map(str, value)) if isinstance(value, list | tuple) else "(none)" if value is None else str(value)
    return text if len(text) <= width else f"{text[: width - 1]}…"


def left_out_notes(left_out: Iterable[LeftOut]) -> list[str]:
    """Return why predictions are not scored: one line per task and reason; the rest is counted."""
    several = [*group_by(left_out, _reason_key).values()]
    notes = [str(_together(group)) for group in several[:SHOWN]]
    rest = sum(map(len, several[SHOWN:]))
    return [*notes, *([f"left out: {rest} more; use --json for all"] if rest else [])]


def _reason_key(item: LeftOut) -> tuple[str, ...]:
    return (item.task, item.split, item.cause or item.reason, item.fix) if item.task else (item.path, item.reason)


def _together(group: list[LeftOut]) -> LeftOut:
    if len(group) == 1:
        return group[0]
    codes, paths = ",".join(item.language for item in group), {item.path for item in group}
    path = paths.pop() if len(paths) == 1 else ""
    return structs.replace(group[0], language=codes, reason=group[0].cause or group[0].reason, path=path)
