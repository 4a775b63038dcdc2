"""Marks and notes of scores that are estimated from a subset of the examples."""

from isogloss.figures import interval_text
from isogloss.scoring.results import Results

# Mark of an estimated figure.
ESTIMATED = "~"
ESTIMATED_NOTE = f"{ESTIMATED} estimated from a subset of the examples"


def answered_text(results: Results, task: str, n: int) -> str:
    """Return the number of examples of a task's average, and how many of them are answered if not all are."""
    cells = [cell for cell in results.cells if cell.task == task and results.in_average(cell)]
    if not any(cell.subset for cell in cells):
        return f"{n:,}"
    sizes = [max(number.n for number in cell.metrics.values()) for cell in cells]
    answered = sum(cell.subset.answered if cell.subset else size for cell, size in zip(cells, sizes, strict=True))
    every = sum(cell.subset.examples if cell.subset else size for cell, size in zip(cells, sizes, strict=True))
    return f"{answered:,} of {every:,}"


def subset_notes(results: Results) -> list[str]:
    """Return what the scores estimated from subsets rest on, one line per task."""
    notes = []
    for name in dict.fromkeys(cell.task for cell in results.cells if cell.subset):
        uses = {cell.language: cell.subset for cell in results.cells if cell.task == name and cell.subset}
        seeds = dict.fromkeys(str(use.seed) for use in uses.values())
        guides = dict.fromkeys(use.guide for use in uses.values() if use.guide)
        note = f"{ESTIMATED} {name}: estimated from a subset (seed {', '.join(seeds)}"
        note += f", guide {', '.join(guides)})" if guides else ")"
        if len(uses) == 1:
            [use] = uses.values()
            note += f", as precise as a plain subset of {use.equivalent:,} examples"
        intervals = [average.score.on_all for average in results.tasks if average.name == name]
        note += "".join(f"; the score on all examples: 95 % {interval_text(*ends)}" for ends in intervals if ends)
        notes.append(note)
    return notes
