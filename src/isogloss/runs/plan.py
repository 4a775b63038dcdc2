"""What a grid of cells is made of, and where each part of it lies on disk."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from isogloss.errors import IsoglossError, unknown
from isogloss.predictions.folder import CELL_RECORDS
from isogloss.predictions.write import prediction_path
from isogloss.scoring.cells import Request
from isogloss.systems.base import System, system
from isogloss.tasks.registry import task
from isogloss.training.regimes import Fit, Regime
from isogloss.training.regimes import regime as find_regime

# The lock of a fit's folder.
FIT_LOCK = "fit.lock"


@dataclass(frozen=True, order=True)
class CellKey:
    """A cell of the grid of one system under one regime."""

    seed: int
    task: str
    language: str

    def __str__(self) -> str:
        return f"seed-{self.seed} {self.task}/{self.language}"


@dataclass(frozen=True)
class FitGroup:
    """The cells that one fit serves, or some of them; `target` is the language it is made for, "" where for all."""

    seed: int
    task: str
    languages: tuple[str, ...]
    target: str = ""

    @property
    def cells(self) -> list[CellKey]:
        """Its cells."""
        return [CellKey(self.seed, self.task, language) for language in self.languages]

    def __str__(self) -> str:
        return f"seed-{self.seed} {self.task}" + (f"/{self.target}" if self.target else "")


@dataclass(frozen=True)
class Plan:
    """Everything a process must know to fill a grid; small, and the same for all that share it.

    Attributes:
        system: the system as the user named it (`ngram`, `embedder:muse`).
        regime: what it learns from.
        root: `RUNS/<system>/<regime>`.
        request: suite, tasks, languages, split and data folder.
        seeds: how many; they are called 0, 1, ….
        settings: what the system is made with, beside its name.
    """

    system: str
    regime: Regime
    root: Path
    request: Request
    seeds: int
    settings: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        system_name: str,
        out: str | os.PathLike[str],
        request: Request,
        *,
        seeds: int = 5,
        regime: str = "zero-shot",
        settings: Mapping[str, Any] | None = None,
    ) -> "Plan":
        """A plan from names as users write them.

        Raises:
            UnknownNameError: no such system or regime.
            IsoglossError: the request has no cells, or is of a split that cannot be predicted as one.
        """
        learning = find_regime(regime)
        if request.split not in ("test", "dev"):
            raise unknown("split to predict", request.split, ("test", "dev"))
        built = system(system_name, **(settings or {}))
        # A name becomes a folder: a model's path must not become several.
        folder = re.sub(r"[^\w.-]+", "-", built.name).strip("-.") or "system"
        root = Path(out).absolute() / folder / learning.name
        plan = cls(system_name, learning, root, request, seeds, dict(settings or {}))
        if not plan.groups:
            cells = f"{', '.join(request.tasks)} in {', '.join(request.languages or ())}"
            raise IsoglossError(f"there is no cell to fill: {cells}", fix="isogloss list tasks shows the languages")
        plan.__dict__["_built"] = built
        return plan

    def build_system(self) -> System:
        """A new system; the first time, in the process that made the plan, the one that was made for its name."""
        built: System | None = self.__dict__.pop("_built", None)
        return system(self.system, **self.settings) if built is None else built

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_built"}

    @property
    def groups(self) -> list[FitGroup]:
        """All groups; one seed after the other, so that the first is soon complete."""
        fits = [(name, fit) for name in self.request.tasks for fit in self._fits(name)]
        return [FitGroup(seed, name, fit.languages, fit.target) for seed in range(self.seeds) for name, fit in fits]

    def _fits(self, task_id: str) -> list[Fit]:
        return self.regime.fits(self.request.languages_of(task(task_id)))

    def fit(self, group: FitGroup) -> Fit:
        """The fit of a group, with all the languages it serves in this plan, whichever of them the group has."""
        return next(fit for fit in self._fits(group.task) if fit.target == group.target)

    @property
    def cells(self) -> list[CellKey]:
        """All cells."""
        return [cell for group in self.groups for cell in group.cells]

    def missing(self, cells: Sequence[CellKey]) -> list[CellKey]:
        """The cells that have no record yet."""
        return [cell for cell in cells if not self.record_path(cell).exists()]

    def missing_groups(self) -> list[FitGroup]:
        """The groups with missing cells, and only those cells."""
        remaining = ((group, self.missing(group.cells)) for group in self.groups)
        return [replace(group, languages=tuple(cell.language for cell in cells)) for group, cells in remaining if cells]

    def seed_folder(self, seed: int) -> Path:
        """The prediction folder of a seed."""
        return self.root / f"seed-{seed}"

    @property
    def seed_folders(self) -> list[Path]:
        """The prediction folders of all seeds."""
        return [self.seed_folder(seed) for seed in range(self.seeds)]

    def predictions_path(self, cell: CellKey) -> Path:
        """The answers of a cell."""
        return prediction_path(self.seed_folder(cell.seed), task(cell.task), cell.language, self.request.split)

    def record_path(self, cell: CellKey) -> Path:
        """The record of a cell: it exists when the cell is finished, and not before."""
        return self.records_folder(cell.seed, cell.task) / f"{self._split_prefix}{cell.language}.json"

    def statistics_path(self, cell: CellKey) -> Path:
        """The statistics of a cell, from which the scores of a seed are computed."""
        return self.record_path(cell).with_suffix(".npz")

    def cell_paths(self, cell: CellKey) -> tuple[Path, Path, Path]:
        """The files of a cell in the order they are written: answers, statistics, record."""
        return self.predictions_path(cell), self.statistics_path(cell), self.record_path(cell)

    def lock_path(self, cell: CellKey) -> Path:
        """The lock of a cell."""
        return self.record_path(cell).with_suffix(".lock")

    def group_lock_path(self, group: FitGroup) -> Path:
        """The lock of a group, which spares others the same fit; cells may be taken in spite of it."""
        target = f"-{group.target}" if group.target else ""
        return self.records_folder(group.seed, group.task) / f"{self._split_prefix}fit{target}.lock"

    def records_folder(self, seed: int, task_id: str) -> Path:
        """The folder of the records of a task."""
        return self.seed_folder(seed) / CELL_RECORDS / task_id

    def fit_folder(self, group: FitGroup) -> Path:
        """The folder of a group's fit."""
        name = f"{group.task}-{group.target}" if group.target else group.task
        return self.seed_folder(group.seed) / ".training" / name

    def fit_lock_path(self, group: FitGroup) -> Path:
        """The lock of that folder: one process learns there at a time."""
        return self.fit_folder(group) / FIT_LOCK

    @property
    def run_lock_path(self) -> Path:
        """The lock of what belongs to no cell: system.toml, results and summary."""
        return self.root / CELL_RECORDS / "run.lock"

    def results_path(self, seed: int) -> Path:
        """The result record of a seed."""
        return self.seed_folder(seed) / f"{self._split_prefix}results.json"

    def results_record_path(self, seed: int) -> Path:
        """What the result record of a seed was made from."""
        return self.seed_folder(seed) / CELL_RECORDS / f"{self._split_prefix}results.json"

    @property
    def summary_path(self) -> Path:
        """The summary over the seeds."""
        return self.root / f"{self._split_prefix}summary.json"

    @property
    def _split_prefix(self) -> str:
        return "" if self.request.split == "test" else f"{self.request.split}-"
