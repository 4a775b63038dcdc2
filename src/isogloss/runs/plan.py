"""What a grid of cells is made of, and where each part of it lies on disk."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from isogloss.errors import IsoglossError, unknown
from isogloss.predictions.write import prediction_path
from isogloss.scoring.cells import Request
from isogloss.systems.base import System, system
from isogloss.tasks.registry import task
from isogloss.training.regimes import Fit, Regime
from isogloss.training.regimes import regime as find_regime


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
    def places(self) -> list[CellKey]:
        """Its cells."""
        return [CellKey(self.seed, self.task, language) for language in self.languages]

    def __str__(self) -> str:
        return f"seed-{self.seed} {self.task}" + (f"/{self.target}" if self.target else "")


def seed_folder(root: Path, seed: int) -> Path:
    """The prediction folder of a seed."""
    return root / f"seed-{seed}"


@dataclass(frozen=True)
class Plan:
    """Everything a process must know to fill a grid; small, and the same for all that share it.

    Attributes:
        system: the system as the user named it (`ngram`, `embedder:muse`).
        regime: what it learns from, by the regime's own name.
        root: `RUNS/<system>/<regime>`.
        request: suite, tasks, languages, split and data folder.
        seeds: how many; they are called 0, 1, ….
        settings: what the system is made with, beside its name.
    """

    system: str
    regime: str
    root: Path
    request: Request
    seeds: int
    settings: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        named: str,
        out: Path,
        request: Request,
        *,
        seeds: int = 5,
        regime: str = "zero-shot",
        settings: Mapping[str, Any] | None = None,
    ) -> "Plan":
        """A plan in a user's words.

        Raises:
            UnknownNameError: no such system or regime.
            IsoglossError: the request has no cells, or is of a split that cannot be predicted as one.
        """
        known = find_regime(regime).name
        if request.split not in ("test", "dev"):
            raise unknown("split to predict", request.split, ("test", "dev"))
        # A name becomes a folder: a model's path must not become several.
        given = dict(settings or {})
        folder = re.sub(r"[^\w.-]+", "-", system(named, **given).name).strip("-.") or "system"
        plan = cls(named, known, out.absolute() / folder / known, request, seeds, given)
        if not plan.groups:
            asked = f"{', '.join(request.tasks)} in {', '.join(request.languages or ())}"
            raise IsoglossError(f"there is no cell to fill: {asked}", fix="isogloss list tasks shows the languages")
        return plan

    def built(self) -> System:
        """The system, new."""
        return system(self.system, **self.settings)

    @cached_property
    def learning(self) -> Regime:
        """The regime."""
        return find_regime(self.regime)

    @property
    def groups(self) -> list[FitGroup]:
        """All groups; one seed after the other, so that the first is soon complete."""
        named = [(name, task(name)) for name in self.request.tasks]
        fits = [(name, fit) for name, of in named for fit in self.learning.fits(self.request.languages_of(of))]
        return [FitGroup(seed, name, fit.languages, fit.target) for seed in range(self.seeds) for name, fit in fits]

    def fit(self, group: FitGroup) -> Fit:
        """The fit of a group, with all the languages it serves in this plan, whichever of them the group has."""
        fits = self.learning.fits(self.request.languages_of(task(group.task)))
        return next(fit for fit in fits if fit.target == group.target)

    @property
    def places(self) -> list[CellKey]:
        """All cells."""
        return [place for group in self.groups for place in group.places]

    @property
    def folders(self) -> list[Path]:
        """The prediction folders of the seeds."""
        return [seed_folder(self.root, seed) for seed in range(self.seeds)]

    def predictions(self, place: CellKey) -> Path:
        """The answers of a cell."""
        return prediction_path(seed_folder(self.root, place.seed), task(place.task), place.language, self.request.split)

    def record(self, place: CellKey) -> Path:
        """The record of a cell: it exists when the cell is settled, and not before."""
        return self._about(place.seed, place.task) / f"{self._split}{place.language}.json"

    def lock(self, place: CellKey) -> Path:
        """The lock of a cell."""
        return self.record(place).with_suffix(".lock")

    def group_lock(self, group: FitGroup) -> Path:
        """The lock of a group, which spares others the same fit; cells may be taken in spite of it."""
        return (
            self._about(group.seed, group.task) / f"{self._split}fit{f'-{group.target}' if group.target else ''}.lock"
        )

    def fit_folder(self, group: FitGroup) -> Path:
        """The folder of a group's fit."""
        name = f"{group.task}-{group.target}" if group.target else group.task
        return seed_folder(self.root, group.seed) / ".training" / name

    @property
    def run_lock(self) -> Path:
        """The lock of what belongs to no cell: system.toml, results and summary."""
        return self.root / ".cells" / "run.lock"

    def results(self, seed: int) -> Path:
        """The result record of a seed."""
        return seed_folder(self.root, seed) / f"{self._split}results.json"

    @property
    def summary(self) -> Path:
        """The summary over the seeds."""
        return self.root / f"{self._split}summary.json"

    def missing(self, places: Sequence[CellKey]) -> list[CellKey]:
        """The cells that are not settled."""
        return [place for place in places if not self.record(place).exists()]

    def _about(self, seed: int, name: str) -> Path:
        return seed_folder(self.root, seed) / ".cells" / name

    @property
    def _split(self) -> str:
        return "" if self.request.split == "test" else f"{self.request.split}-"
