"""Cases of scores from subsets: some of 1,000 examples are answered, all of them by a guide."""

from collections.abc import Iterator, Mapping
from functools import partial

import coverage_package as package
import numpy as np
from coverage_outcomes import COVERAGE, DIFFERENCE, FALSE_ALARM, WIDTH, Case, Outcome
from coverage_simulator import ACCURACY, ALONE, ARTICLES, ENTITIES, QUESTIONS, Clusters, Design, Figure, Rows, sizes_of

from isogloss.metrics.control import Draw, extrapolated
from isogloss.metrics.statistics import Statistics
from isogloss.metrics.strata import drawing_order, expected_movements, rates_of, strata_of
from isogloss.scoring.cells import Cell, DrawnAnswers
from isogloss.scoring.results import Number

ALL = 1000
ON_ALL = "interval of the score on all examples holds it"
PARALLEL = Figure("accuracy", "xnli", "accuracy", 0.0, 0.0, ACCURACY.rows)


def subset_cases() -> Iterator[Case]:
    """Cells, averages and differences of equal systems, for guides that agree more or less with the system."""
    for size in (50, 200):
        for figure, level, clusters, agreement in (
            (ACCURACY, 0.8, ALONE, 0.0),
            (ACCURACY, 0.8, ALONE, 0.7),
            (ACCURACY, 0.8, ALONE, 0.95),
            (ACCURACY, 0.95, ALONE, 0.7),
            (ACCURACY, 0.95, ALONE, 0.95),
            (QUESTIONS, 0.8, ALONE, 0.7),
            (QUESTIONS, 0.8, ARTICLES, 0.7),
            (ENTITIES, 0.8, ALONE, 0.7),
            (ENTITIES, 0.95, ALONE, 0.95),
        ):
            design = Design(ALL, clusters, systems=2, agreement=agreement)
            what = f"subset of 1,000, {figure.name}, guide {agreement:g}"
            yield Case(what, f"{level:g}", clusters.name, size, partial(_one_cell, figure, level, design, size))
        for figure, agreement in ((ACCURACY, 0.7), (ACCURACY, 0.95), (ENTITIES, 0.7)):
            design = Design(ALL, ALONE, systems=3, agreement=agreement)
            what = f"subset of 1,000, {figure.name}, guide {agreement:g}"
            yield Case(what, "0.8", "none", size, partial(_equal_systems, figure, 0.8, design, size), heavy=True)
        parallel = Design(ALL, ALONE, languages=10, systems=2)
        what = "subset of 1,000, average of 10 parallel languages, guide 0.7"
        yield Case(what, "0.8", "none", size, partial(_average, PARALLEL, 0.8, parallel, size), heavy=True)


def _without_answers(rows: Rows) -> dict[str, Statistics]:
    """Return the statistics of a system without answers; the last column of F1 counts gold items."""
    keep = {name: np.array([0.0] * (each.rows.shape[1] - 1) + [each.rows.shape[1] == 3]) for name, each in rows.items()}
    return {name: Statistics(each.rows * keep[name], each.value) for name, each in rows.items()}


def _drawn(guide: Rows, size: int, rng: np.random.Generator) -> Draw:
    skipped = _without_answers(guide)
    rates = rates_of(sum(expected_movements(guide[name], skipped[name], ALL) for name in guide))
    strata = strata_of(rates)
    drawn = np.zeros(ALL, bool)
    drawn[drawing_order(strata, rates, rng.random(ALL))[:size]] = True
    return Draw(strata, drawn)


def _subset_cell(
    figure: Figure, language: str, system: Rows, guide: Rows, draw: Draw, clusters: list[str] | None
) -> Cell:
    """Return a cell estimated from a subset."""
    whole: Mapping[str, Statistics | None] = {
        name: extrapolated(rows.select(draw.drawn), guide[name], np.arange(ALL), draw) for name, rows in system.items()
    }
    cell = package.cell(figure.task, language, {name: each for name, each in whole.items() if each}, clusters)
    cell.drawn = DrawnAnswers(count=int(draw.drawn.sum()), seed=0, digest="")
    return cell


def _judged(
    figure: Figure, level: float, design: Design, rng: np.random.Generator
) -> tuple[list[list[Rows]], list[str]]:
    """Return the rows of every system and language, and the clusters; the last system is the guide."""
    latent, clusters = design.draw(rng)
    sizes = sizes_of(ALL, rng)
    rows = [[figure.judged(each, level, sizes, rng) for each in of_system] for of_system in latent]
    return rows, [f"{code:05}" for code in clusters.tolist()]


def _counted(number: Number, true: float, on_all: float) -> Outcome:
    interval = package.interval(number)
    low, high = number.on_all or (np.nan, np.nan)
    return {
        COVERAGE: [interval.holds(true)],
        WIDTH: [interval.width],
        ON_ALL: [low <= 100 * on_all <= high],
    }


def _one_cell(figure: Figure, level: float, design: Design, size: int, rng: np.random.Generator) -> Outcome:
    ((system,), (guide,)), names = _judged(figure, level, design, rng)
    clusters: Clusters = design.clusters
    draw = _drawn(guide, size, rng)
    cell = _subset_cell(figure, "en", system, guide, draw, None if clusters is ALONE else names)
    number = package.scored_cell(cell).metrics[figure.metric]
    return _counted(number, figure.true_score(figure.metric, level), system[figure.metric].score)


def _equal_systems(figure: Figure, level: float, design: Design, size: int, rng: np.random.Generator) -> Outcome:
    rows, _ = _judged(figure, level, design, rng)
    draw = _drawn(rows[-1][0], size, rng)
    first, second = (_subset_cell(figure, "en", each[0], rows[-1][0], draw, None) for each in rows[:2])
    [contrast] = package.compared([first], [second]).cells
    return {FALSE_ALARM: [package.significant(contrast)], DIFFERENCE: [package.interval(contrast).holds(0.0)]}


def _average(figure: Figure, level: float, design: Design, size: int, rng: np.random.Generator) -> Outcome:
    (systems, guides), _ = _judged(figure, level, design, rng)
    codes = ("en", "de", "es", "fr", "ru", "sw", "tr", "ar", "vi", "zh")
    cells = [
        _subset_cell(figure, code, system, guide, _drawn(guide, size, rng), None)
        for code, system, guide in zip(codes, systems, guides, strict=True)
    ]
    on_all = float(np.mean([system[figure.metric].score for system in systems]))
    return _counted(package.scored(cells).tasks[0].score, figure.true_score(figure.metric, level), on_all)
