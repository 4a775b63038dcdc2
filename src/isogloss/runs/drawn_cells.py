"""Subsets of a grid's cells: the examples drawn for each, written beside its predictions."""

from isogloss.data.files import remove_file
from isogloss.errors import IsoglossError
from isogloss.predictions.draw import draw_examples
from isogloss.predictions.subset import CellSubset, DrawnCell, Subset, SubsetFile, read_subset
from isogloss.runs.plan import CellKey, Plan
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.registry import task
from isogloss.tasks.task import Task

# Seed of the draws: the same for all systems and seeds, so that their answers are compared on the same examples.
_SEED = 0


def drawn_examples(plan: Plan, target: Task, examples: Examples) -> CellSubset | None:
    """Draw examples of a cell; None to use all.

    A smaller subset is part of a larger one. Cells that are not larger than the subset are used whole, and so are tasks
    in which silence is an answer.
    """
    if not plan.subset or len(examples) <= plan.subset or kind_of(target).silence_is_answer:
        return None
    return draw_examples(target, examples, plan.subset, _SEED)


def draw_cell(plan: Plan, cell: CellKey, examples: Examples) -> CellSubset | None:
    """Draw examples of a cell and write which they are beside its predictions; None to use all."""
    path, target = plan.subset_path(cell), task(cell.task)
    subset = drawn_examples(plan, target, examples)
    if subset is None:
        remove_file(path)  # left by a run with a subset
        return None
    split, languages = plan.request.split, {cell.language: subset}
    SubsetFile(task=target.id, split=split, size=plan.subset, seed=_SEED, guide="", languages=languages).write(path)
    return subset


def drawn_cells(plan: Plan, cell: CellKey | None = None) -> Subset | None:
    """Return the drawn examples of one cell, or of all seeds' cells; None without any."""
    if cell is not None:
        return read_subset(plan.subset_path(cell))
    cells: dict[tuple[str, str, str], DrawnCell] = {}
    for folder in plan.seed_folders:
        try:
            cells |= read_subset(folder).cells
        except IsoglossError:  # this seed has none
            continue
    return Subset(cells) if cells else None
