"""Variance components of pilots: equal to what `compare` tests with, and near the truth in simulations."""

from collections.abc import Sequence

import numpy as np
import pytest

from isogloss.errors import PredictionError
from isogloss.metrics.statistics import MEAN, FloatArray, Statistics
from isogloss.scoring.cells import Cell
from isogloss.scoring.compare import SystemRuns, compare_runs
from isogloss.scoring.pilots import PilotAssumptions, PlannedScore, planned_scores
from isogloss.scoring.planning import EXAMPLE, LANGUAGE, PilotStudy, StudyGoal, detectable
from isogloss.scoring.request import Request
from isogloss.tasks.kinds import Judgement

XNLI = Request.of(tasks=["xnli"])
FIXED = PilotAssumptions()
CODES = ("en", "de", "sw", "zh")


def cell(rows: FloatArray, code: str = "en", task: str = "xnli", parallel: bool = True, size: int = 1) -> Cell:
    n = len(rows)
    return Cell(
        task=task,
        language=code,
        split="test",
        n=n,
        judgement=Judgement({"accuracy": Statistics(np.asarray(rows, dtype=np.float64)[:, None], MEAN)}),
        units=[f"{row:05}" for row in range(n)] if parallel else None,
        checksum="",
        clusters=[f"{row // size:05}" for row in range(n)] if size > 1 else None,
    )


def system(name: str, runs: Sequence[Sequence[Cell]], names: Sequence[str] = ()) -> SystemRuns:
    return SystemRuns.of(name, runs, [], names=names)


Runs = list[list[Cell]]


def drawn_runs(seed: int, counts: tuple[int, int], n: int = 300) -> tuple[Runs, Runs]:
    """Return runs of two systems with every kind of effect: of examples, languages, seeds, and on each other."""
    rng = np.random.default_rng(seed)
    languages = len(CODES)
    easy = rng.standard_normal(n) + 0.5 * rng.standard_normal((languages, n))
    sides: tuple[Runs, Runs] = ([], [])
    for side, count in zip(sides, counts, strict=True):
        own = easy + 0.7 * rng.standard_normal(n) + 0.5 * rng.standard_normal((languages, n))
        for _ in range(count):
            shift = 0.3 * rng.standard_normal() + 0.2 * rng.standard_normal((languages, 1))
            noise = 0.7 * rng.standard_normal(n) + 0.7 * rng.standard_normal((languages, n))
            rows = (own + noise + shift < 0.7).astype(float)
            side.append([cell(row, code) for row, code in zip(rows, CODES, strict=True)])
    return sides


def methods(seed: int, counts: tuple[int, int]) -> list[SystemRuns]:
    return [system(name, runs) for name, runs in zip(("first", "second"), drawn_runs(seed, counts), strict=True)]


def regular_methods(counts: tuple[int, int]) -> list[SystemRuns]:
    """Return the first methods without a component at its lower limit, zero."""
    return next(
        systems
        for systems in (methods(seed, counts) for seed in range(30))
        if all(component.variance for component in pilot_of(systems).components)
    )


def planned(systems: Sequence[SystemRuns], assumptions: PilotAssumptions = FIXED) -> dict[str, PlannedScore]:
    return {score.name: score for score in planned_scores(systems, XNLI, assumptions)}


def pilot_of(systems: Sequence[SystemRuns], name: str = "xnli", assumptions: PilotAssumptions = FIXED) -> PilotStudy:
    pilot = planned(systems, assumptions)[name].pilot
    assert pilot is not None
    return pilot


@pytest.mark.parametrize("counts", [(1, 1), (4, 4), (3, 6), (4, 1), (2, 2)])
@pytest.mark.parametrize("seed", range(4))
def test_a_study_like_the_pilot_is_that_of_compare(counts: tuple[int, int], seed: int) -> None:
    """The same test gives the same detectable difference and shares, also if components are at their limit, zero."""
    systems = methods(seed, counts)
    compared = compare_runs(*systems, XNLI)
    for contrast in [*compared.tasks, *compared.cells]:
        pilot = pilot_of(systems, contrast.name)
        limit = detectable(pilot, pilot.numbers, StudyGoal(difference=0.01))
        assert (
            limit is None if contrast.detectable is None else 100 * (limit or 0) == pytest.approx(contrast.detectable)
        )
        assert pilot.shares(pilot.numbers) | contrast.shares == pytest.approx(pilot.shares(pilot.numbers))


def test_prompts_and_seeds() -> None:
    names = [f"prompt-{prompt}/seed-{seed}" for prompt in "ab" for seed in range(3)]
    first, second = drawn_runs(3, (6, 1))
    single = system("second", second)
    # Runs in another order have the same components.
    order = [0, 3, 1, 4, 2, 5]
    usual, shuffled = (
        pilot_of([system("first", [first[run] for run in runs], [names[run] for run in runs]), single])
        for runs in (range(6), order)
    )
    assert usual.numbers == {EXAMPLE: (300, 300), LANGUAGE: (4, 4), "prompt": (2, 1), "seed": (3, 1)}
    assert usual.factors == [EXAMPLE, LANGUAGE, "prompt", "seed"]
    others = {(each.factors, each.side): each.variance for each in shuffled.components}
    for each in usual.components:
        assert others.pop((each.factors, each.side)) == pytest.approx(each.variance, abs=1e-12)
    assert not others


def test_components_are_near_the_truth() -> None:
    """Seeds shift all languages by 3 points and single languages by 2; 30 % of the examples are easier for all."""
    rng = np.random.default_rng(0)
    sums: dict[frozenset[str], float] = {}
    sets, seeds, languages, n = 40, 4, 4, 600
    for _ in range(sets):
        runs = []
        easy = np.where(rng.random(n) < 0.3, 0.2, 0.0)
        for _ in range(2 * seeds):
            shift = 0.03 * rng.standard_normal() + 0.02 * rng.standard_normal((languages, 1))
            rows = (rng.random((languages, n)) < 0.6 + shift + easy).astype(float)
            runs.append([cell(row, code, size=1) for row, code in zip(rows, CODES, strict=True)])
        pilot = pilot_of([system("first", runs[:seeds]), system("second", runs[seeds:])])
        for component in pilot.components:
            if component.side != 1:
                sums[component.factors] = sums.get(component.factors, 0.0) + component.variance / sets
    assert sums[frozenset({"seed"})] == pytest.approx(0.03**2, rel=0.3)
    assert sums[frozenset({"seed", LANGUAGE})] == pytest.approx(0.02**2, rel=0.4)
    # Answers are independent given how easy an example is, so their variance is between runs and languages.
    assert sums[frozenset({"seed", LANGUAGE, EXAMPLE})] == pytest.approx(0.22, rel=0.1)
    assert sums[frozenset({EXAMPLE})] < 0.01


def test_one_system_stands_for_two() -> None:
    rng = np.random.default_rng(0)
    rows = (rng.random(500) < 0.8).astype(float)
    alone = [system("only", [[cell(rows)]])]
    variance = {}
    for correlation in (0.0, 0.5):
        pilot = pilot_of(alone, "xnli/en", PilotAssumptions(correlation=correlation))
        [component] = pilot.components
        variance[correlation] = component.variance
    assert variance[0.0] == pytest.approx(2 * rows.var(ddof=1))
    assert variance[0.5] == pytest.approx(rows.var(ddof=1))
    assert planned(alone)["xnli/en"].difference is None


def test_correlation_of_one_system_with_seeds_concerns_single_runs() -> None:
    systems = regular_methods((6, 1))[:1]
    whole, half = (pilot_of(systems, assumptions=PilotAssumptions(correlation=share)) for share in (0.0, 0.1))
    shared = [component for component in whole.components if component.side is None]
    fewer = [component for component in half.components if component.side is None]
    for factors in ({EXAMPLE}, {EXAMPLE, LANGUAGE}):
        before, after = (next(c.variance for c in parts if c.factors == factors) for parts in (shared, fewer))
        run = before / 2 + sum(c.variance for c in whole.components if c.side == 0 and c.factors - {"seed"} == factors)
        assert after == pytest.approx(max(0.0, before - 2 * 0.1 * run))


def test_sources_count_as_units() -> None:
    rng = np.random.default_rng(0)
    easy = np.repeat(rng.random(60) < 0.5, 5)
    rows = [np.where(rng.random(300) < 0.9, easy, ~easy).astype(float), np.ones(300)]
    single, grouped = (
        planned([system(name, [[cell(row, size=size)]]) for name, row in zip("ab", rows, strict=True)])["xnli/en"]
        for size in (1, 5)
    )
    assert (single.sources, grouped.sources) == (300, 60)
    assert (single.source_size, grouped.source_size) == (1, 5)
    assert single.pilot is not None
    assert grouped.pilot is not None
    assert grouped.pilot.components[0].variance > 3 * single.pilot.components[0].variance
    assert grouped.pilot.least(EXAMPLE) == 100


def test_languages_as_a_sample() -> None:
    rng = np.random.default_rng(0)
    codes = ("en", "ar", "sw", "th", "tr", "vi", "zh")  # seven families
    gaps = dict(zip(codes, (-0.1, 0.0, 0.1, 0.2, 0.05, -0.05, 0.15), strict=True))
    first = [cell((rng.random(3000) < 0.5 + gap).astype(float), code) for code, gap in gaps.items()]
    second = [cell((rng.random(3000) < 0.5).astype(float), code) for code in gaps]
    systems = [system("first", [first]), system("second", [second])]
    pilot = pilot_of(systems, assumptions=PilotAssumptions(sampled=True))
    between = {component.factors: component.variance for component in pilot.components}[frozenset({LANGUAGE})]
    assert between == pytest.approx(np.var(list(gaps.values()), ddof=1), rel=0.2)
    assert pilot.language_freedom == pytest.approx(6)
    assert frozenset({LANGUAGE}) not in {component.factors for component in pilot_of(systems).components}


def test_too_few_families_for_a_sample() -> None:
    score = planned(methods(0, (1, 1)), PilotAssumptions(sampled=True))["xnli"]
    assert score.pilot is None
    assert score.reason.startswith(
        "too few languages or families to be a sample: no interval for fewer than 5 families"
    )


def test_few_sources_and_equal_answers() -> None:
    rows = (np.arange(19) % 2).astype(float)
    few = planned([system("a", [[cell(rows)]]), system("b", [[cell(1 - rows)]])])["xnli/en"]
    assert few.pilot is None
    assert few.reason == "19 independent examples; a pilot needs at least 20"
    rows = (np.arange(100) % 2).astype(float)
    equal = planned([system("a", [[cell(rows)]]), system("b", [[cell(rows)]])])["xnli/en"]
    assert equal.pilot is None
    assert equal.bound == pytest.approx(0.0295, abs=0.0001)
    assert pytest.approx(1 - (1 - equal.bound) ** 100) == 0.95


def test_no_shared_cell() -> None:
    rows = np.ones(30)
    with pytest.raises(PredictionError, match="the pilots share no cell"):
        planned([system("a", [[cell(rows, "en")]]), system("b", [[cell(rows, "de")]])])


def test_overall_score() -> None:
    rng = np.random.default_rng(0)
    request = Request.of("xtreme", tasks=["xnli", "pawsx"])
    cells = [(task, code) for task in ("xnli", "pawsx") for code in ("en", "de")]
    systems = [
        system(
            name,
            [[cell((rng.random(200) < 0.7).astype(float), code, task) for task, code in cells] for _ in range(3)],
        )
        for name in ("first", "second")
    ]
    scores = list(planned_scores(systems, request, FIXED))
    assert [(score.level, score.name) for score in scores[:3]] == [
        ("overall", request.suite.rule),
        ("task", "xnli"),
        ("task", "pawsx"),
    ]
    top = scores[0].pilot
    assert top is not None
    assert top.factors == [EXAMPLE, "seed"]
    assert top.numbers[EXAMPLE] == (200, 200)
    contrast = compare_runs(*systems, request).overall
    assert contrast is not None
    assert scores[0].difference == pytest.approx(contrast.difference / 100)
