"""The cells of a grid, and the paths of their files."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from isogloss.errors import IsoglossError, MissingDataError, check_count, unknown
from isogloss.metrics.student import ENOUGH
from isogloss.predictions.folder import CELL_RECORDS, SUBSET_FILE, TRANSLATED
from isogloss.predictions.run_folders import system_folder
from isogloss.predictions.write import prediction_path
from isogloss.scoring.request import Request
from isogloss.systems.base import System, SystemName, system
from isogloss.systems.given import given_system
from isogloss.tasks.pseudo_sets import ORIGINAL_SPLITS, PSEUDO_SPLITS, is_pseudo, translations_folder
from isogloss.tasks.registry import task
from isogloss.training.regimes import Fit, Regime
from isogloss.training.regimes import regime as find_regime

# Lock of a fit's folder.
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
    """The cells that one fit serves, or some of them; `target` is the language it is for, "" for all."""

    seed: int
    task: str
    languages: tuple[str, ...]
    target: str = ""

    @property
    def cells(self) -> list[CellKey]:
        """Cells of the group."""
        return [CellKey(self.seed, self.task, language) for language in self.languages]

    def __str__(self) -> str:
        return f"seed-{self.seed} {self.task}" + (f"/{self.target}" if self.target else "")


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """Everything a process must know to fill a grid; small, and the same for all processes that share it.

    The system is as the user named it (`ngram`, `embedder:muse`), with further settings, or its own name if the user
    passed an object (`given`); the seeds are named 0, 1, …. With `subset`, so many examples of a cell are drawn and
    predicted, and its score is estimated; 0 for all.
    """

    system: str
    regime: Regime
    root: Path  # RUNS/<system>/<regime>
    request: Request
    seeds: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    given: System | None = None
    subset: int = 0
    # The system built to learn its name, until `build_system` hands it out.
    _built: list[System] = field(init=False, compare=False, repr=False, default_factory=list)

    # Filled by `groups`.
    _groups: list[FitGroup] = field(init=False, compare=False, repr=False, default_factory=list)

    def __getstate__(self) -> list[Any]:
        """Pickle only the fields that define the plan: every job carries it, and needs few of its groups."""
        own = [self.system, self.regime, self.root, self.request, self.seeds, self.settings, self.given, self.subset]
        return [*own, [], []]

    @property
    def groups(self) -> Sequence[FitGroup]:
        """All groups, seed by seed, so that the first seed is complete early."""
        if not self._groups:
            fits = [(name, fit) for name in self.request.tasks for fit in self._fits(name)]
            seeds = range(self.seeds)
            self._groups.extend(FitGroup(seed, name, fit.languages, fit.target) for seed in seeds for name, fit in fits)
        return self._groups

    def _fits(self, task_id: str) -> Sequence[Fit]:
        return self.regime.fits(self.request.languages_of(task(task_id)))

    @classmethod
    def of(
        cls,
        chosen: object,
        out: str | os.PathLike[str],
        request: Request,
        *,
        seeds: int | None = None,
        regime: str | None = None,
        settings: Mapping[str, Any] | None = None,
        subset: int = 0,
        prompt: str = "",
    ) -> "Plan":
        """Create a plan from names as users write them; a system may also be an object (see `given_system`).

        By default, the system decides regime and number of seeds. `prompt` names one of several wordings of a prompted
        system; its runs lie in a folder of their own.

        Raises:
            UnknownNameError: unknown system or regime.
            IsoglossError: an object that cannot be used as a system, a request without cells, or a split that cannot
                be predicted.
        """
        if request.split not in (splits := ("test", "dev", *ORIGINAL_SPLITS)):
            raise unknown("split", request.split, splits)
        check_count("subset", subset, 0)
        check_count("seeds", 1 if seeds is None else seeds, 1)
        if 0 < subset < ENOUGH:
            raise IsoglossError(f"a subset of {subset} examples; expected at least {ENOUGH}")
        learning = None if regime is None else find_regime(regime)
        prompted = isinstance(chosen, str) and SystemName.of(chosen).prompted
        implied = learning.settings if learning and prompted else {}
        own = {**implied, **(settings or {}), **({"wording": prompt} if prompt else {})}
        built = given_system(chosen, own)
        learning = learning or find_regime(built.usual_regime)
        # The name becomes one folder, even if it contains a path.
        folder = re.sub(r"[^\w.-]+", "-", built.name).strip("-.") or "system"
        root = Path(out).absolute() / folder / learning.name / (f"prompt-{prompt}" if prompt else "")
        name, given = (chosen, None) if isinstance(chosen, str) else (built.name, built)
        plan = cls(
            system=name,
            regime=learning,
            root=root,
            request=request,
            seeds=built.usual_seeds if seeds is None else seeds,
            settings=own,
            given=given,
            subset=subset,
        )
        if not plan.groups and is_pseudo(request.split):
            where = ", ".join(request.languages or ()) or "any language"
            what = f"no {request.split} test set of {', '.join(request.tasks)} in {where}"
            fix = "Run isogloss translate TASK --pseudo -l LANGUAGES --with …"
            raise MissingDataError(what, where=str(translations_folder(request.data)), fix=fix)
        if not plan.groups:
            what = f"no task ({', '.join(request.tasks)}) has a language of {', '.join(request.languages or ())}"
            raise IsoglossError(what, fix="Run isogloss list tasks to see the languages")
        plan._built.append(built)
        return plan

    @classmethod
    def with_pseudo(cls, chosen: object, out: str | os.PathLike[str], request: Request, **options: Any) -> "list[Plan]":
        """Return the plan of a request and, if it includes pseudo test sets, that of all of them in its languages.

        See `of`. Both plans share a folder and, if the system keeps them, fits.
        """
        requests = [replace(request, pseudo=False)]
        if request.pseudo and not is_pseudo(request.split):
            requests.append(replace(request, pseudo=False, split=PSEUDO_SPLITS[request.split]))
        return [cls.of(chosen, out, each, **options) for each in requests]

    def build_system(self) -> System:
        """Return a new system; the first call returns the one built for the plan. An object is always the same."""
        return self._built.pop() if self._built else self.given or system(self.system, **self.settings)

    @property
    def folder_name(self) -> str:
        """Name of the system's folder, above the regime and the prompt."""
        return system_folder(self.root).parent.name

    @property
    def fine_tunes(self) -> bool:
        """True if the system is created with a recipe."""
        return self.given.follows_recipes if self.given else SystemName.of(self.system).follows_recipes

    def fit(self, group: FitGroup) -> Fit:
        """Return the fit of a group, with all languages it serves in this plan."""
        return next(fit for fit in self._fits(group.task) if fit.target == group.target)

    @property
    def cells(self) -> list[CellKey]:
        """All cells."""
        return [cell for group in self.groups for cell in group.cells]

    def missing(self, cells: Sequence[CellKey]) -> list[CellKey]:
        """Return the cells without a record."""
        return [cell for cell in cells if not self.record_path(cell).exists()]

    def missing_groups(self) -> list[FitGroup]:
        """Return the groups with missing cells, and only those cells."""
        file_names, missing = cache(self.file_names), []
        for group in self.groups:
            names = file_names(group.seed, group.task)
            languages = tuple(code for code in group.languages if self.record_name(code) not in names)
            if languages:
                missing.append(replace(group, languages=languages))
        return missing

    def seed_folder(self, seed: int) -> Path:
        """Return the prediction folder of a seed."""
        return self.root / f"seed-{seed}"

    @property
    def seed_folders(self) -> list[Path]:
        """Prediction folders of all seeds."""
        return [self.seed_folder(seed) for seed in range(self.seeds)]

    def predictions_path(self, cell: CellKey) -> Path:
        """Return the path of a cell's predictions."""
        path = prediction_path(self.seed_folder(cell.seed), task(cell.task), cell.language, self.request.split)
        # Answers to translated questions must not be scored as answers to the original ones.
        return path.with_name(f"{TRANSLATED}{path.name}") if self.regime.translated_gold else path

    def record_path(self, cell: CellKey) -> Path:
        """Return the path of a cell's record, which exists once the cell is finished."""
        return self.records_folder(cell.seed, cell.task) / self.record_name(cell.language)

    def record_name(self, language: str) -> str:
        """Return the file name of a record."""
        return f"{self._split_prefix}{language}.json"

    def subset_path(self, cell: CellKey) -> Path:
        """Return the path of the drawn examples of a cell."""
        return self.predictions_path(cell).with_name(f"{self._split_prefix}{cell.language}-{SUBSET_FILE}")

    def statistics_path(self, cell: CellKey) -> Path:
        """Return the path of a cell's statistics, from which the scores of a seed are computed."""
        return self.record_path(cell).with_suffix(".npz")

    def cell_paths(self, cell: CellKey) -> tuple[Path, Path, Path]:
        """Return the files of a cell in the order they are written: predictions, statistics, record."""
        return self.predictions_path(cell), self.statistics_path(cell), self.record_path(cell)

    def lock_path(self, cell: CellKey) -> Path:
        """Return the path of a cell's lock."""
        return self.records_folder(cell.seed, cell.task) / self.lock_name(cell.language)

    def lock_name(self, language: str) -> str:
        """Return the file name of a cell's lock."""
        return f"{self._split_prefix}{language}.lock"

    def group_lock_path(self, group: FitGroup) -> Path:
        """Return the path of a group's lock, which spares others the same fit; its cells have their own locks."""
        target = f"-{group.target}" if group.target else ""
        return self.records_folder(group.seed, group.task) / f"{self._split_prefix}fit{target}.lock"

    def records_folder(self, seed: int, task_id: str) -> Path:
        """Return the folder of a task's records."""
        return self.seed_folder(seed) / CELL_RECORDS / task_id

    def file_names(self, seed: int, task_id: str) -> frozenset[str]:
        """Return the names in the folder of a task's records."""
        try:
            with os.scandir(self.records_folder(seed, task_id)) as entries:
                return frozenset(entry.name for entry in entries)
        except (FileNotFoundError, NotADirectoryError):
            return frozenset()

    def fit_folder(self, group: FitGroup) -> Path:
        """Return the folder of a group's fit."""
        name = f"{group.task}-{group.target}" if group.target else group.task
        return self.seed_folder(group.seed) / ".training" / name

    def same_training_folders(self, group: FitGroup) -> tuple[Path, ...]:
        """Return the folders of the same fit under regimes with the same training sets."""
        own, parent = self.fit_folder(group).relative_to(self.root), self.root.parent
        return tuple(parent / regime.name / own for regime in self.regime.same_training)

    def fit_lock_path(self, group: FitGroup) -> Path:
        """Return the lock of that folder: one process trains there at a time."""
        return self.fit_folder(group) / FIT_LOCK

    @property
    def run_lock_path(self) -> Path:
        """Lock of the files outside cells: system.toml, results and summary."""
        return self.root / CELL_RECORDS / "run.lock"

    def results_path(self, seed: int) -> Path:
        """Return the path of a seed's results."""
        return self.seed_folder(seed) / f"{self._split_prefix}results.json"

    def results_record_path(self, seed: int) -> Path:
        """Return the path of the checksums of a seed's results and their inputs."""
        return self.seed_folder(seed) / CELL_RECORDS / f"{self._split_prefix}results.json"

    @property
    def summary_path(self) -> Path:
        """Path of the summary over the seeds."""
        return self.root / f"{self._split_prefix}summary.json"

    @property
    def _split_prefix(self) -> str:
        return "" if self.request.split == "test" else f"{self.request.split}-"
