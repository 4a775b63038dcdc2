"""What a grid of cells is made of, and where each part of it lies on disk."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from isogloss.errors import IsoglossError, unknown
from isogloss.predictions.write import prediction_path
from isogloss.scoring.cells import Request
from isogloss.systems.base import System, system
from isogloss.tasks.registry import task

__all__ = ["REGIMES", "Group", "Place", "Plan", "seed_folder"]

# How a system comes to know a task; the others of the papers (translate-train, …) need training data nobody has here.
REGIMES = ("zero-shot",)


@dataclass(frozen=True, order=True)
class Place:
    """A cell of the grid of one system under one regime."""

    seed: int
    task: str
    language: str

    def __str__(self) -> str:
        return f"seed-{self.seed} {self.task}/{self.language}"


@dataclass(frozen=True)
class Group:
    """The cells that one fit serves."""

    seed: int
    task: str
    languages: tuple[str, ...]

    @property
    def places(self) -> list[Place]:
        """Its cells."""
        return [Place(self.seed, self.task, language) for language in self.languages]

    def __str__(self) -> str:
        return f"seed-{self.seed} {self.task}"


def seed_folder(root: Path, seed: int) -> Path:
    """The prediction folder of a seed."""
    return root / f"seed-{seed}"


@dataclass(frozen=True)
class Plan:
    """Everything a process must know to fill a grid; small, and the same for all that share it.

    Attributes:
        system: the system as the user named it (`ngram`, `embedder:muse`).
        root: `RUNS/<system>/<regime>`.
        request: suite, tasks, languages, split and data folder.
        seeds: how many; they are called 0, 1, ….
    """

    system: str
    regime: str
    root: Path
    request: Request
    seeds: int

    @classmethod
    def of(cls, named: str, out: Path, request: Request, *, seeds: int = 5, regime: str = "zero-shot") -> "Plan":
        """A plan in a user's words.

        Raises:
            UnknownNameError: no such system or regime.
            IsoglossError: the request has no cells, or is of a split that cannot be predicted as one.
        """
        if regime not in REGIMES:
            raise unknown("regime", regime, REGIMES)
        if request.split not in ("test", "dev"):
            raise unknown("split to predict", request.split, ("test", "dev"))
        # A name becomes a folder: a model's path must not become several.
        folder = re.sub(r"[^\w.-]+", "-", system(named).name).strip("-.") or "system"
        plan = cls(named, regime, out.absolute() / folder / regime, request, seeds)
        if not plan.groups:
            asked = f"{', '.join(request.tasks)} in {', '.join(request.languages or ())}"
            raise IsoglossError(f"there is no cell to fill: {asked}", fix="isogloss list tasks shows the languages")
        return plan

    def built(self) -> System:
        """The system, new."""
        return system(self.system)

    @property
    def groups(self) -> list[Group]:
        """All groups; one seed after the other, so that the first is soon complete."""
        of_tasks = [(name, self.request.languages_of(task(name))) for name in self.request.tasks]
        return [Group(seed, name, languages) for seed in range(self.seeds) for name, languages in of_tasks if languages]

    @property
    def places(self) -> list[Place]:
        """All cells."""
        return [place for group in self.groups for place in group.places]

    @property
    def folders(self) -> list[Path]:
        """The prediction folders of the seeds."""
        return [seed_folder(self.root, seed) for seed in range(self.seeds)]

    def predictions(self, place: Place) -> Path:
        """The answers of a cell."""
        return prediction_path(seed_folder(self.root, place.seed), task(place.task), place.language, self.request.split)

    def record(self, place: Place) -> Path:
        """The record of a cell: it exists when the cell is settled, and not before."""
        return self._about(place.seed, place.task) / f"{self._split}{place.language}.json"

    def lock(self, place: Place) -> Path:
        """The lock of a cell."""
        return self.record(place).with_suffix(".lock")

    def group_lock(self, group: Group) -> Path:
        """The lock of a group, which spares others the same fit; cells may be taken in spite of it."""
        return self._about(group.seed, group.task) / f"{self._split}fit.lock"

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

    def missing(self, places: Sequence[Place]) -> list[Place]:
        """The cells that are not settled."""
        return [place for place in places if not self.record(place).exists()]

    def _about(self, seed: int, name: str) -> Path:
        return seed_folder(self.root, seed) / ".cells" / name

    @property
    def _split(self) -> str:
        return "" if self.request.split == "test" else f"{self.request.split}-"
