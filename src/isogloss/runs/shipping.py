"""Run jobs on nodes without access to our folders: send input files with the jobs, and receive their output.

A parcel is a folder with its files' modification times. It goes to the cluster's object store once, and from there to
each node once, where the cache keeps it under the checksum of its content. A job works in a temporary folder; its
records name the files and folders of this machine, so they equal those of a local run.
"""

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import msgspec

from isogloss.data.files import atomic_write, remove_file
from isogloss.data.location import cache_dir
from isogloss.errors import IsoglossError
from isogloss.runs.cells import writing_cell
from isogloss.runs.jobs import CellsJob, JobEnd, execute_job, nothing_done
from isogloss.runs.locks import Lock, acquire
from isogloss.runs.plan import CellKey, FitGroup, Plan
from isogloss.systems.base import SystemName
from isogloss.tasks.language_search import files_of
from isogloss.tasks.pseudo_sets import is_pseudo, translations_folder
from isogloss.tasks.registry import task
from isogloss.tasks.task import Task
from isogloss.tasks.task_sources import TASKS_VARIABLE
from isogloss.translation.published import published_folders
from isogloss.workers import Resources

if TYPE_CHECKING:
    from isogloss.runs.ray_workers import RayWorkers

# Locations in the folder of a job.
DATA, RUNS = "data", "runs"
MODEL = "model"
TASKS = "tasks"


@dataclass(frozen=True)
class Parcel:
    """A shipped folder: checksum of its content, location in the folder of a job, and original path if it is needed."""

    key: str
    location: str
    origin: str = ""


class _PackedFile(msgspec.Struct, frozen=True, array_like=True):
    path: str
    changed: int
    content: bytes


def _files(folder: Path) -> list[Path]:
    """Return the files below a folder, except locks, following links."""
    paths = (Path(root, name) for root, _, names in os.walk(folder, followlinks=True) for name in names)
    return sorted(path for path in paths if path.is_file() and ".lock" not in path.name)


def pack(folder: Path) -> bytes:
    """Pack a folder into bytes."""
    return _packed((str(path.relative_to(folder)), path) for path in _files(folder))


def pack_task(declared: Task) -> bytes:
    """Pack a task file with the files in its folder."""
    return _packed([(f"{declared.id}.toml", Path(declared.declared_in)), *files_of(declared)])


def _packed(paths: Iterable[tuple[str, Path]]) -> bytes:
    return msgspec.msgpack.encode(
        [_PackedFile(name, path.stat().st_mtime_ns, path.read_bytes()) for name, path in paths]
    )


def unpack(packed: bytes, folder: Path) -> None:
    """Write the files of a packed folder with their modification times."""
    for file in msgspec.msgpack.decode(packed, type=list[_PackedFile]):
        path = _below(folder, file.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.content)
        os.utime(path, ns=(file.changed, file.changed))


def _below(folder: Path, name: str) -> Path:
    """Return the path of a file from another machine, which must stay inside the folder."""
    path = Path(os.path.normpath(folder / name))
    if not path.is_relative_to(os.path.normpath(folder)):
        raise IsoglossError(f"received file {name!r} is outside its folder", where=str(folder))
    return path


class Shipping:
    """Submits jobs to nodes without access to our folders; this process holds their locks and writes their cells."""

    def __init__(self, plan: Plan, workers: "RayWorkers", processes: int = 1) -> None:
        self.plan = plan
        self.workers = workers
        self.processes = processes
        self._shared: dict[Path, tuple[str, Any]] = {}
        self._locks: dict[str, Lock] = {}
        self._system = plan.build_system()

    def submit(self, job: CellsJob, name: str, resources: Resources, avoid: Collection[str]) -> Future[JobEnd]:
        """Submit a job with the files it reads, unless another process works on its group."""
        # Helping would repeat the whole group.
        lock = None if job.help_others else acquire(self.plan.group_lock_path(job.group))
        if lock is None:
            return nothing_done()
        self._locks[name] = lock
        fit_lock = self.plan.fit_lock_path(job.group)
        # No process may train there while its files are packed.
        held = acquire(fit_lock) if fit_lock.parent.exists() else nullcontext()
        if held is None:
            return nothing_done()
        with held:
            shared = {location: self._share(path) for location, path in self._folders(job.group).items()}
        parcels = [Parcel(key, location) for location, (key, _) in shared.items()]
        for declared in self._file_tasks(job.group):
            location = f"{TASKS}/{declared.id}"
            shared[location] = key, _ = self._share(Path(declared.declared_in), partial(pack_task, declared))
            parcels.append(Parcel(key, location, declared.folder))
        call = partial(execute_shipped, job, name, self.processes, parcels)
        return self.workers.submit(call, resources, avoid, [content for _, content in shared.values()])

    def release(self, *names: str) -> None:
        """Release the locks of jobs that have ended, by default all."""
        for name in names or list(self._locks):
            if lock := self._locks.pop(name, None):
                lock.release()

    def _folders(self, group: FitGroup) -> dict[str, Path]:
        """Return the folders that a job reads, by their location in the job's own folder."""
        plan, root, target = self.plan, self.plan.request.data, task(group.task)
        argument = SystemName.of(plan.system).argument
        folders: dict[str, Path] = {}
        if root is not None:
            tasks = [source for source in (target, self._system.learns_from(target)) if not source.made_by]
            layouts = [layout for source in tasks for layout in source.layouts]
            patterns = [pattern for layout in layouts for pattern in (layout.test, layout.dev, layout.train)]
            # The system's argument may name a model in the data folder.
            names = {pattern.partition("/")[0] for pattern in patterns if pattern} | {argument}
            folders = {name: root / name for name in names if name and (root / name).is_dir() and "/" not in name}
            if is_pseudo(plan.request.split):
                folders["translations"] = translations_folder(root)
            if plan.regime.translated or plan.regime.asks_translated:
                folders |= {name: root / name for name in published_folders(target)}
                folders["translations"] = translations_folder(root)
        folders = {f"{DATA}/{name}": path for name, path in folders.items()}
        fit = plan.fit_folder(group)
        folders[f"{RUNS}/{fit.relative_to(plan.root)}"] = fit  # another job may have begun it
        if argument and (model := Path(argument).expanduser()).is_dir():
            folders[MODEL] = model
        return {location: path for location, path in folders.items() if path.exists()}

    def _file_tasks(self, group: FitGroup) -> list[Task]:
        """Return the tasks of a job that files declare."""
        target = task(group.task)
        sources = {source.id: source for source in (target, self._system.learns_from(target))}
        return [source for source in sources.values() if source.declared_in]

    def _share(self, path: Path, packing: Callable[[], bytes] | None = None) -> tuple[str, Any]:
        """Return the checksum of a folder's content, and its bytes in the cluster's store."""
        if path in self._shared:
            return self._shared[path]
        content = pack(path) if packing is None else packing()
        parcel = sha256(content).hexdigest()[:32], self.workers.share(content)
        if self.plan.root not in path.parents:  # fits change
            self._shared[path] = parcel
        return parcel

    def receive(self, group: FitGroup, files: Mapping[str, bytes]) -> int:
        """Write the files of an ended job, each cell's record last; return the number of cells filled."""
        filled = sum(self._write_cell(cell, files) for cell in group.cells)
        # One training may have served the groups of other tasks too.
        for other in self.plan.groups:
            folder = self.plan.fit_folder(other)
            prefix = f"{folder.relative_to(self.plan.root)}/"
            fit_files = {name: content for name, content in files.items() if name.startswith(prefix)}
            lock = acquire(self.plan.fit_lock_path(other)) if fit_files else None
            if lock is not None:  # no other process is training there
                with lock:
                    for name, content in fit_files.items():
                        _write_file(_below(folder, name.removeprefix(prefix)), content)
        return filled

    def _write_cell(self, cell: CellKey, files: Mapping[str, bytes]) -> bool:
        paths = self.plan.cell_paths(cell)
        contents = [files.get(str(path.relative_to(self.plan.root))) for path in paths]
        lock = None if contents[-1] is None else acquire(self.plan.lock_path(cell))
        if lock is None:
            return False
        with lock:
            if not self.plan.missing([cell]):  # another process finished it before we got the lock
                return False
            with writing_cell(self.plan, cell, lock):
                for path, content in zip(paths, contents, strict=True):
                    _write_file(path, content)
        return True


def _write_file(path: Path, content: bytes | None) -> None:
    """Write a file, or remove it if there is no content: an old file must not pass for this cell's."""
    if content is None:
        remove_file(path)
        return
    with atomic_write(path) as stream:
        stream.buffer.write(content)


def execute_shipped(
    job: CellsJob, name: str, processes: int, parcels: Sequence[Parcel], *fetches: Callable[[], bytes]
) -> JobEnd:
    """Execute a job of another machine in a temporary folder, with the parcels that the functions fetch.

    The cells are filled once the submitting machine has written the files of the outcome.
    """
    with TemporaryDirectory(prefix="isogloss-job-") as named:
        folder = Path(named).resolve()
        (folder / DATA).mkdir()
        model: Path | None = None
        task_folders: dict[str, str] = {}
        try:
            for parcel, fetch in zip(parcels, fetches, strict=True):
                if parcel.location.startswith(RUNS):
                    unpack(fetch(), folder / parcel.location)
                elif parcel.location == MODEL:
                    model = _unpacked(parcel, fetch, Path(SystemName.of(job.plan.system).argument).name)
                elif parcel.location.startswith(TASKS):
                    task_folders[_linked_task(_unpacked(parcel, fetch, "files"), folder / DATA)] = parcel.origin
                else:
                    (folder / parcel.location).symlink_to(_unpacked(parcel, fetch, "files"), target_is_directory=True)
        except OSError as error:
            return JobEnd.of_error(error)
        os.environ["ISOGLOSS_DATA"] = str(folder / DATA)
        if task_folders:
            os.environ[TASKS_VARIABLE] = os.pathsep.join(task_folders)
        home, argument = job.plan, SystemName.of(job.plan.system).argument
        local = replace(
            home,
            system=home.system if model is None else home.system.replace(argument, str(model), 1),
            root=folder / RUNS,
            request=replace(home.request, data=None if home.request.data is None else folder / DATA),
        )
        end = execute_job(replace(job, plan=local), name, processes)
        if end.error is not None:
            return end
        renamed = {str(local.root): str(home.root), str(local.request.data): str(home.request.data), **task_folders}
        if model is not None:
            renamed[str(model)] = argument
        # The files name the folders of the submitting machine.
        files = {str(path.relative_to(local.root)): path.read_bytes() for path in _files(local.root)}
        for path in (path for path in files if path.endswith(".json")):
            for here, there in renamed.items():
                files[path] = files[path].replace(here.encode(), there.encode())
        return replace(end, filled=0, files=files)


def _linked_task(folder: Path, data: Path) -> str:
    """Link the files of a task into the data folder, where it looks after its own folder; return that folder."""
    for entry in folder.iterdir():
        if not (data / entry.name).exists():
            (data / entry.name).symlink_to(entry)
    return str(folder.resolve())


def _unpacked(parcel: Parcel, fetch: Callable[[], bytes], name: str) -> Path:
    """Return the folder of a parcel in this node's cache, unpacking it the first time."""
    cached = cache_dir() / "shipped" / parcel.key
    if not cached.exists():
        cached.parent.mkdir(parents=True, exist_ok=True)
        # Removed unless renamed: another process may be quicker, or the disk full.
        with TemporaryDirectory(dir=cached.parent, ignore_cleanup_errors=True) as fresh:
            unpack(fetch(), Path(fresh, "parcel", name))
            try:
                Path(fresh, "parcel").rename(cached)
            except OSError:
                if not cached.exists():
                    raise
    return cached / name
