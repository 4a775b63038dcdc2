"""Before a grid is filled: say whose it is, refuse a stranger's, forget what must be done again, clean up."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from isogloss.data.files import atomic_write
from isogloss.errors import IsoglossError
from isogloss.predictions.folder import Folder
from isogloss.systems.locks import sweep
from isogloss.systems.plan import Plan, seed_folder
from isogloss.systems.records import forget

__all__ = ["prepare", "to_toml"]


def prepare(plan: Plan, *, force: bool = False) -> None:
    """Make the folders of the seeds ready; the caller holds the run's lock.

    Raises:
        IsoglossError: there are cells of another configuration of the system, and no force.
    """
    metadata = {key: value for key, value in plan.built().metadata.items() if value is not None}
    for seed, folder in enumerate(plan.folders):
        described = {**metadata, "regime": plan.regime, "seed": seed}
        if not force:
            _refuse_another(folder, described)
    _clean(plan)
    forget(plan, everything=force)
    for seed in range(plan.seeds):
        with atomic_write(seed_folder(plan.root, seed) / "system.toml") as stream:
            stream.write(to_toml({**metadata, "regime": plan.regime, "seed": seed}))


def _refuse_another(folder: Path, described: Mapping[str, Any]) -> None:
    """Cells of two configurations in one folder would be averaged as if they were one system's."""
    path = folder / "system.toml"
    if not path.exists():
        return
    before = Folder(folder).system
    after = json.loads(json.dumps(described))
    differing = sorted(key for key in before.keys() | after.keys() if before.get(key) != after.get(key))
    if differing:
        changes = ", ".join(f"{key} was {before.get(key)!r}, is {after.get(key)!r}" for key in differing)
        fix = "Choose another --out, or do everything again with --force"
        raise IsoglossError(f"these cells are of another configuration: {changes}", where=str(path), fix=fix)


def _clean(plan: Plan) -> None:
    """Remove what killed processes left; unfinished files of cells are removed with the cell's lock held."""
    sweep(plan.root)
    for folder in (plan.root, *plan.folders):
        for leftover in folder.glob(".*.part"):
            leftover.unlink(missing_ok=True)


def to_toml(table: Mapping[str, Any]) -> str:
    """Strings, numbers, truth values, lists and tables as TOML, one key a line."""
    return "".join(f"{_key(key)} = {_value(value)}\n" for key, value in table.items())


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(key)} = {_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    # What is no number or truth value (a path, say) is written as text; JSON's form of a scalar is TOML's too.
    plain = value if isinstance(value, bool | int | float) else str(value)
    return json.dumps(plain, ensure_ascii=False).replace("\x7f", "\\u007f")
