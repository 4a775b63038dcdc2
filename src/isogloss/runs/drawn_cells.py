"""Subsets of a grid's cells: the examples drawn for each, written beside its predictions."""

from isogloss.data.files import remove_file
from isogloss.errors import IsoglossError
from isogloss.predictions.draw import draw_examples
from isogloss.predictions.subset import CellSubset, Subset, SubsetFile, read_subset
from isogloss.runs.plan import CellKey, Plan
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.registry import task

# Seed of the draws: the same for all systems and seeds, so that their answers are compared on the same examples.
_SEED = 0


def draw_cell(plan: Plan, cell: CellKey, examples: Examples) -> CellSubset | None:
    """Draw the examples of a cell and write them beside its predictions; None to use all.

    A smaller subset is part of a larger one. Cells that are hardly larger than the subset, and tasks in which silence
    is an answer, are used whole.
    """
    path, target = plan.subset_path(cell), task(cell.task)
    if not plan.subset or len(examples) <= plan.subset or kind_of(target).silence_is_answer:
        remove_file(path)  # left by a run with a subset
        return None
    subset = draw_examples(target, examples, plan.subset, _SEED)
    split, languages = plan.request.split, {cell.language: subset}
    SubsetFile(task=target.id, split=split, size=plan.subset, seed=_SEED, guide="", languages=languages).write(path)
    return subset


def drawn_cells(plan: Plan, cell: CellKey | None = None) -> Subset | None:
    """Return the drawn examples of one cell, or of all seeds' cells; None without any."""
    if cell is not None:
        return read_subset(plan.subset_path(cell))
    found: dict[tuple[str, str, str], object] = {}
    for folder in plan.seed_folders:
        try:
            found |= read_subset(folder).cells
        except IsoglossError:  # this seed has none
            continue
    return Subset(found) if found else None  # type: ignore[arg-type]
