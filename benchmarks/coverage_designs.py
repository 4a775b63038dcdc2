"""Cases above the cell: seeds in averages, shared prompts, correlated systems, sparse entities, whole comparisons."""

from collections.abc import Iterator, Sequence
from functools import partial

import coverage_package as package
import numpy as np
from coverage_outcomes import COVERAGE, DIFFERENCE, FALSE_ALARM, WIDTH, Case, Outcome
from coverage_simulator import ACCURACY, ALONE, ARTICLES, ENTITIES, Clusters, Design, Figure

from isogloss.metrics.statistics import F1, MEAN, Statistics
from isogloss.scoring.cells import Cell
from isogloss.scoring.comparison import ScoreContrast
from isogloss.tasks.registry import task as find_task

# Standard deviations of a seed's effect on all languages, and of its effect on single languages, 0..1.
SEED_EFFECT, SEED_BY_LANGUAGE = 0.02, 0.01
LEVEL = 0.8
CONTRADICTION = "p < 0.05 and an interval that holds 0, or neither"
POWER = "finds a difference of 5 points"
# Standard deviations of a prompt's effect on all systems, and of its effect on single systems, 0..1.
PROMPT_EFFECT, PROMPT_BY_SYSTEM = 0.05, 0.03
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


# ---- shared prompts


def prompt_cases() -> Iterator[Case]:
    """Two equally good methods, and two that differ by 5 points, with the same prompts."""
    for prompts in (2, 4, 8):
        for seeds in (1, 3):
            for by_system in (0.0, PROMPT_BY_SYSTEM):
                what = f"{prompts} shared prompts, {seeds} seed{'s' * (seeds > 1)}"
                level = f"{LEVEL - 0.1:g} ± {PROMPT_EFFECT:g}, in one system ± {by_system:g}"
                simulate = partial(_shared_prompts, prompts, seeds, by_system)
                yield Case(what, level, "none", 200, simulate, sets=1000)


def _shared_prompts(prompts: int, seeds: int, by_system: float, rng: np.random.Generator) -> Outcome:
    names = [f"prompt-{prompt}/seed-{seed}" for prompt in range(prompts) for seed in range(seeds)]
    of_prompts = PROMPT_EFFECT * rng.standard_normal((1, prompts, 1))
    own = by_system * rng.standard_normal((2, prompts, 1))
    of_seeds = (SEED_EFFECT if seeds > 1 else 0.0) * rng.standard_normal((2, 1, seeds))
    contrasts = []
    for gap in (0.0, 0.05):
        levels = LEVEL - 0.1 + of_prompts + own + of_seeds - gap * np.reshape((0, 1), (2, 1, 1))
        latent = Design(200, ALONE, systems=levels.size).draw(rng)[0][:, 0]
        runs = [
            [package.cell(ACCURACY.task, "en", ACCURACY.judged(each, level, np.ones(200, np.int64), rng), None)]
            for each, level in zip(latent, np.clip(levels.ravel(), 0.02, 0.98), strict=True)
        ]
        half = len(names)
        contrasts.append(package.compared_seeds(runs[:half], runs[half:], names=names).cells[0])
    interval = package.interval(contrasts[0])
    return {
        FALSE_ALARM: [package.significant(contrasts[0])],
        DIFFERENCE: [interval.holds(0.0)],
        WIDTH: [interval.width],
        POWER: [package.significant(contrasts[1])],
    }


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

    for together in (1, 2, 5):
        for lost in (0.001, 0.003, 0.01, 0.03):
            what = "one system loses answers, single ones" if together == 1 else f"… {together} of an article together"
            yield Case(what, f"{lost:g}", "48 articles of 25", 1000, partial(_lost, lost, together), heavy=True)


def _lost(share: float, together: int, rng: np.random.Generator) -> Outcome:
    """Two systems with the same answers, of which one loses a few right ones."""
    right = rng.random(1200) < LEVEL
    left = right & ~np.repeat(rng.random(1200 // together) < share, together)
    names = [f"{code:05}" for code in np.repeat(np.arange(48), 25).tolist()]
    cells = [
        package.cell(ACCURACY.task, "en", {"accuracy": Statistics(each[:, None].astype(np.float64), MEAN)}, names)
        for each in (right, left)
    ]
    contrast = package.compared(cells[:1], cells[1:]).cells[0]
    interval = package.interval(contrast)
    holds = interval.holds(0.0)
    return {
        COVERAGE: [interval.holds(LEVEL * share)],
        WIDTH: [interval.width],
        CONTRADICTION: [None if holds is None else holds == package.significant(contrast)],
    }


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
