"""Cases of the coverage simulation: for every kind of figure, the simulation and its possible errors."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import coverage_analyses
import coverage_designs
import coverage_explain
import coverage_package as package
import coverage_plan
import coverage_ranks
import coverage_subsets
import numpy as np
from coverage_outcomes import COVERAGE, DIFFERENCE, FALSE_ALARM, WIDTH, Case, Outcome
from coverage_simulator import (
    ACCURACY,
    ALONE,
    ARTICLES,
    ENTITIES,
    ERROR,
    QUESTIONS,
    RANKINGS,
    SENTENCE,
    SMALL,
    Clusters,
    Design,
    Figure,
    FloatArray,
    IntArray,
    sizes_of,
)

from isogloss.scoring.cells import Cell
from isogloss.scoring.contrast import SystemContrast

LANGUAGES = ("en", "de", "es", "fi", "id", "ko", "ru", "sw", "te", "ar", "bn", "th", "tr", "vi", "zh", "hi", "el")
ATTRIBUTES = 5


def _names(clusters: IntArray, kind: Clusters, prefix: str = "") -> list[str] | None:
    return None if kind is ALONE else [f"{prefix}{code:05}" for code in clusters.tolist()]


def _cell(
    figure: Figure, latent: FloatArray, level: float, clusters: list[str] | None, rng: np.random.Generator
) -> Cell:
    rows = figure.judged(latent, level, sizes_of(len(latent), rng), rng)
    return package.cell(figure.task, "en", rows, clusters)


# ---- cells


def _cell_cases() -> Iterator[Case]:
    for figure, levels in (
        (ACCURACY, (0.5, 0.9, 0.97, 0.05)),
        (ERROR, (0.05,)),
        (QUESTIONS, (0.5, 0.9, 0.97, 0.05)),
        (ENTITIES, (0.5, 0.9, 0.97, 0.05)),
        (RANKINGS, (0.5, 0.9, 0.97, 0.05)),
    ):
        for clusters in (ALONE, ARTICLES, SMALL):
            for level in levels if clusters is ALONE else [each for each in levels if each in (0.5, 0.9)]:
                for n in (20, 50, 200, 1000, 5000):
                    if clusters is not ARTICLES or n >= 200:
                        simulate = partial(_one_cell, figure, level, Design(n, clusters))
                        yield Case(f"cell, {figure.name}", f"{level:g}", clusters.name, n, simulate)


def _one_cell(figure: Figure, level: float, design: Design, rng: np.random.Generator) -> Outcome:
    latent, clusters = design.draw(rng)
    metrics = package.scored_cell(_cell(figure, latent[0, 0], level, _names(clusters, design.clusters), rng)).metrics
    outcome: dict[str, Sequence[float | None]] = {}
    for metric, number in metrics.items():
        counted = _held(package.interval(number), figure.true_score(metric, level))
        outcome |= {f"{what}: exact match" if metric == "em" else what: values for what, values in counted.items()}
    return outcome


def _held(interval: package.Interval, true: float) -> Outcome:
    return {COVERAGE: [interval.holds(true)], WIDTH: [interval.width]}


# ---- averages


def _grid(
    figure: Figure, level: float, design: Design, count: int, shared: int, rng: np.random.Generator
) -> list[list[Cell]]:
    """Return, for each system, the cells of `count` languages; the first `shared` have the same examples."""
    systems: list[list[Cell]] = [[] for _ in range(design.systems)]
    for start in [0, *range(shared, count)] if shared else range(count):
        languages = LANGUAGES[:shared] if shared and start == 0 else LANGUAGES[start : start + 1]
        latent, clusters = replace(design, languages=len(languages)).draw(rng)
        names = _names(clusters, design.clusters, f"{figure.task}-{start}-")
        sizes = sizes_of(design.n, rng)
        for place, language in enumerate(languages):
            for system, cells in enumerate(systems):
                rows = figure.judged(latent[system, place], level, sizes, rng)
                cells.append(package.cell(figure.task, language, rows, names))
    return systems


PARALLEL_QUESTIONS = replace(QUESTIONS, task="xquad")
PARALLEL_ACCURACY = replace(ACCURACY, task="xnli")
SENTENCES = replace(ENTITIES, task="udpos")
# Averages: title, figure, clusters, languages, number of languages with shared examples.
AVERAGES: tuple[tuple[str, Figure, Clusters, int, int], ...] = (
    ("10 parallel languages, accuracy", PARALLEL_ACCURACY, ALONE, 10, 10),
    ("10 parallel languages, QA", PARALLEL_QUESTIONS, ALONE, 10, 10),
    ("10 parallel languages, QA", PARALLEL_QUESTIONS, ARTICLES, 10, 10),
    ("9 separate languages, QA", QUESTIONS, ALONE, 9, 0),
    ("9 separate languages, QA", QUESTIONS, ARTICLES, 9, 0),
    ("10 languages, entity F1", ENTITIES, ALONE, 10, 0),
    ("10 languages, 5 share sentences, F1", SENTENCES, SENTENCE, 10, 5),
)


def _average_cases() -> Iterator[Case]:
    for what, figure, clusters, count, shared in AVERAGES:
        for level in (0.5, 0.97):
            for n in (20, 200, 1000):
                if clusters is not ARTICLES or n >= 200:
                    simulate = partial(_one_average, figure, level, Design(n, clusters), count, shared)
                    yield Case(f"average of {what}", f"{level:g}", clusters.name, n, simulate, heavy=True)
    for clusters in (ALONE, ARTICLES):
        for n in (50, 200) if clusters is ALONE else (200,):
            simulate = partial(_one_overall, Design(n, clusters))
            yield Case("overall of 4 tasks in 3 languages", "0.8", clusters.name, n, simulate, heavy=True)


def _one_average(
    figure: Figure, level: float, design: Design, count: int, shared: int, rng: np.random.Generator
) -> Outcome:
    [cells] = _grid(figure, level, design, count, shared, rng)
    true = figure.true_score("score" if figure.rows is QUESTIONS.rows else figure.metric, level)
    return _held(package.interval(package.scored(cells).tasks[0].score), true)


SUITE = (PARALLEL_ACCURACY, ENTITIES, PARALLEL_QUESTIONS, ACCURACY)


def _suite(design: Design, rng: np.random.Generator) -> list[list[Cell]]:
    """Return four tasks of four categories in three languages, for each system."""
    parts = [_grid(figure, 0.8, design, 3, 3 if figure.task in ("xnli", "xquad") else 0, rng) for figure in SUITE]
    return [[each for part in parts for each in part[system]] for system in range(design.systems)]


def _one_overall(design: Design, rng: np.random.Generator) -> Outcome:
    [cells] = _suite(design, rng)
    overall = package.scored(cells).overall.score
    true = (3 * 0.8 + PARALLEL_QUESTIONS.true_score("score", 0.8)) / 4
    return {} if overall is None else _held(package.interval(overall), true)


# ---- differences of two equal systems


def _difference_cases() -> Iterator[Case]:
    few = 0.995
    for figure, level, clusters, agreement, more in (
        (ACCURACY, 0.5, ALONE, 0.7, ""),
        (ACCURACY, 0.97, ALONE, 0.7, ""),
        (ACCURACY, 0.9, ALONE, few, ", nearly equal answers"),
        (ACCURACY, 0.5, SMALL, 0.7, ""),
        (QUESTIONS, 0.5, ALONE, 0.7, ""),
        (QUESTIONS, 0.97, ALONE, 0.7, ""),
        (QUESTIONS, 0.9, ALONE, few, ", nearly equal answers"),
        (QUESTIONS, 0.8, ARTICLES, 0.7, ""),
        (ENTITIES, 0.9, ALONE, 0.7, ""),
        (ENTITIES, 0.97, ALONE, 0.7, ""),
        (RANKINGS, 0.9, ALONE, 0.7, ""),
    ):
        for n in (20, 50, 200, 1000, 5000):
            if clusters is not ARTICLES or n >= 200:
                design = Design(n, clusters, systems=2, agreement=agreement)
                simulate = partial(_one_difference, figure, level, design)
                yield Case(f"cell, {figure.name}{more}", f"{level:g}", clusters.name, n, simulate, n > 200)
    for what, figure, clusters, count, shared in AVERAGES:
        for n in (200,) if clusters is ARTICLES else (20, 200):
            design = Design(n, clusters, systems=2)
            simulate = partial(_average_difference, figure, 0.9, design, count, shared)
            yield Case(f"average of {what}", "0.9", clusters.name, n, simulate, heavy=True)
    for clusters in (ALONE, ARTICLES):
        simulate = partial(_overall_difference, Design(200, clusters, systems=2))
        yield Case("overall of 4 tasks in 3 languages", "0.8", clusters.name, 200, simulate, heavy=True)


def _contrast(contrast: SystemContrast | None) -> Outcome:
    if contrast is None:
        return {FALSE_ALARM: [None]}
    return {FALSE_ALARM: [package.significant(contrast)], DIFFERENCE: [package.interval(contrast).holds(0.0)]}


def _one_difference(figure: Figure, level: float, design: Design, rng: np.random.Generator) -> Outcome:
    first, second = _pair(figure, (level, level), design, rng)
    return _contrast(package.compared([first], [second]).cells[0])


def _pair(figure: Figure, levels: tuple[float, float], design: Design, rng: np.random.Generator) -> list[Cell]:
    """Return one cell of two systems, each with its own level."""
    latent, clusters = design.draw(rng)
    names, sizes = _names(clusters, design.clusters), sizes_of(design.n, rng)
    return [
        package.cell(figure.task, "en", figure.judged(of_system[0], level, sizes, rng), names)
        for of_system, level in zip(latent, levels, strict=True)
    ]


def _average_difference(
    figure: Figure, level: float, design: Design, count: int, shared: int, rng: np.random.Generator
) -> Outcome:
    first, second = _grid(figure, level, design, count, shared, rng)
    return _contrast(package.compared(first, second).tasks[0])


def _overall_difference(design: Design, rng: np.random.Generator) -> Outcome:
    first, second = _suite(design, rng)
    return _contrast(package.compared(first, second).overall)


# ---- explain

INSIGHT = f"a false sentence about any of {ATTRIBUTES} attributes"
TREND = "a false trend, of attributes"
FLIP = "⇄ where the systems differ alike everywhere, of buckets"
BUCKET_ALARM = f"false difference in any bucket of {ATTRIBUTES} attributes"


def _explain_cases() -> Iterator[Case]:
    for figure, level, clusters in (
        (PARALLEL_ACCURACY, 0.8, ALONE),
        (PARALLEL_ACCURACY, 0.97, ALONE),
        (QUESTIONS, 0.8, ALONE),
        (QUESTIONS, 0.8, ARTICLES),
        (RANKINGS, 0.97, ALONE),
    ):
        for n in (80, 200, 1000, 5000):
            if clusters is ALONE or n >= 200:
                design = Design(n, clusters, systems=2)
                what = f"buckets, {figure.name}"
                yield Case(what, f"{level:g}", clusters.name, n, partial(_one_analysis, figure, level, design), n > 200)
                if level == 0.8 and n in (200, 1000):
                    apart = partial(_bucket_contrasts, figure, (level, level - 0.03), design)
                    yield Case(f"{what}, 3 points apart", f"{level:g}", clusters.name, n, apart, True)
                    alike = partial(_bucket_contrasts, figure, (level, level), design)
                    yield Case(f"{what}, equal systems", f"{level:g}", clusters.name, n, alike, True)


def _columns(design: Design, clusters: IntArray, rng: np.random.Generator) -> FloatArray:
    """Return attributes unrelated to the score; half of their variance is shared by an article."""
    own: FloatArray = rng.standard_normal((ATTRIBUTES, design.n))
    if design.clusters is ALONE:
        return own
    of_article: FloatArray = rng.standard_normal((ATTRIBUTES, int(clusters[-1]) + 1))
    return own + of_article[:, clusters]


def _one_analysis(figure: Figure, level: float, design: Design, rng: np.random.Generator) -> Outcome:
    latent, clusters = design.draw(rng)
    rows = figure.judged(latent[0, 0], level, sizes_of(design.n, rng), rng)
    table = package.cell_table(figure.task, [rows], _names(clusters, design.clusters))
    attributes = package.explained(table, _columns(design, clusters, rng))
    true = figure.true_score(table.main, level)
    return {
        COVERAGE: [package.interval(bucket).holds(true) for each in attributes for bucket in each.buckets],
        INSIGHT: [any(each.insight for each in attributes)],
        TREND: [package.says_trend(each) for each in attributes],
    }


def _bucket_contrasts(figure: Figure, levels: Sequence[float], design: Design, rng: np.random.Generator) -> Outcome:
    latent, clusters = design.draw(rng)
    sizes = sizes_of(design.n, rng)
    rows = [figure.judged(each[0], level, sizes, rng) for each, level in zip(latent, levels, strict=True)]
    table = package.cell_table(figure.task, rows, _names(clusters, design.clusters))
    buckets = package.contrasted_buckets(table, _columns(design, clusters, rng))
    flips = {FLIP: [package.says_order_turns(bucket) for bucket in buckets]}
    if levels[0] != levels[1]:
        return flips
    return {
        **flips,
        BUCKET_ALARM: [any(package.significant(bucket) for bucket in buckets)],
        DIFFERENCE: [package.interval(bucket).holds(0.0) for bucket in buckets],
    }


# ---- seeds


def _seed_cases() -> Iterator[Case]:
    for clusters in (ALONE, ARTICLES):
        for seeds, n in ((3, 200), (3, 1000), (5, 1000), (10, 1000)):
            simulate = partial(_seeds, Design(n, clusters, systems=seeds))
            yield Case(f"mean over {seeds} seeds, QA", "0.8 ± 0.02", clusters.name, n, simulate, True)


def _seeds(design: Design, rng: np.random.Generator) -> Outcome:
    """A method with true scores per seed that have a standard deviation of 0.02."""
    latent, clusters = design.draw(rng)
    names = _names(clusters, design.clusters)
    levels = 0.8 + 0.02 * rng.standard_normal(design.systems)
    cells = [
        [_cell(QUESTIONS, of_seed[0], level, names, rng)]
        for of_seed, level in zip(latent, levels.tolist(), strict=True)
    ]
    return _held(package.seed_interval(cells), QUESTIONS.true_score("score", 0.8))


# ---- power

POWER = "finds its own minimum detectable difference (aim: 80 %)"


def _power_cases() -> Iterator[Case]:
    for figure in (ACCURACY, QUESTIONS):
        for clusters in (ALONE, ARTICLES):
            for n in (200, 1000):
                simulate = partial(_detected, figure, 0.8, Design(n, clusters, systems=2))
                yield Case(f"cell, {figure.name}", "0.8", clusters.name, n, simulate, True)


def _detected(figure: Figure, level: float, design: Design, rng: np.random.Generator) -> Outcome:
    """Take the minimum detectable difference of one data set, and test for it in another."""
    pilot = package.compared(*([each] for each in _pair(figure, (level, level), design, rng))).cells[0]
    gap = package.detectable_difference(pilot)
    if gap is None:
        return {}
    contrast = package.compared(*([each] for each in _pair(figure, (level, level - gap), design, rng))).cells[0]
    return {POWER: [package.significant(contrast)]}


# Parts that can be run separately, in the order of the tables.
PARTS: dict[str, Callable[[], Iterator[Case]]] = {
    "cells": _cell_cases,
    "averages": _average_cases,
    "differences": _difference_cases,
    "explain": _explain_cases,
    "seeds": _seed_cases,
    "power": _power_cases,
    "designs": coverage_designs.seed_cases,
    "prompts": coverage_designs.prompt_cases,
    "pairs": coverage_designs.pair_cases,
    "sparse": coverage_designs.sparse_cases,
    "comparisons": coverage_designs.comparison_cases,
    "subsets": coverage_subsets.subset_cases,
    "analyses": coverage_analyses.cases,
    "findings": coverage_explain.cases,
    "plans": coverage_plan.cases,
    "ranks": coverage_ranks.rank_cases,
    "letters": coverage_ranks.letter_cases,
}
