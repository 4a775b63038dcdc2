"""The table of a validation."""

from isogloss.grouping import group_by
from isogloss.predictions.validate import ValidationReport
from isogloss.tables.table import Table


def validation_table(report: ValidationReport) -> Table:
    """Return one row per task and split: files, answers, errors, warnings."""
    table = Table("Predictions", ("task", "split", "files", "answers", "errors", "warnings"), words=2)
    for (name, split), cells in group_by(report.cells, lambda cell: (cell.task, cell.split)).items():
        errors = sum(not problem.warning for cell in cells for problem in cell.problems)
        warnings = sum(problem.warning for cell in cells for problem in cell.problems)
        answers = sum(cell.answers for cell in cells)
        table.add(name, split, str(len(cells)), f"{answers:,}", str(errors), str(warnings), strong=errors > 0)
    return table
