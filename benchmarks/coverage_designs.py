"""Cases above the cell: seeds in averages, correlated systems, sparse entities, whole comparisons."""

from collections.abc import Iterator, Sequence
from functools import partial

import coverage_package as package
import numpy as np
from coverage_outcomes import COVERAGE, DIFFERENCE, FALSE_ALARM, WIDTH, Case, Outcome
from coverage_simulator import ACCURACY, ALONE, ARTICLES, ENTITIES, Clusters, Design, Figure

from isogloss.metrics.statistics import F1, Statistics
from isogloss.scoring.cells import Cell
from isogloss.scoring.comparison import ScoreContrast
from isogloss.tasks.registry import task as find_task

# Standard deviations of a seed's effect on all languages, and of its effect on single languages, 0..1.
SEED_EFFECT, SEED_BY_LANGUAGE = 0.02, 0.01
LEVEL = 0.8
CONTRADICTION = "p < 0.05 and an interval that holds 0, or neither"
ANY_CLAIM = "any false difference in one comparison (cells, tasks, overall)"

PARALLEL = Figure("accuracy", "xnli", "accuracy", 0.0, 0.0, ACCURACY.rows)


# ---- seeds


def seed_cases() -> Iterator[Case]:
    """Means over seeds, and differences of two equally good methods, at every level."""
    for seeds in (3, 5, 10):
        for what, figure, count in (
            ("1 language", ACCURACY, 1),
            ("10 separate languages", ACCURACY, 10),
            ("30 separate languages", ACCURACY, 30),
            ("15 parallel languages", PARALLEL, 15),
        ):
            simulate = partial(_one_task, figure, count, seeds)
            yield Case(f"{seeds} seeds, {what}", f"{LEVEL:g} ± {SEED_EFFECT:g}", "none", 200, simulate, heavy=True)
        simulate = partial(_suite_of_seeds, seeds)
        yield Case(f"{seeds} seeds, overall of 2 tasks", f"{LEVEL:g} ± {SEED_EFFECT:g}", "none", 200, simulate, True)


def _runs(figure: Figure, codes: Sequence[str], seeds: int, rng: np.random.Generator) -> list[list[list[Cell]]]:
    """Return, for each of two methods, its seeds with one cell per language."""
    design = Design(200, ALONE, systems=2 * seeds)
    parallel = find_task(figure.task).parallel
    shared = SEED_EFFECT * rng.standard_normal(2 * seeds)
    runs: list[list[Cell]] = [[] for _ in range(2 * seeds)]
    latents = Design(200, ALONE, len(codes), 2 * seeds).draw(rng)[0] if parallel else None
    for place, code in enumerate(codes):
        latent = design.draw(rng)[0][:, 0] if latents is None else latents[:, place]
        own = SEED_BY_LANGUAGE * rng.standard_normal(2 * seeds)
        for run, cells in enumerate(runs):
            rows = figure.judged(latent[run], LEVEL + shared[run] + own[run], np.ones(200, dtype=np.int64), rng)
            cells.append(package.cell(figure.task, code, rows, None))
    return [runs[:seeds], runs[seeds:]]


def _one_task(figure: Figure, count: int, seeds: int, rng: np.random.Generator) -> Outcome:
    codes = find_task(figure.task).languages[:count]
    first, second = _runs(figure, codes, seeds, rng)
    record, compared = package.scored_seeds(first), package.compared_seeds(first, second)
    number, contrast = record.tasks[0].score, compared.tasks[0]
    if count == 1:
        number, contrast = record.cells[0].metrics[figure.metric], compared.cells[0]
    return _mean_and_difference(package.interval(number), contrast)


def _mean_and_difference(interval: package.Interval, contrast: ScoreContrast) -> Outcome:
    return {
        COVERAGE: [interval.holds(LEVEL)],
        WIDTH: [interval.width],
        FALSE_ALARM: [package.significant(contrast)],
        DIFFERENCE: [package.interval(contrast).holds(0.0)],
    }


def _suite_of_seeds(seeds: int, rng: np.random.Generator) -> Outcome:
    parts = [_runs(figure, find_task(figure.task).languages[:10], seeds, rng) for figure in (ACCURACY, PARALLEL)]
    # Every seed trains its own model per task, as fine-tuning does.
    first, second = (
        [[*one, *other] for one, other in zip(parts[0][side], parts[1][side], strict=True)] for side in (0, 1)
    )
    top, contrast = package.scored_seeds(first).overall.score, package.compared_seeds(first, second).overall
    return {} if top is None or contrast is None else _mean_and_difference(package.interval(top), contrast)


# ---- two correlated systems


def pair_cases() -> Iterator[Case]:
    """Equally good systems with correlated answers, in few articles."""
    for agreement in (0.0, 0.5, 0.9, 0.98):
        for level in (0.5, 0.8, 0.97):
            clusters = Clusters("24 articles of 50", 50, 50, 0.1)
            design = Design(1200, clusters, systems=2, agreement=agreement)
            simulate = partial(_correlated, level, design)
            yield Case(f"accuracy, correlation {agreement:g}", f"{level:g}", clusters.name, 1000, simulate, heavy=True)
    for size in (20, 60, 200):
        design = Design(size, ALONE, systems=2, agreement=0.9)
        yield Case(
            "accuracy, correlation 0.9", "0.8", "none", size if size != 60 else 50, partial(_correlated, 0.8, design)
        )


def _correlated(level: float, design: Design, rng: np.random.Generator) -> Outcome:
    latent, clusters = design.draw(rng)
    names = None if design.clusters is ALONE else [f"{code:05}" for code in clusters.tolist()]
    cells = [
        package.cell(ACCURACY.task, "en", ACCURACY.judged(each[0], level, np.ones(design.n, np.int64), rng), names)
        for each in latent
    ]
    contrast = package.compared(cells[:1], cells[1:]).cells[0]
    return _agreeing(contrast)


def _agreeing(contrast: ScoreContrast) -> Outcome:
    holds = package.interval(contrast).holds(0.0)
    significant = package.significant(contrast)
    return {
        FALSE_ALARM: [significant],
        DIFFERENCE: [holds],
        CONTRADICTION: [None if holds is None else holds == significant],
    }


# ---- sparse entities


def sparse_cases() -> Iterator[Case]:
    """Sentences of which few have an entity, or a prediction of one."""
    for share in (0.02, 0.05, 0.2):
        for level in (0.5, 0.9, 0.97):
            for n in (1000, 5000):
                yield Case(
                    f"entity F1, {share:.0%} of the sentences have entities",
                    f"{level:g}",
                    "none",
                    n,
                    partial(_sparse, share, level, n),
                    heavy=True,
                )


def _sparse(share: float, level: float, n: int, rng: np.random.Generator) -> Outcome:
    has = rng.random(n) < share
    quality = np.where(rng.random(n) < level, 1.0, 0.0)  # sentences are right or wrong as a whole
    sizes = np.where(has, 1 + rng.poisson(0.5, n), 0)
    correct = sizes * quality
    rows = np.stack([correct, sizes, sizes], axis=1)
    number = package.scored_cell(
        package.cell(ENTITIES.task, "en", {"f1": Statistics(rows.astype(np.float64), F1)}, None)
    ).metrics["f1"]
    interval = package.interval(number)
    return {COVERAGE: [interval.holds(level)], WIDTH: [interval.width]}


# ---- whole comparisons


def comparison_cases() -> Iterator[Case]:
    """Two equal systems on two tasks in ten languages: any claim at any level."""
    for clusters in (ALONE, ARTICLES):
        yield Case("2 tasks × 10 languages", "0.8", clusters.name, 200, partial(_whole, clusters), heavy=True)


def _whole(clusters: Clusters, rng: np.random.Generator) -> Outcome:
    sides: list[list[Cell]] = [[], []]
    for figure in (ACCURACY, ENTITIES):
        for code in find_task(figure.task).languages[:10]:
            design = Design(200, clusters, systems=2)
            latent, numbers = design.draw(rng)
            names = None if clusters is ALONE else [f"{code}{number:05}" for number in numbers.tolist()]
            sizes = 1 + rng.poisson(0.5, 200)
            for cells, each in zip(sides, latent, strict=True):
                cells.append(package.cell(figure.task, code, figure.judged(each[0], LEVEL, sizes, rng), names))
    compared = package.compared(*sides)
    contrasts = [*compared.cells, *compared.averages()]
    return {ANY_CLAIM: [any(package.significant(each) for each in contrasts)]}
