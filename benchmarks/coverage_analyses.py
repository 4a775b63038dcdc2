"""Cases of the analyses: related languages as a sample, tests without answers, best checkpoints, noisy small cells."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
from coverage_outcomes import COVERAGE, DIFFERENCE, WIDTH, Case, Outcome
from coverage_simulator import FloatArray

from isogloss.analysis import correlation
from isogloss.analysis.checkpoint_scores import CheckpointScores, SeedScores
from isogloss.analysis.checkpoint_selection import checkpoint_selection
from isogloss.analysis.families import families
from isogloss.analysis.finding import TidyTable
from isogloss.analysis.ranking_views import gini
from isogloss.analysis.saturation import saturation
from isogloss.analysis.transfer_gap import transfer_gap
from isogloss.languages import language
from isogloss.results.system import CellResult, SystemResult
from isogloss.results.views import ScoreView, score_view
from isogloss.scoring.results import Number
from isogloss.tasks.registry import task as find_task
from isogloss.tasks.suites import SUITES

# XTREME-R's languages except English, of 16 families, 21 of them Indo-European; and small sets of five families.
XTREME_R = sorted(
    {code for name in SUITES["xtreme-r"].tasks for code in SUITES["xtreme-r"].languages_of(name)} - {"en"}
)
SETS_OF_LANGUAGES = {
    "XTREME-R": XTREME_R,
    "4, 3, 1, 1, 1 of a family": "de fr ru hi fi et hu ja ko th".split(),
    "2 of each of 5 families": "de hi fi hu ar he zh my ta te".split(),
}
MEAN, SPREAD = 60.0, 8.0
APART = "the two best called different although equal"
FOUND = "the two best called different at 80 % power"
BETTER = "a rule called better than English dev, all checkpoints equal"
RUNS_DIFFER = "runs called different in some language, all equal"
NOT_CHANCE = "English dev called better or worse than chance in some language, all equal"
BEST_GAIN, FITTED_GAIN = "gain of the best test score, points", "gain of the cross-fitted best score, points"
RAW_ERROR, SHRUNK_ERROR = "mean squared error of measured scores", "mean squared error of shrunk scores"
HELD_GINI = "interval of the corrected Gini coefficient holds the true one"
RAW_WORST, SHRUNK_WORST = "worst ten found by measured scores", "worst ten found by shrunk scores"
RAW_GINI, TRUE_GINI = "bias of the measured Gini coefficient, %", "bias of the corrected Gini coefficient, %"


def cases() -> Iterator[Case]:
    """Yield the cases of all analyses."""
    for name, codes in SETS_OF_LANGUAGES.items():
        for related in (0.0, 0.3, 0.5, 0.8):
            level = f"related {related:g}"
            simulations: dict[str, Callable[[np.random.Generator], Outcome]] = {
                "mean of other languages": partial(_mean_of_others, codes, related),
                "correlation of 0 across languages": partial(_correlation, codes, related, 0.0),
                "correlation of 0.6 across languages": partial(_correlation, codes, related, 0.6),
            }
            if name == "XTREME-R":
                simulations["difference of scripts"] = partial(_difference, codes, related)
                simulations["mean of Indo-European"] = partial(_mean_of_family, codes, related)
            for what, simulate in simulations.items():
                yield Case(what, level, name, len(codes), simulate)
    for n in (200, 1000, 5000):
        yield Case("two systems, accuracies only", "0.8", "none", n, partial(_two_best, n))
    for checkpoints in (10, 25):
        yield Case(
            f"{checkpoints} equal checkpoints, 5 runs",
            "0.7",
            "none",
            200,
            partial(_checkpoints, checkpoints, 200),
            True,
        )
    for systems, small in ((1, 20), (3, 20), (3, 200)):
        what = f"{systems} system{'s' * (systems > 1)}, {small} to 2,000 examples"
        yield Case(what, "0.65 ± 0.085", "none", 40, partial(_noisy_cells, (3.0,) * systems, small), sets=200)
    for own in ((1.0, 1.0, 10.0), (1.0, 1.0, 1.0, 1.0, 10.0)):
        what = f"{len(own)} systems, one uneven, 20 to 2,000 examples"
        yield Case(what, "0.65 ± 0.085", "none", 40, partial(_noisy_cells, own, 20), sets=200)


def _effects(codes: Sequence[str], related: float, rng: np.random.Generator) -> FloatArray:
    """Return effects of variance 1 with this correlation within families."""
    names = [language(code).family for code in codes]
    of_family = dict(zip(dict.fromkeys(names), rng.standard_normal(len(codes)), strict=False))
    shared = np.array([of_family[name] for name in names])
    return sqrt(related) * shared + sqrt(1 - related) * rng.standard_normal(len(codes))


def _view(scores: Mapping[str, Mapping[str, float]], name: str = "udpos", n: int = 0) -> ScoreView:
    """Return scores of systems by language, without intervals."""
    task = find_task(name)
    return score_view(
        [
            SystemResult(
                name=system,
                regime="zero-shot",
                cells={
                    (task.id, code): CellResult(
                        task=task,
                        code=code,
                        language=language(code),
                        metrics={task.main[0]: Number(value, None, None, n)},
                    )
                    for code, value in values.items()
                },
            )
            for system, values in scores.items()
        ]
    )


def _row(table: TidyTable, **where: object) -> dict[str, Any]:
    return next(row for row in table.records() if all(row[key] == value for key, value in where.items()))


def _held(low: float | None, high: float | None, true: float, counted: str = COVERAGE) -> Outcome:
    if low is None or high is None:
        return {counted: [None], WIDTH: [None]}
    return {counted: [low <= true <= high], WIDTH: [(high - low) / 100]}


def _mean_of_others(codes: Sequence[str], related: float, rng: np.random.Generator) -> Outcome:
    values = dict(zip(codes, (MEAN + SPREAD * _effects(codes, related, rng)).tolist(), strict=True))
    row = _row(transfer_gap(_view({"m": {"en": 90.0, **values}})).table("gaps"))
    return _held(row["others_low"], row["others_high"], MEAN)


def _difference(codes: Sequence[str], related: float, rng: np.random.Generator) -> Outcome:
    values = dict(zip(codes, (MEAN + SPREAD * _effects(codes, related, rng)).tolist(), strict=True))
    row = _row(families(_view({"m": values})).table("contrasts"), contrast="Latin script - other scripts")
    return _held(row["difference_low"], row["difference_high"], 0.0, DIFFERENCE)


def _mean_of_family(codes: Sequence[str], related: float, rng: np.random.Generator) -> Outcome:
    """Languages of one family are correlated within its branches; the true mean is that of the family."""
    inside = [code for code in codes if language(code).family == "Indo-European"]
    names = [language(code).branch for code in inside]
    of_branch = dict(zip(dict.fromkeys(names), rng.standard_normal(len(inside)), strict=False))
    effects = sqrt(related) * np.array([of_branch[name] for name in names])
    effects += sqrt(1 - related) * rng.standard_normal(len(inside))
    values = dict(zip(inside, (MEAN + SPREAD * effects).tolist(), strict=True))
    row = _row(families(_view({"m": values})).table("groups"), grouping="family", group="Indo-European")
    return _held(row["low"], row["high"], MEAN)


def _correlation(codes: Sequence[str], related: float, true: float, rng: np.random.Generator) -> Outcome:
    column, noise = (_effects(codes, related, rng) for _ in range(2))
    names = [language(code).family for code in codes]
    found = correlation.pearson(column, true * column + sqrt(1 - true**2) * noise, names)
    return _held(found.low, found.high, true)


def _two_best(n: int, rng: np.random.Generator) -> Outcome:
    """Two systems that are right on the same examples more often than by chance; then two that differ."""
    outcome: dict[str, Sequence[float | None]] = {}
    gap = 2.8 * sqrt(2 * 0.8 * 0.2 / n)
    for counted, apart in ((APART, 0.0), (FOUND, gap)):
        shared = rng.standard_normal(n)
        limits = 0.8416 + np.array([0.0, -apart / 0.28])  # 80 % right, and fewer; 0.28 is the density there
        right = [
            100 * float((sqrt(0.5) * shared + sqrt(0.5) * rng.standard_normal(n) < limit).mean()) for limit in limits
        ]
        table = saturation(_view({"a": {"de": right[0]}, "b": {"de": right[1]}}, "xnli", n)).table("cells")
        outcome[counted] = [_row(table)["told_apart"]]
    return outcome


def _checkpoints(checkpoints: int, n: int, rng: np.random.Generator) -> Outcome:
    runs = [_equal_run(seed, checkpoints, n, rng) for seed in range(5)]
    sizes = dict.fromkeys(((code, "test") for code in ("en", "de", "sw")), n)
    finding = checkpoint_selection(CheckpointScores(tuple(runs), sizes))
    rows = {row["rule"]: row for row in finding.table("rules").records()}
    guides = [str(row["guide"]) for row in finding.table("languages").records()]
    rules = [row for name, row in rows.items() if not str(name).startswith("best test") and row["gain"] is not None]

    def is_better(row: Mapping[str, Any]) -> bool:
        sure = row["p"] is not None and row["p"] < 0.05 if "p" in row else (row["low"] or 0) > 0
        return sure and row["gain"] > 0

    fitted = rows.get("best test, cross-fitted")
    return {
        BETTER: [any(map(is_better, rules))],
        RUNS_DIFFER: [any(row["significant"] for row in finding.table("variation").records())],
        NOT_CHANCE: [any("misleads" in guide or "tracks" in guide for guide in guides)],
        BEST_GAIN: [rows["best test"]["gain"] / 100],
        FITTED_GAIN: [fitted and fitted["gain"] / 100],
        COVERAGE: [fitted and fitted["low"] <= 0 <= fitted["high"]],
    }


def _equal_run(seed: int, checkpoints: int, n: int, rng: np.random.Generator) -> SeedScores:
    """Return checkpoints that are right in 70 % of new examples, in three languages."""
    values: dict[tuple[str, str], FloatArray] = {}
    right = {code: (rng.random((checkpoints, n)) < 0.7).astype(float) for code in ("en", "de", "sw")}
    for code, rows in right.items():
        values[code, "test"] = 100 * rows.mean(axis=1)
        values[code, "dev"] = 100 * (rng.random((checkpoints, n)) < 0.7).mean(axis=1)
    steps = tuple(range(1, checkpoints + 1))
    try:
        from isogloss.analysis.crossfit import half_scores, source_halves
        from isogloss.metrics.statistics import MEAN, Statistics
    except ImportError:  # an earlier version, to compare with
        return SeedScores(seed, steps, values)
    halves = source_halves([f"{row}" for row in range(n)])
    by_half = {
        code: np.stack([half_scores(Statistics(row[:, None], MEAN), halves) for row in rows])
        for code, rows in right.items()
    }
    return SeedScores(seed, steps, values, by_half)


def _noisy_cells(own: Sequence[float], small: int, rng: np.random.Generator) -> Outcome:
    """Languages with test sets of different sizes; half of the errors of two systems are shared.

    `own` has the standard deviation of the effects of single languages on each system.
    """
    systems = len(own)
    true = 65 + 8 * rng.standard_normal(40) + np.array(own)[:, None] * rng.standard_normal((systems, 40))
    errors = 45 / np.sqrt(np.exp(rng.uniform(np.log(small), np.log(2000), 40)))
    noise = errors * (rng.standard_normal(40) + rng.standard_normal((systems, 40))) / sqrt(2)
    raw = {RAW_ERROR: [float((noise**2).mean()) / 100], RAW_GINI: [_bias(gini(true + noise), gini(true))]}
    try:
        from isogloss.metrics.shrinkage import shrink
    except ImportError:
        return raw
    found = shrink(true + noise, np.broadcast_to(errors, true.shape), draws=300)
    held = (found.low <= true) & (true <= found.high)
    drawn = gini(found.draws.reshape(-1, 40)).reshape(-1, systems)
    low, high = np.quantile(drawn, (0.025, 0.975), axis=0)
    corrected, in_interval = drawn.mean(axis=0), (low <= gini(true)) & (gini(true) <= high)
    worst = np.argsort(true, axis=1)[:, :10]
    return {
        **raw,
        COVERAGE: held.ravel().astype(float).tolist(),
        SHRUNK_ERROR: [float(((found.values - true) ** 2).mean()) / 100],
        TRUE_GINI: [_bias(corrected, gini(true))],
        HELD_GINI: in_interval.astype(float).tolist(),
        RAW_WORST: [_common(worst, true + noise)],
        SHRUNK_WORST: [_common(worst, found.values)],
    }


def _common(worst: npt.NDArray[np.int64], scores: FloatArray) -> float:
    """Return the share of the truly worst ten languages among the lowest ten scores of each system."""
    lowest = np.argsort(scores, axis=1)[:, :10]
    return float(np.mean([np.isin(one, other).mean() for one, other in zip(worst, lowest, strict=True)]))


def _bias(found: FloatArray, true: FloatArray) -> float:
    return float(((found - true) / true).mean())
