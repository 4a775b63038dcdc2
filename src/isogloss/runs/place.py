"""Places to run: processes of this machine, a Ray cluster or a SLURM site, by the names users write."""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, TypedDict, get_type_hints

from isogloss.checked_settings import checked_settings
from isogloss.data.files import atomic_write, read_text
from isogloss.decoding import decode_toml
from isogloss.errors import IsoglossError, unknown
from isogloss.plugins import load_object
from isogloss.workers import ProcessWorkers, Resources, Workers

ENGINES = ("processes", "ray", "slurm")
# Library of each cluster, the extra that installs it, and its workers, created with a place and a number of jobs.
_CLUSTERS = {
    "ray": ("ray", "cluster", "isogloss.runs.ray_workers:RayWorkers"),
    "slurm": ("submitit", "slurm", "isogloss.runs.slurm_workers:SlurmWorkers"),
}
_UNITS = {"": 1, "K": 1, "M": 2, "G": 3, "T": 4}


@dataclass(frozen=True)
class SlurmOptions:
    """Further SLURM options; `setup` are shell commands run before each job."""

    account: str = ""
    qos: str = ""
    constraint: str = ""
    setup: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Place:
    """Machine or cluster that executes the jobs of a grid.

    Attributes:
        engine_name: "processes", "ray" or "slurm".
        address: address of a Ray cluster: `ray://host:port`, `host:port` or `auto`; "" for RAY_ADDRESS or, if unset,
            a cluster on this machine for the duration of the command.
        partition: SLURM partition, "" for the default.
        files: "folder" if all nodes see the run folder, data and models under the same paths; "ship" to send files
            with the jobs.
        on_interrupt: effect of Ctrl-C on jobs: "stop" ends them, "detach" keeps them running.
        jobs: maximum number of jobs at a time, 0 for as many as fit.
        environment: patterns of environment variables to pass to jobs; SLURM passes all.
        resources: resources of a job.
        systems: resources for some systems, by a pattern of the system's name (`encoder:*`).
        slurm: further SLURM options.
        toml: content of the TOML file, "" without one.
    """

    engine_name: str = "processes"
    address: str = ""
    partition: str = ""
    files: Literal["folder", "ship"] = "folder"
    on_interrupt: Literal["stop", "detach"] = "stop"
    jobs: int = 0
    environment: tuple[str, ...] = ("ISOGLOSS_*", "HF_*", "TRANSFORMERS_*", "OPENAI_*")
    resources: Resources = field(default_factory=Resources)
    systems: Mapping[str, Resources] = field(default_factory=dict)
    slurm: SlurmOptions = field(default_factory=SlurmOptions)
    toml: str = ""

    @classmethod
    def of(cls, name: "str | os.PathLike[str] | Place | None") -> "Place":
        """Return the place that a user names.

        Args:
            name: `processes`, `ray`, `ray://host:port`, `ray:ADDRESS`, `slurm`, `slurm:PARTITION` or a TOML file.

        Raises:
            UnknownNameError: unknown place, or unknown key in the file.
            IsoglossError: invalid value in the file.
        """
        if isinstance(name, Place):
            return name
        text = "processes" if name is None else os.fspath(name)
        if text.endswith(".toml"):
            return _from_toml(read_text(Path(text)), text)
        engine, _, address = text.partition(":")
        if engine not in ENGINES or (address and engine == "processes"):
            raise unknown("place to run on", text, (*ENGINES, "ray://host:port", "slurm:PARTITION"))
        if engine == "slurm":
            return cls(engine_name=engine, partition=address)
        return cls(engine_name=engine, address=text if address.startswith("//") else address)

    @property
    def is_here(self) -> bool:
        """True for processes of this machine."""
        return self.engine_name == "processes"

    def resources_for(self, system: str, fine_tuned: bool) -> Resources:
        """Return the resources of a system's jobs: those of the last matching pattern, or the default.

        Unless set, fine-tuned systems get one GPU if the nodes have any, and other systems none.
        """
        matching = [resources for pattern, resources in self.systems.items() if fnmatchcase(system, pattern)]
        needs = matching[-1] if matching else self.resources
        if needs.gpus is None and not fine_tuned:
            needs = replace(needs, gpus=0)
        return needs

    def workers(self, jobs: int = 0) -> Workers:
        """Return the workers of this place, for a maximum number of calls at a time (0 for as many as fit)."""
        most = jobs or self.jobs
        if self.is_here:
            return ProcessWorkers(most or os.cpu_count() or 1)
        self.check_installed()
        workers: Workers = load_object(_CLUSTERS[self.engine_name][2])(self, most)
        return workers

    def check_installed(self) -> None:
        """Raise an IsoglossError if the cluster's library is not installed."""
        library, extra, _ = _CLUSTERS[self.engine_name]
        if find_spec(library) is None:
            from isogloss.installation import install_command

            raise IsoglossError(f"{library} is not installed", fix=f"Run {install_command(extra)}")

    def describe(self, folders: Iterable[Path]) -> None:
        """Copy the place's TOML file into result folders."""
        for folder in folders if self.toml else ():
            with atomic_write(folder / "place.toml") as stream:
                stream.write(self.toml)


HERE = Place()


class _ResourcesTable(TypedDict):
    cpus: float
    gpus: float
    memory: str | int  # an invalid number gets the message of `byte_count`
    hours: float


class _SystemTable(TypedDict):
    resources: _ResourcesTable


# The settings of a place file are those of `Place`, except for tables that are read in two steps.
_FILE_TYPES = {name: hint for name, hint in get_type_hints(Place).items() if name not in ("engine_name", "toml")}
_FILE_TYPES |= {"engine": Literal["processes", "ray", "slurm"], "resources": _ResourcesTable, "systems": dict}


def _from_toml(text: str, where: str) -> Place:
    check = partial(checked_settings, kind="key of a place", least=0)
    values = check(decode_toml(text, where), _FILE_TYPES, where=where)
    resources = _resources(values.pop("resources", {}), Resources(), f"{where} [resources]")
    types = dict.fromkeys(values.get("systems", ()), _SystemTable)
    tables = check(values.pop("systems", {}), types, where=f"{where} [systems]")
    systems = {
        pattern: _resources(table.get("resources", {}), resources, f"{where} [systems] [{pattern}]")
        for pattern, table in tables.items()
    }
    values["environment"] = (*Place.environment, *values.get("environment", ()))
    slurm = SlurmOptions(**values.pop("slurm", {}))
    engine = values.pop("engine", HERE.engine_name)
    place = Place(engine_name=engine, **values, resources=resources, systems=systems, slurm=slurm, toml=text)
    # Settings that have no effect on an engine are refused.
    engines = {
        "address": ("ray", place.address),
        "partition": ("slurm", place.partition),
        "[slurm]": ("slurm", place.slurm != SlurmOptions()),
    }
    what = fix = ""
    for key, (supported, value) in engines.items():
        if value and engine != supported:
            what = f'{key} needs engine = "{supported}", got "{engine}"'
            fix = f'Set engine = "{supported}", or remove {key}'
    if place.on_interrupt == "detach" and place.is_here:
        what = 'on_interrupt = "detach": processes of this machine end with the command'
        fix = 'Set engine = "ray" or "slurm"'
    elif place.files == "ship" and engine != "ray":
        what = f'files = "ship" with engine = "{engine}"'
        fix = 'Set engine = "ray", or use a folder that all nodes see'
    elif place.files == "ship" and place.on_interrupt == "detach":
        what = 'on_interrupt = "detach" with files = "ship": the command must receive the files'
        fix = 'Use a folder that all nodes see, or set on_interrupt = "stop"'
    if what:
        raise IsoglossError(what, where=where, fix=fix)
    return place


def _resources(settings: Mapping[str, Any], default: Resources, where: str) -> Resources:
    """Return the resources of a section, with defaults for missing keys."""
    gpus = settings.get("gpus", 0)
    if gpus > 1 and gpus != int(gpus):
        fix = "Use a fraction below 1 for a share of one GPU, otherwise a whole number"
        raise IsoglossError(f"invalid gpus = {gpus!r}", where=where, fix=fix)
    sizes = {"memory": byte_count(settings["memory"], where)} if "memory" in settings else {}
    return replace(default, **{**settings, **sizes})


def byte_count(value: Any, where: str) -> int:
    """Parse a memory size such as "4 GB" or "500MiB" into bytes, or raise an IsoglossError."""
    text = value if isinstance(value, str) else ""
    match = re.fullmatch(r"(\d{1,15}(?:\.\d{1,15})?) ?([KMGT]?)(i?)B?", text, re.IGNORECASE)
    if match is None:
        raise IsoglossError(f"memory = {value!r} is not a size", where=where, fix='Write it as "4 GB"')
    number, unit, binary = match.groups()
    return int(float(number) * (1024 if binary else 1000) ** (_UNITS[unit.upper()] if unit else 0))
