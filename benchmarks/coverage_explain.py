"""Cases on the findings of `explain`: how many are false among all that are shown, and how many true ones are found."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import coverage_package as package
import numpy as np
from coverage_outcomes import Case, Outcome
from coverage_simulator import ALONE, ARTICLES, QUESTIONS, SMALL, Clusters, Design, FloatArray, IntArray, sizes_of

Columns = FloatArray

FALSE = "false sentences per 100 analyses"
ANY = "analyses with a false sentence"
SHARE = "false sentences, of those stated"
FOUND = "true effects found"
TREND = "finds a linear effect of 18 points as a trend"
WRONG = "“best” is wrong"
NAMED = "“best” is right"
FALSE_MARK = "analyses of two equal systems with a false ●"
FALSE_TURN = "analyses with a false ⇄"
OBSERVED = "calibration error minus the true one, in points, as usually reported"
DEBIASED = "debiased calibration error minus the true one, in points"
COVERED = "interval holds the true calibration error"

CELLS, ATTRIBUTES, BUCKETS = 12, 8, 4
# Data sets of many cells.
GRIDS = 150
LEVEL = 0.75
# Effects of an attribute on the true score in each of its buckets.
NONE = (0.0, 0.0, 0.0, 0.0)
LINEAR = (-0.09, -0.03, 0.03, 0.09)
STEP = (-0.12, 0.04, 0.04, 0.04)
PEAK = (-0.04, -0.04, -0.04, 0.12)
TIED = (-0.06, -0.06, 0.06, 0.06)
SLIGHT = (-0.01, -0.01, -0.01, 0.03)
Effects = tuple[float, ...]


@dataclass(frozen=True)
class Grid:
    """Cells of questions by one or more systems, with the effect of each attribute in each cell.

    Parallel cells have the same examples and attributes, like translations of a test set.
    """

    design: Design
    cells: int = CELLS
    parallel: bool = False

    def draw(self, effects: Sequence[Sequence[Effects]], rng: np.random.Generator) -> list[package.ExplainedCell]:
        """Return the cells; all systems share the effects."""
        count = self.cells if self.parallel else 1
        drawn = [self._together(count, rng) for _ in range(self.cells // count)]
        latents = [(latent[:, place], *others) for latent, *others in drawn for place in range(count)]
        return [
            _table(latent, clusters, columns, of_cell, self.design.clusters, rng)
            for (latent, clusters, columns), of_cell in zip(latents, effects, strict=True)
        ]

    def _together(self, count: int, rng: np.random.Generator) -> tuple[FloatArray, IntArray, Columns]:
        latent, clusters = replace(self.design, languages=count).draw(rng)
        # A third of an attribute's variance is shared by all attributes, another by the examples of a cluster.
        own, shared = rng.standard_normal((ATTRIBUTES, self.design.n)), rng.standard_normal(self.design.n)
        of_cluster = rng.standard_normal((ATTRIBUTES, int(clusters[-1]) + 1))[:, clusters]
        return latent, clusters, own + shared + (0 if self.design.clusters is ALONE else of_cluster)


def _table(
    latent: FloatArray,
    clusters: IntArray,
    columns: Columns,
    effects: Sequence[Effects],
    kind: Clusters,
    rng: np.random.Generator,
) -> package.ExplainedCell:
    """Return a cell whose true score is the level plus the effects of the first attributes.

    Attributes with an effect are drawn again, independent of each other: others must not inherit it.
    """
    n = latent.shape[-1]
    columns = columns.copy()
    levels = np.full(n, LEVEL)
    for place, effect in enumerate(effects):
        if effect != NONE:
            columns[place] = rng.standard_normal(n)
            levels += np.array(effect)[columns[place].argsort().argsort() * BUCKETS // n]
    names = None if kind is ALONE else [f"{code:05}" for code in clusters.tolist()]
    systems = [QUESTIONS.judged(of_system, levels, sizes_of(n, rng), rng) for of_system in latent]
    return package.cell_table(QUESTIONS.task, systems, names), columns


def is_false(statement: package.Statement, effect: Effects) -> bool:
    """Return True if any part of a sentence is false of these effects."""
    slope = np.sign(np.round(np.dot(np.arange(BUCKETS) - (BUCKETS - 1) / 2, effect), 9))
    ends = ((statement.best, max(effect)), (statement.worst, min(effect)))
    return (
        statement.direction not in (0, slope)
        or (statement.above is not None and effect[statement.above[0]] <= effect[statement.above[1]])
        or any(place is not None and (effect[place] != end or effect.count(end) > 1) for place, end in ends)
    )


def _explained(grid: Grid, effects: Sequence[Sequence[Effects]], rng: np.random.Generator) -> tuple[int, int, int, int]:
    """Return the number of false sentences, of all sentences, of true effects found, and of true effects."""
    false = said = found = true = 0
    for of_cell, facets in zip(effects, package.explained_cells(grid.draw(effects, rng)), strict=True):
        for facet in facets:
            effect = of_cell[int(facet.attribute[1:])]
            statement = package.stated(facet)
            said += statement is not None
            false += statement is not None and is_false(statement, effect)
            found += statement is not None and effect != NONE
            true += effect != NONE
    return false, said, found, true


def _nothing(grid: Grid, rng: np.random.Generator) -> Outcome:
    false, *_ = _explained(grid, [[NONE] * ATTRIBUTES] * grid.cells, rng)
    return {FALSE: [float(false)], ANY: [false > 0]}


def _mixture(grid: Grid, rng: np.random.Generator) -> Outcome:
    """A fifth of the attributes of the cells have an effect, of one of four shapes."""
    kinds = np.where(rng.random((grid.cells, ATTRIBUTES)) < 0.2, rng.integers(1, 5, (grid.cells, ATTRIBUTES)), 0)
    shapes = (NONE, LINEAR, STEP, PEAK, TIED)
    # At most two in a cell, so that scores stay within the scale.
    effects = [
        [shapes[kind] if np.count_nonzero(row[:place]) < 2 else NONE for place, kind in enumerate(row)] for row in kinds
    ]
    false, said, found, true = _explained(grid, effects, rng)
    return {SHARE: [false / said if said else 0.0], FOUND: [found / true if true else None]}


def _trend(design: Design, rng: np.random.Generator) -> Outcome:
    """One of eight attributes has a linear effect; all metrics and attributes are corrected together."""
    [facets] = package.explained_cells(Grid(design, cells=1).draw([[LINEAR]], rng))
    main = next(facet for facet in facets if facet.attribute == "a0")
    statement = package.stated(main)
    return {TREND: [statement is not None and statement.direction > 0]}


def _best_bucket(effect: Effects, design: Design, rng: np.random.Generator) -> Outcome:
    [(table, columns)] = Grid(design, cells=1).draw([[effect]], rng)
    [facet] = package.explained(table, columns[:1])
    statement = package.stated(facet)
    best = None if statement is None else statement.best
    is_best = best is not None and effect[best] == max(effect) and effect.count(max(effect)) == 1
    return {WRONG: [best is not None and not is_best], NAMED: [is_best]}


def _best_system(leads: Sequence[float], design: Design, rng: np.random.Generator) -> Outcome:
    """Systems with these leads in every bucket of eight attributes."""
    latent, clusters = design.draw(rng)
    names = None if design.clusters is ALONE else [f"{code:05}" for code in clusters.tolist()]
    systems = [
        QUESTIONS.judged(of_system[0], LEVEL + lead, sizes_of(design.n, rng), rng)
        for of_system, lead in zip(latent, leads, strict=True)
    ]
    best = package.best_systems(
        package.cell_table(QUESTIONS.task, systems, names), rng.standard_normal((ATTRIBUTES, design.n))
    )
    is_single = list(leads).count(max(leads)) == 1
    right = [place is not None and leads[place] == max(leads) and is_single for place in best]
    return {WRONG: [place is not None and not good for place, good in zip(best, right, strict=True)], NAMED: right}


def _equal_systems(grid: Grid, rng: np.random.Generator) -> Outcome:
    buckets = package.contrasted_cells(grid.draw([[NONE]] * grid.cells, rng))
    marked = any(bucket.p < 0.05 for bucket in buckets)
    return {FALSE_MARK: [marked], FALSE_TURN: [any(map(package.says_order_turns, buckets))]}


def _tied_in_one_bucket(design: Design, rng: np.random.Generator) -> Outcome:
    """The first system leads by 12 points, except in the first bucket, where both are equal."""
    latent, _ = design.draw(rng)
    columns = rng.standard_normal((1, design.n))
    is_first = columns[0] <= np.quantile(columns[0], 1 / BUCKETS)
    levels = (np.full(design.n, LEVEL), np.where(is_first, LEVEL, LEVEL - 0.12))
    systems = [
        QUESTIONS.judged(of_system[0], level, sizes_of(design.n, rng), rng)
        for of_system, level in zip(latent, levels, strict=True)
    ]
    buckets = package.contrasted_cells([(package.cell_table(QUESTIONS.task, systems, None), columns)])
    return {FALSE_TURN: [any(map(package.says_order_turns, buckets))]}


def _calibration(excess: float, n: int, rng: np.random.Generator) -> Outcome:
    """Confidences between 0.2 and 1 that exceed the chance of being right by `excess`, which is the true error."""
    sure = rng.uniform(0.2, 1.0, n)
    found = package.calibration_of(sure, (rng.random(n) < sure - excess).astype(float))
    low, high, debiased = found.ece_low, found.ece_high, found.ece_debiased
    return {
        OBSERVED: [found.ece / 100 - excess],
        DEBIASED: [None if debiased is None else debiased / 100 - excess],
        COVERED: [None if low is None or high is None else low <= 100 * excess <= high],
    }


def cases() -> Iterator[Case]:
    """Yield all cases; parallel cells are those with articles, as in XQuAD."""
    for clusters, n in ((ALONE, 200), (ALONE, 1000), (SMALL, 200), (ARTICLES, 1000)):
        for what, true, simulate in _simulations(Design(n, clusters)):
            sets = GRIDS if what.startswith(str(CELLS)) else 0
            yield Case(what, true, clusters.name, n, simulate, heavy=True, sets=sets)
    for excess in (0.0, 0.02, 0.1):
        for n in (200, 1000, 5000):
            simulate = partial(_calibration, excess, n)
            yield Case("calibration error over ten bins", f"{100 * excess:g} points", ALONE.name, n, simulate)


def _simulations(design: Design) -> Iterator[tuple[str, str, Callable[[np.random.Generator], Outcome]]]:
    grid = Grid(design, parallel=design.clusters is ARTICLES)
    cells = f"{CELLS} {'parallel ' if grid.parallel else ''}cells"
    yield f"{cells} × {ATTRIBUTES} attributes × 3 metrics", "no effects", partial(_nothing, grid)
    yield f"{cells} × {ATTRIBUTES} attributes × 3 metrics", "a fifth have effects", partial(_mixture, grid)
    pairs = Grid(replace(design, systems=2), parallel=grid.parallel)
    yield f"{cells}, two systems", "equal systems", partial(_equal_systems, pairs)
    yield f"one of {ATTRIBUTES} attributes", "18 points", partial(_trend, design)
    for name, effect in (("equal", NONE), ("best 4 points ahead", SLIGHT), ("two best", TIED), ("three best", STEP)):
        yield f"{BUCKETS} buckets", name, partial(_best_bucket, effect, design)
    for name, leads in (
        ("equal", (0, 0, 0, 0)),
        ("best 6 points ahead", (0.06, 0, 0, 0)),
        ("two best", (0.1, 0.1, 0, 0)),
    ):
        systems = partial(_best_system, leads, replace(design, systems=4))
        yield f"4 systems in {BUCKETS * ATTRIBUTES} buckets", name, systems
    if design.clusters is ALONE:
        tied = partial(_tied_in_one_bucket, replace(design, systems=2))
        yield "two systems, equal in one bucket", "12 points in others", tied
