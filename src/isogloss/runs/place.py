"""Where work is done: processes of this machine, a Ray cluster or a SLURM site, as a user names it."""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_type_hints

from isogloss.checked_settings import checked_setting, checked_settings
from isogloss.data.files import atomic_write, read_text
from isogloss.decoding import decode_toml
from isogloss.errors import IsoglossError, unknown
from isogloss.plugins import load_object
from isogloss.systems.base import SystemName
from isogloss.workers import LocalWorkers, Resources, Workers

if TYPE_CHECKING:
    from isogloss.runs.engine import Engine
    from isogloss.runs.plan import Plan
    from isogloss.runs.shipping import SharingWorkers

ENGINES = ("processes", "ray", "slurm")
_CHOICES = {"engine": ENGINES, "files": ("folder", "ship"), "on_interrupt": ("stop", "detach")}
# The library of an engine, the extra that installs it, and our workers of it: made with a place and the most jobs.
_CLUSTERS = {
    "ray": ("ray", "cluster", "isogloss.runs.ray_engine:RayWorkers"),
    "slurm": ("submitit", "slurm", "isogloss.runs.slurm_workers:SlurmWorkers"),
}
_UNITS = {"": 1, "K": 1, "M": 2, "G": 3, "T": 4}


@dataclass(frozen=True)
class SlurmOptions:
    """What else a SLURM site wants to know of jobs; `setup` are commands before each."""

    account: str = ""
    qos: str = ""
    constraint: str = ""
    setup: tuple[str, ...] = ()


@dataclass(frozen=True)
class Place:
    """Where the jobs of a grid are executed, and on what terms.

    Attributes:
        engine_name: "processes", "ray" or "slurm".
        address: of a Ray cluster: `ray://host:port`, `host:port` or `auto`; "" for RAY_ADDRESS or, where there is none,
            a cluster of this machine for as long as the command runs.
        partition: of a SLURM site, "" for its default.
        files: "folder" where all nodes see the run folder, the data and the models under the same paths; "ship" where
            they do not, and files travel with the jobs.
        on_interrupt: what Ctrl-C does to the jobs: "stop" ends them, "detach" leaves them at work.
        jobs: the most jobs at a time, 0 for as many as there is room for.
        environment: patterns of the environment variables that jobs are told; SLURM tells all.
        resources: what a job needs.
        systems: what jobs of some systems need instead, by a pattern of the system's name (`encoder:*`).
        slurm: what else a SLURM site wants to know.
        toml: the file it was read from, "" where there was none.
    """

    engine_name: str = "processes"
    address: str = ""
    partition: str = ""
    files: str = "folder"
    on_interrupt: str = "stop"
    jobs: int = 0
    environment: tuple[str, ...] = ("ISOGLOSS_*", "HF_*", "TRANSFORMERS_*")
    resources: Resources = field(default_factory=Resources)
    systems: Mapping[str, Resources] = field(default_factory=dict)
    slurm: SlurmOptions = field(default_factory=SlurmOptions)
    toml: str = ""

    @classmethod
    def of(cls, name: "str | os.PathLike[str] | Place | None") -> "Place":
        """The place a user names.

        Args:
            name: `processes`, `ray`, `ray://host:port`, `ray:ADDRESS`, `slurm`, `slurm:PARTITION` or a TOML file.

        Raises:
            UnknownNameError: no such engine, or a name in the file that is none.
            IsoglossError: a value in the file that makes no sense.
        """
        if isinstance(name, Place):
            return name
        text = "processes" if name is None else os.fspath(name)
        if text.endswith(".toml"):
            return _from_toml(read_text(Path(text)), text)
        engine, _, where = text.partition(":")
        if engine not in ENGINES or (where and engine == "processes"):
            raise unknown("place to run on", text, (*ENGINES, "ray://host:port", "slurm:PARTITION"))
        if engine == "slurm":
            return cls(engine, partition=where)
        return cls(engine, address=text if where.startswith("//") else where)

    @property
    def is_here(self) -> bool:
        """Whether it is this machine's processes."""
        return self.engine_name == "processes"

    @property
    def fills_by_itself(self) -> bool:
        """Whether the cluster fills a grid without the command that asked for it; SLURM's jobs stay by themselves."""
        return self.engine_name == "ray" and self.on_interrupt == "detach"

    def resources_of(self, system: str) -> Resources:
        """What a job of a system needs: of the last pattern that its name matches, or what all need.

        Of GPUs, where nothing is said: one for a system that is fine-tuned, if the nodes have any; for others none.
        """
        matching = [found for pattern, found in self.systems.items() if fnmatchcase(system, pattern)]
        needs = matching[-1] if matching else self.resources
        if needs.gpus is None and not SystemName.of(system).follows_recipes:
            needs = replace(needs, gpus=0)
        return needs

    def workers(self, jobs: int = 0) -> Workers:
        """What executes calls there, at most so many at a time; 0 for as many as there is room for.

        Raises:
            IsoglossError: the library of the engine is not installed.
        """
        most = jobs or self.jobs
        if self.is_here:
            return LocalWorkers(most or os.cpu_count() or 1)
        workers: Workers = load_object(self._installed_origin())(self, most)
        return workers

    def _installed_origin(self) -> str:
        library, extra, origin = _CLUSTERS[self.engine_name]
        if find_spec(library) is None:
            raise IsoglossError(f"{library} is not installed", fix=f"pip install 'isogloss[{extra}]'")
        return origin

    def engine(self, plan: "Plan", jobs: int = 0) -> "Engine":
        """What executes the jobs of a grid there.

        Raises:
            IsoglossError: the library of the engine is not installed.
        """
        if self.is_here:
            from isogloss.runs.processes import ProcessEngine

            return ProcessEngine(plan, jobs or self.jobs or 1)
        if self.engine_name == "slurm":
            self._installed_origin()
            from isogloss.runs.slurm_engine import SlurmEngine

            return SlurmEngine(plan, self, jobs)
        workers = self.workers(jobs)
        if self.files == "ship":
            from isogloss.runs.shipping import ShippingEngine

            return ShippingEngine(plan, self, cast("SharingWorkers", workers))
        from isogloss.runs.cluster_engine import ClusterEngine

        return ClusterEngine(plan, self, workers)

    def describe(self, folders: Iterable[Path]) -> None:
        """Copy the file that says where this is into result folders, beside what describes the system."""
        for folder in folders if self.toml else ():
            with atomic_write(folder / "place.toml") as stream:
                stream.write(self.toml)


HERE = Place()

# What a file says: outside of its tables, and in them.
_PLAIN = ("address", "partition", "files", "on_interrupt", "jobs", "environment")
_TABLES = ("resources", "systems", "slurm")
_TYPES = {"engine": str, **{key: get_type_hints(Place)[key] for key in _PLAIN}, **dict.fromkeys(_TABLES, dict)}
_KEY = "key of a place"


def _from_toml(text: str, where: str) -> Place:
    values = checked_settings(decode_toml(text, where), _TYPES, _KEY, where, least=0)
    tables = {name: values.pop(name, {}) for name in _TABLES}
    resources = _resources(tables["resources"], Resources(), f"{where} [resources]")
    systems = {}
    for pattern, given in tables["systems"].items():
        here = f'systems."{pattern}"'
        section = checked_setting(here, given, dict, where)
        needs = checked_settings(section, {"resources": dict}, _KEY, f"{where} [{here}]").get("resources", {})
        systems[pattern] = _resources(needs, resources, f"{where} [{here}.resources]")
    slurm = checked_settings(tables["slurm"], get_type_hints(SlurmOptions), _KEY, f"{where} [slurm]")
    for key, known in _CHOICES.items():
        if values.get(key, known[0]) not in known:
            raise unknown(key, values[key], known, where=where)
    values["environment"] = (*Place.environment, *values.get("environment", ()))
    engine = values.pop("engine", HERE.engine_name)
    place = Place(engine, **values, resources=resources, systems=systems, slurm=SlurmOptions(**slurm), toml=text)
    _refuse_unheeded(place, where)
    return place


def _refuse_unheeded(place: Place, where: str) -> None:
    """Refuse what an engine would not heed."""
    engine = place.engine_name
    meant = {
        "address": ("ray", place.address),
        "partition": ("slurm", place.partition),
        "[slurm]": ("slurm", place.slurm != SlurmOptions()),
    }
    for key, (of, said) in meant.items():
        if said and engine != of:
            fix = f'Give engine = "{of}", or take {key} out'
            raise IsoglossError(f'{key} is of {of}, with engine = "{engine}"', where=where, fix=fix)
    if place.on_interrupt == "detach" and place.is_here:
        fix = 'A cluster can: engine = "ray" or "slurm"'
        what = 'on_interrupt = "detach": processes of this machine do not go on without the command'
        raise IsoglossError(what, where=where, fix=fix)
    if place.files == "ship" and engine != "ray":
        fix = 'Files travel with the jobs of Ray: engine = "ray"; elsewhere give a folder that all nodes see'
        raise IsoglossError(f'files = "ship" with engine = "{engine}"', where=where, fix=fix)
    if place.files == "ship" and place.on_interrupt == "detach":
        fix = "Give a folder that all nodes see, or have Ctrl-C stop the jobs"
        what = 'on_interrupt = "detach" with files = "ship": nobody would be there to take what comes back'
        raise IsoglossError(what, where=where, fix=fix)


def _resources(table: Mapping[str, Any], default: Resources, where: str) -> Resources:
    """The resources of a section; what it does not say is as in the default."""
    given = {key: byte_count(value, where) if key == "memory" else value for key, value in table.items()}
    found = checked_settings(given, get_type_hints(Resources), _KEY, where, least=0)
    gpus = found.get("gpus", 0)
    if gpus > 1 and gpus != int(gpus):
        fix = "A share of one GPU is below 1; above, give whole numbers"
        raise IsoglossError(f"gpus = {gpus!r} is neither a share nor a number of GPUs", where=where, fix=fix)
    return replace(default, **found)


def byte_count(value: Any, where: str) -> int:
    """A size of memory in bytes, as people write it: "4 GB", "500MiB".

    Raises:
        IsoglossError: it is none.
    """
    text = value if isinstance(value, str) else ""
    found = re.fullmatch(r"(\d{1,15}(?:\.\d{1,15})?) ?([KMGT]?)(i?)B?", text, re.IGNORECASE)
    if found is None:
        raise IsoglossError(f"memory = {value!r} is not a size", where=where, fix='Write it as in "4 GB"')
    number, unit, binary = found.groups()
    return int(float(number) * (1024 if binary else 1000) ** (_UNITS[unit.upper()] if unit else 0))
