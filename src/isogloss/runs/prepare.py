"""Before a grid is filled: write system.toml, refuse another configuration, remove outdated cells, clean up."""

import shutil
import tomllib
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from isogloss.data.files import atomic_write
from isogloss.errors import DataError, IsoglossError
from isogloss.predictions.folder import PredictionFolder
from isogloss.runs.fit import FitJob, NotAvailableError
from isogloss.runs.locks import remove_stale
from isogloss.runs.plan import CellKey, FitGroup, Plan
from isogloss.runs.records import CellRecord, InputFiles, read_record
from isogloss.runs.toml import to_toml
from isogloss.systems.base import System
from isogloss.tasks.registry import TASKS


def prepare(plan: Plan, system: System, metadata: Mapping[str, Any], *, force: bool = False) -> None:
    """Prepare the folders of the seeds; the caller holds the run's lock.

    Raises:
        IsoglossError: there are cells of another configuration of the system, or a process is filling some.
    """
    described = {key: value for key, value in metadata.items() if value is not None}
    wanted = [to_toml({**described, "regime": plan.regime.name, "seed": seed}) for seed in range(plan.seeds)]
    _remove_leftovers(plan)
    outdated = [
        fit
        for folder, text in zip(plan.seed_folders, wanted, strict=True)
        for fit in _outdated_fits(folder, text, system)
    ]
    for folder in outdated:
        shutil.rmtree(folder, ignore_errors=True)
    for group in plan.groups:
        if force:
            shutil.rmtree(plan.fit_folder(group), ignore_errors=True)
        current = _CurrentFiles(plan, group, system)
        for cell in group.cells:
            if plan.record_path(cell).exists() and (force or not _is_current(plan, cell, current)):
                for path in (plan.record_path(cell), plan.statistics_path(cell), plan.predictions_path(cell)):
                    path.unlink(missing_ok=True)
    for folder, text in zip(plan.seed_folders, wanted, strict=True):
        with atomic_write(folder / "system.toml") as stream:
            stream.write(text)


def _outdated_fits(folder: Path, wanted: str, system: System) -> list[Path]:
    """The fits of a seed that another configuration began, which nothing can come of any more.

    Raises:
        IsoglossError: see `_refuse_other_configuration`.
    """
    if not (folder / "system.toml").exists():
        return []
    before, after = PredictionFolder(folder).system, tomllib.loads(wanted)
    outdated: list[Path] = []
    for name, task in TASKS.loadable().items() if before != after else ():
        if changes := _changes(*(system.deciding_settings(table, task) for table in (before, after))):
            names = (name, *(f"{name}-{language}" for language in task.every_language))
            fits = [path for path in (folder / ".training" / each for each in names) if path.exists()]
            _refuse_other_configuration(folder, name, fits, changes)
            outdated += fits
    return outdated


def _changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """The differences of two configurations in words, "" where there are none."""
    differing = sorted(key for key in before.keys() | after.keys() if before.get(key) != after.get(key))
    return ", ".join(f"{key} was {before.get(key)!r}, is {after.get(key)!r}" for key in differing)


def _refuse_other_configuration(folder: Path, name: str, fits: list[Path], changes: str) -> None:
    """Cells of two configurations in one folder would be averaged as if they were one system's.

    Raises:
        IsoglossError: the one before has filled cells of a task, or a process is filling some.
    """
    cells = folder / ".cells" / name
    records = map(read_record, cells.glob("*.json"))
    if any(record is not None and record.status == "done" for record in records):
        fix = (
            "Choose another --out, give it a name of its own (#label=NAME), or the settings and --config of before; "
            "or remove the folder"
        )
        raise IsoglossError(f"its cells are of another configuration: {changes}", where=str(folder), fix=fix)
    # The locks of dead processes have been removed.
    if any(lock for locked in (cells, *fits) for lock in locked.glob("*.lock")):
        what = f"another process is filling it with another configuration: {changes}"
        raise IsoglossError(what, where=str(folder), fix="Wait until it has ended, or choose another --out")


class _CurrentFiles:
    """The files that the cells of a group would be made from now; what they share is read once."""

    def __init__(self, plan: Plan, group: FitGroup, system: System) -> None:
        self.job = FitJob.of(plan, group)
        self.system = system
        self.split = plan.request.split

    @cached_property
    def training(self) -> InputFiles | str | None:
        """What is learnt from, None where nothing is; or why it cannot be learnt."""
        try:
            train = self.job.training(self.system)
        except NotAvailableError as error:
            return str(error)
        return None if train is None else InputFiles.of(train)

    def of(self, language: str) -> list[InputFiles | None] | str:
        """The files of a cell (examples, training set), or why it cannot be filled here."""
        if isinstance(self.training, str):
            return self.training
        try:
            return [self.job.read(language, self.split).files, self.training]
        except NotAvailableError as error:
            return str(error)


def _is_current(plan: Plan, cell: CellKey, current: _CurrentFiles) -> bool:
    """Whether a cell need not be done again: done, with its answers and from the data of today, or still impossible."""
    record = read_record(plan.record_path(cell))
    if (
        record is None
        or record.status == "failed"
        or (record.status == "done" and not plan.predictions_path(cell).exists())
    ):
        return False
    if record.status == "done" and _untouched(plan, record):
        return True
    try:
        now = current.of(cell.language)
    except DataError:
        return False  # a damaged file: filling the cell will say so
    if record.status == "skipped":
        return now == record.reason
    if isinstance(now, str):
        return True  # data that are gone since make no cell wrong
    before = record.provenance.data, record.provenance.training
    return [files and files.sha256 for files in now] == [files and files.sha256 for files in before]


def _untouched(plan: Plan, record: CellRecord) -> bool:
    """Whether a cell's files are as they were; a regime that takes all languages there are may find new files."""
    before = record.provenance.data, record.provenance.training
    return not plan.regime.all_languages and all(files is None or files.untouched for files in before)


def _remove_leftovers(plan: Plan) -> None:
    """Remove what killed processes left; unfinished files of cells are removed with the cell's lock held."""
    remove_stale(plan.root)
    for folder in (plan.root, *plan.seed_folders):
        for leftover in folder.glob(".*.part"):
            leftover.unlink(missing_ok=True)
