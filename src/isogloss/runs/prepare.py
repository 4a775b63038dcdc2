"""Before a grid is filled: write system.toml, refuse another configuration, remove outdated cells, clean up."""

import shutil
import tomllib
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from isogloss.data.files import atomic_write, remove_file
from isogloss.errors import IsoglossError, PredictionError
from isogloss.predictions.folder import CELL_RECORDS, PredictionFolder
from isogloss.runs.cells import remove_cell
from isogloss.runs.fit import FitJob, NotAvailableError
from isogloss.runs.locks import acquire, holder, remove_stale, wait_for_lock
from isogloss.runs.plan import FIT_LOCK, CellKey, FitGroup, Plan
from isogloss.runs.records import CellRecord, InputFiles, damage, read_record, warn_of_damage
from isogloss.runs.toml import to_toml
from isogloss.systems.base import System
from isogloss.tasks.registry import TASKS


def prepare(
    plan: Plan,
    system: System,
    configuration: Mapping[str, Any],
    *,
    force: bool = False,
    on_waiting: Callable[[str], None] = lambda _: None,
) -> None:
    """Prepare the folders of the seeds; the caller holds the run's lock.

    Args:
        plan: the grid.
        system: what fills it.
        configuration: the system's.
        force: whether to forget all cells.
        on_waiting: told now and then what is being waited for.

    Raises:
        IsoglossError: there are cells of another configuration of the system, or a process is filling some.
    """
    _remove_leftovers(plan)
    fits = [fit for folder in plan.seed_folders for fit in _outdated_fits(folder, configuration, system)]
    for fit in fits:
        _remove_fit(fit)
    damaged: dict[CellKey, str] = {}
    for group in plan.groups:
        if force:
            _remove_fit(plan.fit_folder(group))
        outdated = _outdated_cells(plan, group, _CurrentFiles(plan, group, system), force=force)
        for cell in outdated:
            # Once it has no record, another process may fill it.
            with wait_for_lock(plan.lock_path(cell), on_waiting, f"another process fills {cell}"):
                remove_cell(plan, cell)
        damaged |= {cell: how for cell, how in outdated.items() if how}
    warn_of_damage(damaged, "done again")
    for seed, folder in enumerate(plan.seed_folders):
        with atomic_write(folder / "system.toml") as stream:
            stream.write(to_toml({**configuration, "regime": plan.regime.name, "seed": seed}))


def _outdated_cells(plan: Plan, group: FitGroup, current: "_CurrentFiles", *, force: bool) -> dict[CellKey, str]:
    """The cells of a group that are to be done again, and how each is damaged, "" where it is not."""
    outdated = {}
    for cell in group.cells:
        if not plan.record_path(cell).exists():
            continue
        record = read_record(plan.record_path(cell))
        how = "" if force else damage(plan, cell, record)
        if force or how or record is None or not _is_current(plan, record, current):
            outdated[cell] = how
    return outdated


def _remove_fit(folder: Path) -> None:
    """Remove what was learnt.

    Raises:
        IsoglossError: another process is learning there.
    """
    if not folder.exists():
        return
    lock = acquire(folder / FIT_LOCK)
    if lock is None:
        what = f"another process is learning there: {holder(folder / FIT_LOCK)}"
        raise IsoglossError(what, where=str(folder), fix="Wait until it has ended, or choose another --out")
    with lock:
        shutil.rmtree(folder, ignore_errors=True)


def _outdated_fits(folder: Path, configuration: Mapping[str, Any], system: System) -> list[Path]:
    """The fits of a seed that another configuration began, which nothing can come of any more.

    A task's done cells say in their records which configuration they are of; system.toml says it of what is not done.

    Raises:
        IsoglossError: the configuration before has filled cells of a task, or a process is filling some: cells of two
            configurations in one folder would be averaged as if they were one system's.
    """
    after, before = _as_toml(configuration), _described_before(folder)
    outdated: list[Path] = []
    for name, task in TASKS.loadable().items() if before != after else ():
        done = _configurations_done(folder / CELL_RECORDS / name)
        others = done or ([before] if before else [])
        now, *then = (system.deciding_settings(table, task) for table in (after, *others))
        changes = next((found for settings in then if (found := _changes(settings, now))), "")
        if changes and done:
            fix = (
                "Choose another --out, give it a name of its own (#label=NAME, where it has that setting), or the "
                "settings and --config of before; or remove the folder"
            )
            raise IsoglossError(f"its cells are of another configuration: {changes}", where=str(folder), fix=fix)
        if changes:
            names = (name, *(f"{name}-{language}" for language in task.every_language))
            fits = [path for path in (folder / ".training" / each for each in names) if path.exists()]
            # The locks of dead processes have been removed.
            if any(lock for locked in (folder / CELL_RECORDS / name, *fits) for lock in locked.glob("*.lock")):
                what = f"another process is filling it with another configuration: {changes}"
                raise IsoglossError(what, where=str(folder), fix="Wait until it has ended, or choose another --out")
            outdated += fits
    return outdated


def _as_toml(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration as it is read back from system.toml: tuples are lists, paths are texts."""
    return tomllib.loads(to_toml(configuration))


def _described_before(folder: Path) -> dict[str, Any]:
    """The configuration in system.toml; nothing where it is not there or damaged, for it is written anew."""
    try:
        found = PredictionFolder(folder).system
    except PredictionError:
        return {}
    # The seed is its last line: a file that was cut short has none.
    whole = "seed" in found
    return {key: value for key, value in found.items() if whole and key not in ("regime", "seed")}


def _configurations_done(cells: Path) -> list[dict[str, Any]]:
    """The configurations that done cells of a task are of, each once."""
    records = map(read_record, sorted(cells.glob("*.json")))
    found: list[dict[str, Any]] = []
    for record in records:
        if record is not None and record.status == "done" and record.provenance.config not in found:
            found.append(record.provenance.config)
    return list(map(_as_toml, found))


def _changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """The differences of two configurations in words, "" where there are none."""
    before, after = _flat(before), _flat(after)
    differing = sorted(key for key in before.keys() | after.keys() if before.get(key) != after.get(key))
    return ", ".join(f"{key} was {before.get(key)!r}, is {after.get(key)!r}" for key in differing)


def _flat(table: Mapping[str, Any]) -> dict[str, Any]:
    """A table with the keys of the tables in it, as `table.key`."""
    inner = {key: _flat(value) for key, value in table.items() if isinstance(value, dict)}
    nested = {f"{key}.{name}": value for key, values in inner.items() for name, value in values.items()}
    return {key: value for key, value in table.items() if key not in inner} | nested


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


def _is_current(plan: Plan, record: CellRecord, current: _CurrentFiles) -> bool:
    """Whether a cell need not be done again: done from the data of today, or still impossible."""
    if record.status == "failed":
        return False
    if record.status == "done" and _untouched(plan, record):
        return True
    try:
        now = current.of(record.language)
    except IsoglossError:
        return False  # a damaged file, say: filling the cell will say so
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
    seeds = plan.seed_folders
    for folder in (plan.root, *seeds, *(seed / CELL_RECORDS for seed in seeds)):
        for leftover in folder.glob(".*.part"):
            remove_file(leftover)
