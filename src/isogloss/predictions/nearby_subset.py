"""Find the exported subset that incomplete answers belong to, in case it was not passed."""

from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from isogloss.errors import IsoglossError
from isogloss.predictions.folder import SUBSET_FILE
from isogloss.predictions.run_folders import system_folder
from isogloss.predictions.subset import read_subset
from isogloss.tasks.examples import Examples
from isogloss.tasks.task import Task


def nearby_subset(root: Path, task: Task, examples: Examples, answered: Collection[str]) -> Path | None:
    """Return the smallest subset that all answered examples are from, in or beside a prediction folder, or None."""
    drawn: dict[Path, list[str]] = {}
    for path in _subset_files(root.resolve(), task):
        with suppress(IsoglossError):  # an invalid subset file explains nothing
            cell = read_subset(path).find(task, examples.language, examples.split)
            drawn[path] = [] if cell is None else cell.subset.ids
    fitting = [path for path, ids in drawn.items() if answered and set(answered) <= set(ids)]
    return min(fitting, key=lambda path: len(drawn[path]), default=None)


def _subset_files(root: Path, task: Task) -> Iterator[Path]:
    """Yield the subset files in a prediction folder, then those beside it or beside its folder of runs."""
    yield from sorted((root / task.id).glob(f"*{SUBSET_FILE}"))
    beside = system_folder(root).parent
    yield from sorted(beside.glob(f"*/{task.id}/*{SUBSET_FILE}"))
    yield from sorted(beside.glob(f"*-{SUBSET_FILE}"))
