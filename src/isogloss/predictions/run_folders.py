"""Folders of runs of one system: different seeds, prompts or translators."""

import os
from collections.abc import Collection, Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from isogloss.errors import PredictionError
from isogloss.escaping import printable
from isogloss.predictions.folder import PredictionFolder, tasks_in
from isogloss.predictions.problems import LISTED

Key = TypeVar("Key", bound=Hashable)
# Factors in which runs of a system may differ; their folders are called `seed-0`, `prompt-short`, `translator-nllb`, ….
FACTORS = ("seed", "prompt", "translator")
# Fixes of incomplete runs.
COMPLETE_RUNS = "Run every seed with every prompt and translator, or score some of the folders alone"
FINISH_RUNS = "Finish every run"
NOTHING_SHARED = "the runs have no cell in common"
_NAME_RUNS = "Name runs seed-0, seed-1, …, prompt-NAME or translator-NAME; move anything else out of the folder"


def run_folders(root: Path) -> dict[str, Path]:
    """Return the runs in a folder by name; a folder without any is one unnamed run.

    Runs lie in folders of seeds (`seed-0`, `seed-1`, …), prompts (`prompt-short`, …) or translators, which may be
    nested in any order: `prompt-short/seed-0`.

    Raises:
        PredictionError: there are predictions beside the runs, which would be ignored.
    """
    return {printable(path.relative_to(root).as_posix()): path for path in _runs_in(root)} or {"": root}


def _runs_in(root: Path, factors: Sequence[str] = FACTORS) -> list[Path]:
    """Return the run folders below a folder, seeds in numerical order; a factor is not nested in itself."""
    folders = _folders_in(root)
    levels = {path: level for path in folders if (level := _level(path.name, factors)) is not None}
    if not levels:
        return []
    _refuse_others(root, [path for path in folders if path not in levels], list(levels))
    runs = []
    for path in sorted(levels, key=levels.__getitem__):
        rest = [factor for factor in factors if not path.name.startswith(f"{factor}-")]
        runs += _runs_in(path, rest) or [path]
    return runs


def _folders_in(root: Path) -> list[Path]:
    return [path for path in root.iterdir() if path.is_dir() and not path.name.startswith(".")] if root.is_dir() else []


def _level(name: str, factors: Sequence[str]) -> tuple[int, int, str] | None:
    """Return the sort key of a run's folder, None for other folders."""
    factor, _, level = name.partition("-")
    if factor not in factors or not (level.isdecimal() if factor == "seed" else level):
        return None
    return FACTORS.index(factor), int(level) if factor == "seed" else 0, level


def _refuse_others(root: Path, others: Sequence[Path], runs: Sequence[Path]) -> None:
    """Raise an error for predictions beside the runs, because nothing would read them."""
    if tasks := tasks_in(root):
        what = f"has runs ({_listed(runs)}) and also predictions of its own ({', '.join(tasks)})"
        fix = "Move the predictions into a folder of their own, or to one of the runs"
        raise PredictionError(what, where=str(root), fix=fix)
    for path in sorted(others):
        if _has_predictions(path):
            raise PredictionError(f"not the name of a run, beside {_listed(runs)}", where=str(path), fix=_NAME_RUNS)


def _has_predictions(root: Path, depth: int = len(FACTORS)) -> bool:
    return bool(tasks_in(root)) or (depth > 1 and any(_has_predictions(path, depth - 1) for path in _folders_in(root)))


def _listed(runs: Sequence[Path]) -> str:
    names = sorted(path.name for path in runs)
    return ", ".join([*names[:3], *(["…"] if len(names) > 3 else [])])


def single_run(root: Path) -> PredictionFolder:
    """Open a prediction folder, or the only run in a folder of runs.

    Raises:
        PredictionError: the folder does not exist, or has several runs.
    """
    folder, runs = PredictionFolder(root), list(run_folders(root).values())
    if len(runs) > 1:
        what = f"expected the predictions of one run, got a folder of {len(runs)} runs"
        fix = f"Pass one of them, such as {runs[0]}; score, compare, plan and validate take them all"
        raise PredictionError(what, where=str(root), fix=fix)
    return PredictionFolder(runs[0]) if runs[0] != root else folder


def system_folder(run: Path) -> Path:
    """Return the folder of a run's system, above the folders of seeds, prompts and translators."""
    return system_folder(run.parent) if _level(run.name, FACTORS) is not None else run


def system_of_runs(root: PredictionFolder, first: PredictionFolder) -> dict[str, Any]:
    """Return the metadata of a system with several runs: of its folder, then of its first run.

    Without a `name` in a `system.toml`, the system is called after its folder, not after a run.
    """
    return root.described({**root.metadata, **first.metadata})


def run_names(folders: Sequence[Path]) -> list[str]:
    """Return the names of run folders below a common folder; "" for a single one."""
    if len(folders) < 2:
        return [""] * len(folders)
    common = Path(os.path.commonpath(folders))
    return [folder.relative_to(common).as_posix() for folder in folders]


def run_levels(run: str) -> dict[str, str]:
    """Return the levels in the name of a run: {"prompt": "short", "seed": "0"} for `prompt-short/seed-0`."""
    return dict(part.split("-", 1) for part in run.split("/") if part)


def in_some_runs(cells: Mapping[str, Collection[Key]]) -> dict[Key, str]:
    """Return the reason to leave out each cell that only some runs have, given the cells of each run."""
    reasons: dict[Key, str] = {}
    for key in dict.fromkeys(key for keys in cells.values() for key in keys):
        if without := [run for run, keys in cells.items() if key not in keys]:
            more = [f"{len(without) - LISTED} more"] if len(without) > LISTED else []
            listed = ", ".join([*without[:LISTED], *more])
            reasons[key] = f"missing in {len(without)} of {len(cells)} runs: {listed}"
    return reasons
