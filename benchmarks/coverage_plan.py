"""Cases of `isogloss plan`: simulate a pilot, plan, simulate the planned study, and count significant results.

The study goes through the package's own comparison. A plan is right if 80 % of the studies find the difference. The
true power of a plan is that of a very large pilot of the same methods.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, partial

import coverage_package as package
import numpy as np
from coverage_outcomes import Case, Outcome
from coverage_simulator import ACCURACY, ALONE, ARTICLES, QUESTIONS, SMALL, Clusters, Design, Figure, sizes_of

from isogloss.scoring.cells import Cell
from isogloss.scoring.planning import EXAMPLE, PilotStudy
from isogloss.tasks.registry import task as find_task

LEVEL = 0.8
FOUND = "the planned study finds the difference (aim: 80 %)"
CAUTIOUS = "the cautiously planned study finds the difference"
LOW, LOW_CAUTIOUS = "plans with a true power below 65 %", "cautious plans with a true power below 65 %"
NEVER = "no number is enough, in the pilot's view"
PARALLEL = replace(ACCURACY, task="xnli")
# Larger studies are not simulated.
MOST = {EXAMPLE: 8000, "seed": 150, "prompt": 50}
LARGE_PILOT = {"n": 2000, "seeds": 20, "prompts": 20}


@dataclass(frozen=True, kw_only=True)
class Study:
    """Two methods: their difference, the spread of seeds on all and on single languages, and the design."""

    figure: Figure
    n: int
    seeds: int = 1
    prompts: int = 1  # of every seed
    languages: int = 1
    clusters: Clusters = ALONE
    difference: float = 0.0
    seed_effect: float = 0.0
    prompt_effect: float = 0.0
    by_language: float = 0.0

    @property
    def runs(self) -> list[str]:
        """Names of the runs of a method."""
        return [f"prompt-{prompt}/seed-{seed}" for prompt in range(self.prompts) for seed in range(self.seeds)]

    def draw(self, rng: np.random.Generator) -> list[list[list[Cell]]]:
        """Return, for each method, its seeds with one cell per language."""
        task, count = find_task(self.figure.task), 2 * self.seeds * self.prompts
        effects = self.seed_effect * rng.standard_normal((2, 1, self.seeds))
        effects = effects + self.prompt_effect * rng.standard_normal((2, self.prompts, 1))
        levels = LEVEL + (effects + self.difference * np.reshape((0.5, -0.5), (2, 1, 1))).ravel()
        runs: list[list[Cell]] = [[] for _ in range(count)]
        together = Design(self.n, self.clusters, self.languages, count).draw(rng) if task.parallel else None
        for place, code in enumerate(task.languages[: self.languages]):
            latent, clusters = together or Design(self.n, self.clusters, systems=count).draw(rng)
            own = levels + self.by_language * rng.standard_normal(count)
            names = None if self.clusters is ALONE else [f"{code}{number:05}" for number in clusters.tolist()]
            for run, cells in enumerate(runs):
                answers = latent[run, place if together else 0]
                rows = self.figure.judged(answers, own[run], sizes_of(self.n, rng), rng)
                cells.append(package.cell(self.figure.task, code, rows, names))
        return [runs[: count // 2], runs[count // 2 :]]

    @property
    def true_difference(self) -> float:
        """Difference of the main scores: question answering has the mean of F1 and exact match."""
        metric = "score" if len(find_task(self.figure.task).main) > 1 else self.figure.metric
        high, low = (self.figure.true_score(metric, LEVEL + half * self.difference) for half in (0.5, -0.5))
        return high - low


def cases() -> Iterator[Case]:
    """Plans of examples and of seeds, from large and from small pilots."""
    for figure, clusters, n in (
        (ACCURACY, ALONE, 50),
        (ACCURACY, ALONE, 200),
        (ACCURACY, ALONE, 1000),
        (ACCURACY, SMALL, 200),
        (ACCURACY, SMALL, 1000),
        (QUESTIONS, ARTICLES, 1000),
    ):
        study = Study(figure=figure, n=n, clusters=clusters, difference=0.06)
        yield _case(f"examples for 6 points, {figure.name}, one run each", study, EXAMPLE)
    for seeds in (3, 5, 10):
        for n in (200, 1000):
            study = Study(figure=ACCURACY, n=n, seeds=seeds, difference=0.04, seed_effect=0.02)
            yield _case(f"seeds for 4 points, 1 language, pilot of {seeds} seeds", study, "seed")
    for seeds in (3, 10):
        for what, figure in (("separate", ACCURACY), ("parallel", PARALLEL)):
            spread = {"difference": 0.03, "seed_effect": 0.02, "by_language": 0.01}
            study = Study(figure=figure, n=200, seeds=seeds, languages=5, **spread)
            yield _case(f"seeds for 3 points, 5 {what} languages, pilot of {seeds} seeds", study, "seed")
    study = Study(figure=ACCURACY, n=200, seeds=10, languages=3, difference=0.03, seed_effect=0.012, by_language=0.01)
    yield _case("examples for 3 points, 3 separate languages, pilot of 10 seeds", study, EXAMPLE)
    study = Study(figure=ACCURACY, n=200, seeds=5, prompts=8, difference=0.04, seed_effect=0.01, prompt_effect=0.02)
    yield _case("prompts for 4 points, 1 language, pilot of 5 seeds × 8 prompts", study, "prompt")


def _case(what: str, study: Study, factor: str) -> Case:
    level = f"{LEVEL:g} ± {study.seed_effect:g}" if study.seed_effect else f"{LEVEL:g}"
    return Case(what, level, study.clusters.name, study.n, partial(_planned, study, factor), heavy=True)


def _planned(study: Study, factor: str, rng: np.random.Generator) -> Outcome:
    pilot = package.pilot(replace(study, difference=0.0).draw(rng), study.runs)
    outcome: dict[str, list[float | None]] = {}
    for names, each in (((FOUND, LOW), pilot), ((CAUTIOUS, LOW_CAUTIOUS), None if pilot is None else pilot.cautious())):
        number = None if each is None else package.needed_number(each, factor, study.true_difference)
        if each is pilot:
            outcome[NEVER] = [number is None]
        possible = number is not None and number <= MOST[factor]
        outcome[names[0]] = [_found(study, factor, number or 0, rng) if possible else None]
        outcome[names[1]] = [None if number is None else _true_power(study, factor, number) < 0.65]
    return outcome


def _found(study: Study, factor: str, number: int, rng: np.random.Generator) -> bool | None:
    planned = replace(study, **{{EXAMPLE: "n", "seed": "seeds", "prompt": "prompts"}[factor]: number})
    return package.significant(package.compared_seeds(*planned.draw(rng), names=planned.runs).tasks[0])


def _true_power(study: Study, factor: str, number: int) -> float:
    large = {name: count for name, count in LARGE_PILOT.items() if name == "n" or getattr(study, name) > 1}
    truth = _truth(replace(study, **large))
    levels = {EXAMPLE: study.n, "seed": study.seeds, "prompt": study.prompts, factor: number}
    varied = {name: count for name, count in levels.items() if name in truth.numbers}
    return truth.test(truth.with_levels(truth.numbers, **varied)).power(study.true_difference)


@cache
def _truth(study: Study) -> PilotStudy:
    pilot = package.pilot(replace(study, difference=0.0).draw(np.random.default_rng(0)), study.runs)
    assert pilot is not None
    return pilot
