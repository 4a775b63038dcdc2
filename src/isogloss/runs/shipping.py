"""Jobs on nodes that see none of our folders: what they read travels with them, and what they write comes back.

A parcel is a folder with its files' times of change. It goes to the cluster's object store once, and from there to each
node once, where it is kept in the cache under the checksum of its content. A job works in a folder of its own; its
records name the files and folders of the one who asked, so they are those of a run at home.
"""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol, TypeVar

import msgspec

from isogloss.data.files import atomic_write, remove_file
from isogloss.data.location import cache_dir
from isogloss.errors import IsoglossError
from isogloss.runs.cells import writing_cell
from isogloss.runs.cluster_engine import ClusterEngine, JobEnd, SubmittedJob, execute_job, nothing_done
from isogloss.runs.engine import CellsJob
from isogloss.runs.locks import Lock, acquire
from isogloss.runs.place import Place
from isogloss.runs.plan import CellKey, FitGroup, Plan
from isogloss.systems.base import System, SystemName
from isogloss.tasks.registry import task
from isogloss.translation.published_files import published_folders
from isogloss.translation.translated_files import translations_folder
from isogloss.workers import ONE_CORE, Resources, Workers

T = TypeVar("T")

# Where the parts of a job lie in its folder.
DATA, RUNS = "data", "runs"
MODEL = "model"


class SharingWorkers(Workers, Protocol):
    """Workers that can hold bytes for many calls."""

    def share(self, content: bytes) -> Any:
        """Bytes that calls get when they are submitted with what this returns as one of their `shared`."""

    def submit(
        self,
        call: Callable[..., T],
        resources: Resources = ONE_CORE,
        avoid: Collection[str] = (),
        shared: Sequence[Any] = (),
    ) -> "Future[T]":
        """Have a call executed; it is given functions that return what was shared, in that order."""


@dataclass(frozen=True)
class Parcel:
    """A folder, or a file, that travels: the checksum of its content, and where it belongs in the folder of a job."""

    key: str
    place: str


class _PackedFile(msgspec.Struct, frozen=True, array_like=True):
    path: str
    changed: int
    content: bytes


def pack(folder: Path) -> bytes:
    """A folder as bytes; links in it are followed."""
    found = sorted(Path(root, name) for root, _, names in os.walk(folder, followlinks=True) for name in names)
    kept = [path for path in found if path.is_file() and ".lock" not in path.name]
    files = [_PackedFile(str(path.relative_to(folder)), path.stat().st_mtime_ns, path.read_bytes()) for path in kept]
    return msgspec.msgpack.encode(files)


def unpack(packed: bytes, folder: Path) -> None:
    """Write the files of a packed folder, changed when they were."""
    for file in msgspec.msgpack.decode(packed, type=list[_PackedFile]):
        path = _below(folder, file.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.content)
        os.utime(path, ns=(file.changed, file.changed))


def _below(folder: Path, name: str) -> Path:
    """The path of a file that came from another machine; it has no business outside of the folder."""
    path = Path(os.path.normpath(folder / name))
    if not path.is_relative_to(os.path.normpath(folder)):
        raise IsoglossError(f"a file that came back is called {name!r}, outside of its folder", where=str(folder))
    return path


class ShippingEngine(ClusterEngine):
    """Executes jobs on nodes with no folder of ours; this process holds their locks and writes their cells."""

    workers: SharingWorkers

    def __init__(self, plan: Plan, place: Place, workers: SharingWorkers) -> None:
        super().__init__(plan, place, workers)
        self._shared: dict[Path, tuple[str, Any]] = {}
        self._locks: dict[str, Lock] = {}
        self._system = plan.build_system()

    def __exit__(self, *error: Any) -> None:
        try:
            super().__exit__(*error)
        finally:
            for name in list(self._locks):
                self._locks.pop(name).release()

    def _send(self, submitted: SubmittedJob) -> "Future[JobEnd]":
        """Send a job with what it reads; one that another process is at, or helps with, would do all of it again."""
        job = submitted.job
        lock = None if job.help_others else acquire(self.plan.group_lock_path(job.group))
        if lock is None:
            return nothing_done()
        self._locks[submitted.name] = lock
        fit_lock = self.plan.fit_lock_path(job.group)
        with ExitStack() as locks:
            if fit_lock.parent.exists():  # nobody may learn there while its files are packed
                held = acquire(fit_lock)
                if held is None:
                    return nothing_done()
                locks.enter_context(held)
            shared = {place: self._share(path) for place, path in self._places(job.group).items()}
        parcels = [Parcel(key, place) for place, (key, _) in shared.items()]
        call = partial(execute_shipped, job, submitted.name, self.processes, parcels)
        return self.workers.submit(
            call, self.resources, self._faulty_nodes, [content for _, content in shared.values()]
        )

    def _places(self, group: FitGroup) -> dict[str, Path]:
        """The folders that a job reads, by where they belong in its own."""
        wanted = {f"{DATA}/{name}": path for name, path in _data_folders(self.plan, group, self._system).items()}
        fit = self.plan.fit_folder(group)
        wanted[f"{RUNS}/{fit.relative_to(self.plan.root)}"] = fit  # which another job may have begun
        if (model := _model(self.plan)) is not None:
            wanted[MODEL] = model
        return {place: path for place, path in wanted.items() if path.exists()}

    def _share(self, path: Path) -> tuple[str, Any]:
        """The checksum of a folder's content, and its bytes where the cluster keeps them."""
        if path in self._shared:
            return self._shared[path]
        content = pack(path)
        found = sha256(content).hexdigest()[:32], self.workers.share(content)
        if self.plan.root not in path.parents:  # a fit may go on, and is not to be kept for ever
            self._shared[path] = found
        return found

    def _filled(self, submitted: SubmittedJob, inner: "Future[JobEnd]") -> int:
        try:
            filled = super()._filled(submitted, inner)
            error = inner.exception()
            return filled + (0 if error else self._write(submitted.job.group, inner.result().files))
        finally:
            if lock := self._locks.pop(submitted.name, None):
                lock.release()

    def _write(self, group: FitGroup, files: Mapping[str, bytes]) -> int:
        """Write what came back: a cell's record last, and what fits keep; gives how many cells were filled."""
        filled = sum(self._write_cell(cell, files) for cell in group.cells)
        # A training may have served the groups of other tasks too.
        for each in self.plan.groups:
            self._write_fit(each, files)
        return filled

    def _write_cell(self, cell: CellKey, files: Mapping[str, bytes]) -> bool:
        paths = self.plan.cell_paths(cell)
        contents = [files.get(str(path.relative_to(self.plan.root))) for path in paths]
        lock = None if contents[-1] is None else acquire(self.plan.lock_path(cell))
        if lock is None:
            return False
        with lock:
            if not self.plan.missing([cell]):  # another process finished it before we had the lock
                return False
            with writing_cell(self.plan, cell):
                for path, content in zip(paths, contents, strict=True):
                    _write_file(path, content)
        return True

    def _write_fit(self, group: FitGroup, files: Mapping[str, bytes]) -> None:
        """Write what came back of a fit, unless another process is learning there now."""
        folder = self.plan.fit_folder(group)
        beginning = f"{folder.relative_to(self.plan.root)}/"
        kept = {name.removeprefix(beginning): content for name, content in files.items() if name.startswith(beginning)}
        lock = acquire(self.plan.fit_lock_path(group)) if kept else None
        if lock is not None:
            with lock:
                for name, content in kept.items():
                    _write_file(_below(folder, name), content)


def _write_file(path: Path, content: bytes | None) -> None:
    """Write a file; without content there must be none, which would be taken for this cell's."""
    if content is None:
        remove_file(path)
        return
    with atomic_write(path) as stream:
        stream.buffer.write(content)


def _data_folders(plan: Plan, group: FitGroup, system: System) -> dict[str, Path]:
    """The folders of the data folder that a group may read, by their names there."""
    root, asked = plan.request.data, task(group.task)
    if root is None:
        return {}
    tasks = [each for each in (asked, system.learns_from(asked)) if not each.made_by]
    patterns = [pattern for each in tasks for one in each.layouts for pattern in (one.test, one.dev, one.train)]
    # A system may be named after a model that was fetched into the data folder.
    names = {pattern.partition("/")[0] for pattern in patterns if pattern} | {SystemName.of(plan.system).argument}
    found = {name: root / name for name in names if name and (root / name).is_dir() and "/" not in name}
    if plan.regime.translated or plan.regime.asks_translated:
        translations = translations_folder(root)
        found |= {name: root / name for name in published_folders(asked)} | {"translations": translations}
    return found


def _model(plan: Plan) -> Path | None:
    """The model of a system, where it is named by a path."""
    argument = SystemName.of(plan.system).argument
    path = Path(argument).expanduser()
    return path if argument and path.is_dir() else None


def execute_shipped(
    job: CellsJob, name: str, processes: int, parcels: Sequence[Parcel], *fetches: Callable[[], bytes]
) -> JobEnd:
    """Execute a job in this process, a worker's, in a folder of its own.

    Args:
        job: as the one who asked would execute it at home.
        name: the job's.
        processes: how many fit together.
        parcels: what it reads.
        fetches: give the bytes of the parcels, in their order.

    Returns:
        How it ended, with the files it wrote; the cells are filled when these are written at home.
    """
    with TemporaryDirectory(prefix="isogloss-job-") as named:
        folder = Path(named).resolve()
        (folder / DATA).mkdir()
        model: Path | None = None
        try:
            for parcel, fetch in zip(parcels, fetches, strict=True):
                if parcel.place.startswith(RUNS):
                    unpack(fetch(), folder / parcel.place)
                elif parcel.place == MODEL:
                    model = _kept(parcel, fetch, Path(SystemName.of(job.plan.system).argument).name)
                else:
                    (folder / parcel.place).symlink_to(_kept(parcel, fetch, "files"), target_is_directory=True)
        except OSError as error:
            return JobEnd.of_error(error)
        os.environ["ISOGLOSS_DATA"] = str(folder / DATA)
        home, here = job.plan, _moved(job.plan, folder, model)
        end = execute_job(replace(job, plan=here), name, processes)
        if end.error is not None:
            return end
        said = {str(here.root): str(home.root), str(here.request.data): str(home.request.data)}
        if model is not None:
            said[str(model)] = SystemName.of(home.system).argument
        return replace(end, filled=0, files=_written(here.root, said))


def _kept(parcel: Parcel, fetch: Callable[[], bytes], name: str) -> Path:
    """The folder of a parcel in this node's cache, where it is unpacked the first time it is needed."""
    kept = cache_dir() / "shipped" / parcel.key
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        # What is not renamed, for another process was quicker or the disk is full, is removed.
        with TemporaryDirectory(dir=kept.parent, ignore_cleanup_errors=True) as fresh:
            unpack(fetch(), Path(fresh, "parcel", name))
            try:
                Path(fresh, "parcel").rename(kept)
            except OSError:
                if not kept.exists():
                    raise
    return kept / name


def _moved(plan: Plan, folder: Path, model: Path | None) -> Plan:
    """A plan in another folder."""
    system = plan.system
    if model is not None:
        system = system.replace(SystemName.of(system).argument, str(model), 1)
    data = None if plan.request.data is None else folder / DATA
    return replace(plan, system=system, root=folder / RUNS, request=replace(plan.request, data=data))


def _written(root: Path, said: Mapping[str, str]) -> dict[str, bytes]:
    """The files that a job wrote, in which folders are called what the one who asked calls them."""
    found = {}
    for path in sorted(root.rglob("*")):
        if path.is_file() and ".lock" not in path.name:
            content = path.read_bytes()
            if path.suffix == ".json":
                for here, there in said.items():
                    content = content.replace(here.encode(), there.encode())
            found[str(path.relative_to(root))] = content
    return found
