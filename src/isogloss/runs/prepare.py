"""Preparing a grid: write system.toml, reject another configuration, remove outdated cells, clean up."""

import shutil
import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from isogloss.data.files import atomic_write, remove_file
from isogloss.errors import IsoglossError, PredictionError
from isogloss.predictions.folder import CELL_RECORDS, PredictionFolder
from isogloss.predictions.run_folders import system_folder
from isogloss.runs.cells import remove_cell
from isogloss.runs.fit import FitJob, NotAvailableError
from isogloss.runs.locks import acquire, holder, remove_stale, wait_for_lock
from isogloss.runs.plan import FIT_LOCK, CellKey, Plan
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
    """Prepare the folders of the seeds while the run's lock is held; `force` discards all cells.

    Cells of another configuration, finished or being filled, are an error.
    """
    _refuse_mixed_runs(plan)
    # Files that killed processes left; those of cells are removed under the cell's lock.
    remove_stale(plan.root)
    seeds = plan.seed_folders
    for folder in (plan.root, *seeds, *(seed / CELL_RECORDS for seed in seeds)):
        for leftover in folder.glob(".*.part"):
            remove_file(leftover)
    for fit in [fit for seed in seeds for fit in _outdated_fits(plan, seed, configuration, system)]:
        _remove_fit(fit)
    damaged: dict[CellKey, str] = {}
    for group in plan.groups:
        if force:
            _remove_fit(plan.fit_folder(group))
        current = _current_files(FitJob.of(plan, group), system, plan.request.split)
        for cell in group.cells:
            if not plan.record_path(cell).exists():
                continue
            record = read_record(plan.record_path(cell))
            problem = "" if force else damage(plan, cell, record)
            if force or problem or record is None or not _is_current(plan, record, current):
                with wait_for_lock(plan.lock_path(cell), on_waiting, f"another process is filling {cell}"):
                    remove_cell(plan, cell)
                damaged |= {cell: problem} if problem else {}
    warn_of_damage(damaged, "filled again")
    for seed, folder in enumerate(seeds):
        with atomic_write(folder / "system.toml") as stream:
            stream.write(to_toml({**configuration, "regime": plan.regime.name, "seed": seed}))


def _refuse_mixed_runs(plan: Plan) -> None:
    """Raise an error if runs with and without named prompts would share a folder: their scores have no common mean."""
    folder = system_folder(plan.root)
    others = sorted(folder.glob("prompt-*" if folder == plan.root else "seed-*"))
    if others:
        kind = "with named prompts" if folder == plan.root else "without named prompts"
        fix = "Choose another --out or remove them; stored responses are not paid for again"
        raise IsoglossError(
            f"has runs {kind}: {', '.join(path.name for path in others[:3])}", where=str(folder), fix=fix
        )


def _remove_fit(folder: Path) -> None:
    """Remove a fit, in which no other process may be training."""
    if not folder.exists():
        return
    lock = acquire(folder / FIT_LOCK)
    if lock is None:
        what = f"another process is training there: {holder(folder / FIT_LOCK)}"
        raise IsoglossError(what, where=str(folder), fix="Wait until it has ended, or choose another --out")
    with lock:
        shutil.rmtree(folder, ignore_errors=True)


def _outdated_fits(plan: Plan, folder: Path, configuration: Mapping[str, Any], system: System) -> list[Path]:
    """Return the unfinished fits of a seed that another configuration began.

    Finished cells have their configuration in the record; for the others it is in system.toml. Finished or locked cells
    of another configuration are an error: they would be averaged as if they were one system's.
    """
    after, before = _as_toml(configuration), _previous_configuration(folder)
    if before == after:
        return []
    # A model that cannot be opened ends the run here instead of failing cell by cell.
    system.deciding_settings(after, TASKS[plan.request.tasks[0]])
    folders = [path.name for parent in (CELL_RECORDS, ".training") for path in (folder / parent).glob("*")]
    # Only tasks with files here need to be loaded; a fit's folder may have a language after the task.
    unused = [name for name in TASKS if not any(entry == name or entry.startswith(f"{name}-") for entry in folders)]
    outdated: list[Path] = []
    for name, task in TASKS.loadable(but=unused).items() if folders else ():
        records = map(read_record, sorted((folder / CELL_RECORDS / name).glob("*.json")))
        configurations = [record.provenance.config for record in records if record and record.status == "done"]
        done = [_as_toml(table) for at, table in enumerate(configurations) if table not in configurations[:at]]
        others = done or ([before] if before else [])
        now, *earlier = (_flat(system.deciding_settings(table, task)) for table in (after, *others))
        was = next((settings for settings in earlier if settings != now), now)
        differing = sorted(key for key in was.keys() | now.keys() if was.get(key) != now.get(key))
        changes = ", ".join(f"{key} was {was.get(key)!r}, is {now.get(key)!r}" for key in differing)
        if changes and done:
            fix = (
                "Choose another --out, name the system (#label=NAME, if it has that setting), use the previous "
                "settings and --config, or remove the folder"
            )
            raise IsoglossError(f"cells of another configuration: {changes}", where=str(folder), fix=fix)
        if changes:
            names = (name, *(f"{name}-{language}" for language in task.every_language))
            fits = [path for path in (folder / ".training" / fit for fit in names) if path.exists()]
            # Locks of dead processes have been removed.
            if any(lock for locked in (folder / CELL_RECORDS / name, *fits) for lock in locked.glob("*.lock")):
                what = f"another process is filling the folder with another configuration: {changes}"
                raise IsoglossError(what, where=str(folder), fix="Wait until it has ended, or choose another --out")
            outdated += fits
    return outdated


def _as_toml(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration as read back from system.toml: tuples become lists, paths strings."""
    return tomllib.loads(to_toml(configuration))


def _previous_configuration(folder: Path) -> dict[str, Any]:
    """Return the configuration in system.toml, empty if the file is missing or damaged."""
    try:
        table = PredictionFolder(folder).system
    except PredictionError:
        return {}
    # The seed is the last line: a truncated file has none.
    is_complete = "seed" in table
    return {key: value for key, value in table.items() if is_complete and key not in ("regime", "seed")}


def _flat(table: Mapping[str, Any]) -> dict[str, Any]:
    """Flatten a table: keys of inner tables become `table.key`."""
    inner = {key: _flat(value) for key, value in table.items() if isinstance(value, dict)}
    nested = {f"{key}.{name}": value for key, values in inner.items() for name, value in values.items()}
    return {key: value for key, value in table.items() if key not in inner} | nested


def _current_files(job: FitJob, system: System, split: str) -> Callable[[str], list[InputFiles | None] | str]:
    """Return a function for the input files of a language's cell, or the reason why it cannot be filled."""

    @cache  # the training set is read once
    def training() -> InputFiles | None:
        train = job.training(system)
        return None if train is None else InputFiles.of(train)

    def files(language: str) -> list[InputFiles | None] | str:
        try:
            trained_on = training()
            return [job.read(language, split).files, trained_on]
        except NotAvailableError as error:
            return str(error)

    return files


def _is_current(plan: Plan, record: CellRecord, current: Callable[[str], list[InputFiles | None] | str]) -> bool:
    """Return True if a cell is up to date: filled from the current data, or still impossible."""
    if record.status == "failed" or (record.status == "done" and record.provenance.subset != plan.subset):
        return False
    before = record.provenance.data, record.provenance.training
    # Regimes over all languages may find new files.
    untouched = not plan.regime.all_languages and all(files is None or files.untouched for files in before)
    if record.status == "done" and untouched:
        return True
    try:
        now = current(record.language)
    except IsoglossError:
        return False  # such as a damaged file, which filling the cell reports
    if record.status == "skipped":
        return now == record.reason
    if isinstance(now, str):
        return True  # a cell stays valid when its data are removed
    return [files and files.sha256 for files in now] == [files and files.sha256 for files in before]
