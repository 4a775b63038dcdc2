"""Dispersion of scores over languages, and worst languages: as measured, and corrected for noise of small test sets."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from isogloss.analysis.finding import AnalysisError, Finding, TidyTable, Value, columns, figure, first_few, require
from isogloss.analysis.ranking_views import WORST, gini, worst_mean
from isogloss.figures import counted
from isogloss.grouping import group_by
from isogloss.metrics.shrinkage import CORRELATION, DRAWS, FEWEST_LANGUAGES, ShrunkScores, shrink
from isogloss.metrics.statistics import FloatArray
from isogloss.metrics.student import LEVEL
from isogloss.results.views import ScoreView, ViewedScore, standard_error
from isogloss.scoring.main_score import lower_is_better
from isogloss.scoring.names import language_name
from isogloss.tasks.registry import task as find_task

# Numbers of a posterior sample that fit into memory.
_MOST_NUMBERS = 10_000_000
# Languages more likely among the worst than not are listed with them.
_LIKELY = 0.5
# Decimals of a Gini coefficient; more are rounding errors.
_DIGITS = 9
# Maximum number of systems in a chart.
MOST_DRAWN = 6


@dataclass(frozen=True, eq=False, kw_only=True)
class LanguageScores:
    """Scores of systems of one regime on one task, in the languages all of them have; higher is better.

    Attributes:
        scores: cells (systems, languages).
        shrunk: estimates of the true scores, None if a score has no interval or there are too few languages.
        reason: why there are no estimates.
    """

    task: str
    regime: str
    systems: list[str]
    languages: Sequence[str]
    scores: Sequence[Sequence[ViewedScore]]
    shrunk: ShrunkScores | None
    reason: str

    @property
    def values(self) -> FloatArray:
        """Measured scores (systems, languages); error rates as 100 minus the rate."""
        return _values(self.scores)

    @property
    def worst(self) -> int:
        """Number of worst languages: ten, or half of fewer than twenty."""
        return min(WORST, len(self.languages) // 2)


def _values(scores: Sequence[Sequence[ViewedScore]]) -> FloatArray:
    values = np.array([[score.value for score in row] for row in scores])
    return 100 - values if lower_is_better(scores[0][0].task) else values


def dispersion(scores: ScoreView, *, correlation: float = CORRELATION, seed: int = 0) -> Finding:
    """Measure inequality over languages and the worst languages, as measured and corrected for noise.

    Args:
        scores: scores to analyse; corrections need scores with intervals.
        correlation: assumed correlation of the errors of two systems on the same examples.
        seed: random seed of the draws behind intervals and probabilities.
    """
    require(scores, languages=2, what="a dispersion")
    if not 0 <= correlation < 1:
        raise AnalysisError(f"correlation must be at least 0 and below 1, got {correlation}")
    if seed < 0:
        raise AnalysisError(f"seed must be 0 or more, got {seed}")
    groups = _groups(scores, correlation, seed)
    systems = TidyTable("systems", "Inequality over languages", _SYSTEM_COLUMNS)
    worst = TidyTable("worst", "Worst languages", _WORST_COLUMNS)
    cells = TidyTable("cells", "Scores by language", _CELL_COLUMNS, shown=20)
    for group in groups:
        for index, system in enumerate(group.systems):
            key = group.task, group.regime, system
            systems.add(*key, *_system_row(group, index))
            _add_languages(cells, worst, group, index)
    few = [
        f"raw figures only, {reason}: {', '.join(dict.fromkeys(group.task for group in some))}"
        for reason, some in group_by(groups, lambda group: group.reason).items()
        if reason
    ]
    about = "Estimated score of each language by its measured score; large test sets stay on the diagonal."
    chart = figure("scatter", "cells: raw, shrunk, system, task", "Shrunk and measured scores", about, label="language")
    has_estimates = any(group.shrunk is not None for group in groups)
    return Finding(
        analysis="dispersion",
        title="Dispersion over languages",
        reading=_reading(systems, worst),
        tables=[systems, worst, cells],
        figures=[chart] if has_estimates and len(scores.systems) <= MOST_DRAWN else [],
        notes=[*NOTES, _ASSUMED.format(correlation), *few, *scores.notes],
    )


NOTES = (
    f"worst languages of a system: {WORST}, or half of its languages if there are fewer than {2 * WORST}; error rates "
    "are converted to 100 minus the rate",
    "Gini: half the mean absolute difference of two languages, relative to the mean; 0 if all are equal. Noise of "
    "small test sets inflates it, and puts languages among the worst by chance",
    "shrunk: empirical-Bayes estimate from the model score = system mean + language effect + (system, language) effect "
    "+ error. Language effects have one variance, (system, language) effects one per system, since one system may be "
    "even where another is not; both are estimated from all languages, the variance of errors from the intervals. "
    "Shrunk scores are shown beside measured ones, not instead of them",
    "intervals and probabilities are those of the posterior distribution, for these languages and new test examples",
)
_ASSUMED = (
    "assumed: errors of two systems in a language have a correlation of {:g}, since they answer the same examples; "
    "languages of a parallel test share the error that the interval of the task's average implies, none without one"
)
_SYSTEM_COLUMNS = columns(
    "task regime system; languages:count; gini:number = Gini, measured; corrected±:number = Gini, corrected; "
    "deviation:score = standard deviation, measured; true_deviation:score = corrected; noise:share = expected share of "
    "noise in the variance; worst:count = worst languages; worst_mean:score = their mean, measured; "
    "worst_corrected±:score = corrected"
)
_CELL_COLUMNS = columns(
    "task regime system; language = code; name = language; n:count = examples; raw:score = measured; "
    "error:score = standard error; shrunk±:score"
)
_WORST_COLUMNS = columns(
    "task regime system; language = code; name = language; raw:score = measured; shrunk±:score; "
    "rank:count = rank from below, measured; shrunk_rank:count = rank, shrunk; "
    "probability:share = probability of being among the worst"
)


def _groups(scores: ScoreView, correlation: float, seed: int) -> list[LanguageScores]:
    """Return systems that share a task, a regime and their languages, with estimates if possible."""
    cells = [
        [cells[code] for code in sorted(cells)]
        for task in scores.tasks
        for system in scores.systems
        if len(cells := scores.scores[system].get(task, {})) > 1
    ]
    if not cells:
        raise AnalysisError("no system has a task in two languages", fix="Add languages")

    def alike(row: Sequence[ViewedScore]) -> tuple[str, str, tuple[str, ...], str]:
        return row[0].task, row[0].regime, tuple(score.language for score in row), _reason(row)

    return [
        LanguageScores(
            task=task,
            regime=regime,
            systems=[row[0].system for row in rows],
            languages=languages,
            scores=rows,
            shrunk=None if reason else _shrunk(scores, rows, correlation, seed),
            reason=reason,
        )
        for (task, regime, languages, reason), rows in group_by(cells, alike).items()
    ]


def _reason(cells: Sequence[ViewedScore]) -> str:
    """Return why the scores of a system cannot be corrected for noise, "" if they can."""
    missing = [score.language for score in cells if score.error is None]
    if len(cells) < FEWEST_LANGUAGES:
        return f"fewer than {FEWEST_LANGUAGES} languages"
    if missing:
        return "no intervals" if len(missing) == len(cells) else f"no interval in {', '.join(missing)}"
    return ""


def _shrunk(scores: ScoreView, cells: Sequence[Sequence[ViewedScore]], correlation: float, seed: int) -> ShrunkScores:
    values = _values(cells)
    errors = np.array([[score.error or 0.0 for score in row] for row in cells])
    shared = float(np.mean([_shared_variance(scores, row) for row in cells]))
    draws = max(200, min(DRAWS, _MOST_NUMBERS // values.size))
    shrunk = shrink(values, errors, shared=shared, correlation=correlation, draws=draws, seed=seed)
    # Normal distributions leave the scale; scores do not.
    clipped = {name: getattr(shrunk, name).clip(0, 100) for name in ("values", "low", "high", "draws")}
    return replace(shrunk, **clipped)


def _shared_variance(scores: ScoreView, cells: Sequence[ViewedScore]) -> float:
    """Return the variance of the errors that the languages of a parallel test have in common.

    It follows from the recorded interval of the task's average: translations fail together, so the average varies more
    than one of independent languages would.
    """
    task, count = cells[0].task, len(cells)
    average = scores.results[cells[0].system].averages.get(task) if find_task(task).parallel else None
    error = None if average is None else standard_error(average.low, average.high)
    mean = sum(score.value for score in cells) / count
    if average is None or error is None or abs(average.value - mean) > 1e-6:
        return 0.0  # no average, or one over other languages
    own = [(score.error or 0.0) ** 2 for score in cells]
    covariance = (count**2 * error**2 - sum(own)) / (count * (count - 1))
    return float(min(max(0.0, covariance), *own))


def _ends(draws: FloatArray) -> tuple[float, float]:
    low, high = np.quantile(draws, ((1 - LEVEL) / 2, (1 + LEVEL) / 2)).tolist()
    return low, high


def _system_row(group: LanguageScores, index: int) -> list[Value]:
    """Return the number of languages, and inequality and worst languages of a system, measured and corrected."""
    values = group.values[index]
    variance, worst = float(values.var(ddof=1)), float(worst_mean(values, group.worst))
    corrected: list[Value] = [None] * 3
    deviations: list[Value] = [None] * 2
    of_worst: list[Value] = [None] * 3
    if group.shrunk is not None:
        drawn = group.shrunk.draws[:, index]
        ginis, means = gini(drawn), worst_mean(drawn, group.worst)
        true, noise = float(drawn.var(axis=1, ddof=1).mean()), float(group.shrunk.noise[index])
        corrected = [round(end, _DIGITS) for end in (float(ginis.mean()), *_ends(ginis))]
        of_worst = [float(means.mean()), *_ends(means)]
        deviations = [sqrt(true), noise / (noise + true) if noise else 0.0]
    spread = [round(float(gini(values)), _DIGITS), *corrected, sqrt(variance), *deviations]
    return [len(group.languages), *spread, group.worst, worst, *of_worst]


def _add_languages(cells: TidyTable, worst: TidyTable, group: LanguageScores, index: int) -> None:
    """Add the languages of a system to the table of cells, and the worst ones to theirs.

    The worst are those among the lowest as measured or shrunk, and those that are more likely among them than not.
    """
    values, shrunk = group.values[index], group.shrunk
    count = len(values)
    estimates = values if shrunk is None else shrunk.values[index]
    ranks, shrunk_ranks = (np.argsort(np.argsort(each, kind="stable")) + 1 for each in (values, estimates))
    chances = np.full(count, np.nan)
    if shrunk is not None:
        order = np.argsort(np.argsort(shrunk.draws[:, index], axis=1), axis=1)
        chances = (order < group.worst).mean(axis=0)
    for column in np.argsort(estimates, kind="stable").tolist():
        score, key = group.scores[index][column], (group.task, group.regime, group.systems[index])
        name = score.language, language_name(score.language)
        estimate: list[Value] = [None] * 3
        further: list[Value] = [None] * 2
        if shrunk is not None:
            estimate = [float(each[index, column]) for each in (shrunk.values, shrunk.low, shrunk.high)]
            further = [int(shrunk_ranks[column]), float(chances[column])]
        cells.add(*key, *name, score.n or None, float(values[column]), score.error, *estimate)
        if min(ranks[column], shrunk_ranks[column]) <= group.worst or chances[column] > _LIKELY:
            worst.add(*key, *name, float(values[column]), *estimate, int(ranks[column]), *further)


def _reading(systems: TidyTable, worst: TidyTable) -> str:
    sentences = []
    members = group_by(worst.records(), lambda row: (row["task"], row["system"]))
    for row in systems.records():
        measured, corrected = float(row["gini"] or 0), row["corrected"]
        where = f"{row['system']} on {row['task']} ({counted(int(row['languages'] or 0), 'language')})"
        if not isinstance(corrected, float):
            sentences.append(f"{where} has a Gini coefficient of {measured:.3f}, not corrected for noise.")
            continue
        low, high = (float(row[f"corrected_{end}"] or 0) for end in ("low", "high"))
        listed = members[row["task"], row["system"]]
        sure = sum(float(each["probability"] or 0) >= LEVEL for each in listed)
        noise = f"about {100 * float(row['noise'] or 0):.0f} % of the variance"
        sentences.append(
            f"{where} has a Gini coefficient of {measured:.3f} as measured and {corrected:.3f} ({low:.3f} to "
            f"{high:.3f}) without noise, which is {noise}. {sure} of its "
            f"{row['worst']} worst languages {'is' if sure == 1 else 'are'} so with a probability of "
            f"{100 * LEVEL:.0f} % or more."
        )
    few = " A language at the end of a list of the worst may be there by chance: use its probability, not its rank."
    return first_few(sentences) + few
