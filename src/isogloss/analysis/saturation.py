"""Saturation of a benchmark: gap to human performance, and differences that its tests can still detect."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import fsum, sqrt
from statistics import fmean, median

from isogloss.analysis.finding import AnalysisError, Figure, Finding, TidyTable, Value, columns, figure
from isogloss.data.tables import finite_number
from isogloss.figures import counted, score_text
from isogloss.grouping import group_by
from isogloss.languages import published
from isogloss.metrics.estimate import POWER
from isogloss.metrics.student import ENOUGH, LEVEL, t_quantile
from isogloss.results.published_scores import human_overall, human_score, in_table_13
from isogloss.results.views import ScoreView, ViewedScore
from isogloss.scoring.main_score import lower_is_better
from isogloss.scoring.names import language_name
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.registry import canonical, task

# A difference that needs more examples is treated as zero.
_MOST = 10**10


def difference_variance(first: float, second: float, correlation: float = 0.0) -> float:
    """Return the per-example variance of the difference between two systems, from their accuracies, 0..1.

    A correlation of correctness of 0 gives an upper bound, since systems mostly fail on the same examples.
    """
    a, b = first * (1 - first), second * (1 - second)
    return max(0.0, a + b - 2 * correlation * sqrt(a * b))


def detectable_difference(variance: float, n: float) -> float | None:
    """Return the minimum detectable difference, 0..1, at the 5 % level with 80 % power, or None below 20 examples.

    Uses the formula of `Estimate.detectable`, which adds one example that either system may get right.
    """
    if n < ENOUGH:
        return None
    reach = t_quantile((1 + LEVEL) / 2, n - 1) + t_quantile(POWER, n - 1)
    return reach * sqrt(variance / n + 1 / (n + 2) ** 2)


def examples_needed(variance: float, difference: float) -> int | None:
    """Return the number of examples needed to detect a difference, 0..1, or None if it is zero or too small."""
    apart = abs(difference)
    low, high = ENOUGH, _MOST
    if apart == 0 or (detectable_difference(variance, high) or 0) > apart:
        return None
    while low < high:
        middle = (low + high) // 2
        if (detectable_difference(variance, middle) or 0) <= apart:
            high = middle
        else:
            low = middle + 1
    return low


@dataclass(frozen=True, kw_only=True)
class ContestedCell:
    """A task in one language under one regime, with its two best systems.

    Attributes:
        variance: variance of their difference on one example, 0..1; that of two equal systems if there is only one.
        effective: effective number of independent examples.
    """

    regime: str
    task: str
    language: str
    best: ViewedScore
    second: ViewedScore | None
    variance: float
    effective: float

    @property
    def difference(self) -> float | None:
        """Difference of the two best, in points."""
        return None if self.second is None else abs(self.best.value - self.second.value)

    @property
    def detectable(self) -> float | None:
        """Minimum detectable difference, in points."""
        share = detectable_difference(self.variance, self.effective)
        return None if share is None else 100 * share

    @property
    def needed(self) -> int | None:
        """Number of examples needed to separate the two best; None if they are equal or there is only one."""
        if not self.difference or not self.best.n or self.is_bound:
            return None
        examples = examples_needed(self.variance, self.difference / 100)
        # Examples that share a source count for less than one each.
        return None if examples is None else round(examples * self.best.n / self.effective)

    @property
    def told_apart(self) -> bool | None:
        """True if the test can detect the difference of the two best; None if unknown."""
        return _told_apart(self.difference, self.detectable, self.is_bound)

    @property
    def is_bound(self) -> bool:
        """True if `detectable` is an upper bound, several times too large, because a sentence counts as one example."""
        return self.best.error is None and kind_of(task(self.task)).rows != "example"


def _told_apart(difference: float | None, detectable: float | None, is_bound: bool) -> bool | None:
    """Return True if a difference is detectable; None if unknown."""
    if difference is None or detectable is None:
        return None
    return True if difference >= detectable else None if is_bound else False


def saturation(scores: ScoreView, *, noise: str = "", correlation: float = 0.0) -> Finding:
    """Measure the distance of the best system to human performance and gold noise, and what each test can detect.

    Args:
        scores: scores to analyse.
        noise: percentage of wrong gold answers, for all tasks ("3") or by task ("xnli:3,xquad:5").
        correlation: correlation of correctness between two systems; 0 gives an upper bound of `detectable`.
    """
    if not 0 <= correlation < 1:
        raise AnalysisError(f"correlation must be at least 0 and below 1, got {correlation}")
    wrong = _noise(noise)
    cells = list(_cells(scores, correlation))
    if not cells:
        raise AnalysisError("no scores")
    by_task = group_by(cells, lambda cell: (cell.regime, cell.task)).values()
    tables = [
        TidyTable("tasks", "Tasks", _TASK_COLUMNS, [_task_row(scores, wrong, members) for members in by_task]),
        TidyTable("cells", "Tasks and languages", _CELL_COLUMNS, [_cell_row(scores, wrong, cell) for cell in cells]),
        *([_leaderboard_table()] if any(in_table_13(system.name) for system in scores.results.values()) else []),
    ]
    notes = [
        "detectable: minimum detectable difference of two systems at the 5 % level with 80 % power, for a correlation "
        f"of correctness of {correlation:g}; a correlation c scales it by about sqrt(1 - c)",
        "the effective number of examples follows from the score's interval; without one, examples are counted as "
        "independent and scores as proportions of right answers. Partial credit (answers, ranked lists) varies less. A "
        "sentence of many tags is more informative than one example: for POS and NER without intervals, 'detectable' "
        "is an upper bound, three to four times too large where measured, so smaller differences are not judged",
        "detectable average: languages of parallel tests are assumed to fail on the same examples, others to be "
        "independent",
        "human performance is one published figure per task, not measured in each language",
        *scores.notes,
    ]
    return Finding(
        analysis="saturation",
        title="Is the benchmark saturated?",
        reading=_reading(cells, scores),
        tables=tables,
        figures=_figures(cells),
        notes=notes,
    )


def _leaderboard_table() -> TidyTable:
    """Return the history of XTREME's leaderboard, with the distance to our overall human score, and Table 13."""
    human = human_overall("xtreme")
    heads = columns(
        "date system event measure; score:score; to_human:difference = to human; parameters:number = parameters, "
        "millions; monolingual parallel source"
    )
    notes = [
        f"to human: {score_text(human)} overall, the mean over sentence pairs, structured prediction and question "
        "answering of the printed human scores; computed here, no paper prints it",
        "first: at the top on that date; listed: on the leaderboard by that date; dates and scores only where a source "
        "states them; parameters and data are XTREME-R's Table 13",
    ]
    table = TidyTable("leaderboard", "XTREME's leaderboard until April 2021", heads, notes=notes)
    for row in published.table("leaderboard_xtreme"):
        value = float(row["value"]) if row["value"] else None
        ahead = human - value if human is not None and value is not None and row["measure"] == "overall" else None
        facts = in_table_13(row["system"])
        size = float(facts["parameters_millions"]) if facts else None
        data = (facts.get(name) or None for name in ("monolingual_data", "parallel_data"))
        words = (row[name] or None for name in ("date", "system", "event", "measure"))
        table.add(*words, value, ahead, size, *data, row["source"])
    return table


def _noise(text: str) -> Mapping[str, float]:
    """Return the share of wrong gold by task, in points; "" is the default."""
    shares: dict[str, float] = {}
    for part in filter(None, (word.strip() for word in text.split(","))):
        name, _, number = part.rpartition(":")
        value = finite_number(number)
        if value is None or not 0 <= value < 100:
            fix = "Pass a percentage (3), or one per task (xnli:3,xquad:5)"
            raise AnalysisError(f"invalid noise {part[:40]!r}", fix=fix)
        shares[canonical(name) if name else ""] = value
    return shares


def _cells(scores: ScoreView, correlation: float) -> Iterator[ContestedCell]:
    groups = group_by(scores.all_scores(), lambda score: (score.regime, score.task, score.language))
    regimes = list(dict.fromkeys(regime for regime, _, _ in groups))
    for key in sorted(groups, key=lambda key: (regimes.index(key[0]), scores.tasks.index(key[1]), key[2])):
        regime, name, code = key
        best, *others = sorted(groups[key], key=lambda score: score.value, reverse=not lower_is_better(name))
        second = others[0] if others else None
        shares = [min(1.0, max(0.0, score.value / 100)) for score in (best, second or best)]
        variance = difference_variance(shares[0], shares[1], correlation)
        effective = float(best.n)
        if best.error is not None and best.error > 0:
            # The width of the interval tells the number of independent examples.
            share = min(0.99, max(0.01, best.value / 100))
            effective = share * (1 - share) / (best.error / 100) ** 2
        yield ContestedCell(
            regime=regime, task=name, language=code, best=best, second=second, variance=variance, effective=effective
        )


def _ahead(limit: float | None, best: float, name: str) -> float | None:
    """Return the distance from the best system to a limit; positive if there is room to improve."""
    return None if limit is None else best - limit if lower_is_better(name) else limit - best


def _ceiling(wrong: Mapping[str, float], name: str) -> float | None:
    share = wrong.get(name, wrong.get(""))
    return None if share is None else share if lower_is_better(name) else 100 - share


_CELL_COLUMNS = columns(
    "regime task; language = code; name = language; best = best system; score human:score; "
    "to_human:difference = to human; to_noise:difference = to gold noise; second = second; difference:score; "
    "detectable:score = detectable, points; told_apart = separable; n:count = examples; needed:count = examples needed"
)
_TASK_COLUMNS = columns(
    "regime task; languages:count; best = best system; score human:score; to_human:difference = to human; "
    "beyond_human:count = languages above human; to_noise:difference = to gold noise; second; difference:score; "
    "detectable:score = detectable average; told_apart = separable; "
    "cell_detectable:score = median detectable in a language; cells_apart:count = languages separable"
)


def _cell_row(scores: ScoreView, wrong: Mapping[str, float], cell: ContestedCell) -> list[Value]:
    human, value = human_score(cell.task, scores.metrics[cell.task]), cell.best.value
    distances = _ahead(human, value, cell.task), _ahead(_ceiling(wrong, cell.task), value, cell.task)
    second = cell.second.system if cell.second else None
    apart = second, cell.difference, cell.detectable, cell.told_apart, cell.best.n or None, cell.needed
    key = cell.regime, cell.task, cell.language, language_name(cell.language), cell.best.system
    return [*key, value, human, *distances, *apart]


def _task_row(scores: ScoreView, wrong: Mapping[str, float], cells: list[ContestedCell]) -> list[Value]:
    regime, name, codes = cells[0].regime, cells[0].task, [cell.language for cell in cells]
    means = {
        system: fmean(values[code] for code in codes)
        for system in scores.systems
        if scores.results[system].regime == regime and set(codes) <= set(values := scores.values(system, name))
    }
    order = sorted(means, key=lambda system: means[system], reverse=not lower_is_better(name))
    best = order[0] if order else None
    value = means[best] if best else fmean(cell.best.value for cell in cells)
    second = order[1] if len(order) > 1 else None
    apart = abs(value - means[second]) if second else None
    human = human_score(name, scores.metrics[name])
    beyond = [cell for cell in cells if human is not None and (_ahead(human, cell.best.value, name) or 0) <= 0]
    detectable = [cell.detectable for cell in cells if cell.detectable is not None]
    # Each is a multiple of a standard error; errors average if shared, and add in quadrature if independent.
    smallest = fmean(detectable) if len(detectable) == len(cells) else None
    if smallest is not None and not task(name).parallel:
        smallest = sqrt(fsum(difference**2 for difference in detectable)) / len(detectable)
    distances = _ahead(human, value, name), None if human is None else len(beyond)
    told_apart = _told_apart(apart, smallest, any(cell.is_bound for cell in cells))
    by_cell = median(detectable) if detectable else None, sum(cell.told_apart is True for cell in cells)
    key = regime, name, len(cells), best or "best of each language", value, human, *distances
    return [*key, _ahead(_ceiling(wrong, name), value, name), second, apart, smallest, told_apart, *by_cell]


def _figures(cells: list[ContestedCell]) -> list[Figure]:
    figures = []
    if any(cell.best.n and cell.detectable is not None for cell in cells):
        label = "" if len({cell.task for cell in cells}) > 1 else "language"
        about = "Minimum detectable difference of two systems in points, by task and language."
        figures.append(figure("strip", "cells: detectable, task", "Minimum detectable difference", about, label=label))
    about = "Published human performance minus the best system's score in each language, in points."
    return [*figures, figure("strip", "cells: to_human, task", "Distance to human performance", about)]


def _reading(cells: list[ContestedCell], scores: ScoreView) -> str:
    people = [(cell, human) for cell in cells if (human := human_score(cell.task, scores.metrics[cell.task]))]
    sentences = []
    if people:
        gaps = [(_ahead(human, cell.best.value, cell.task) or 0, cell) for cell, human in people]
        beyond = sum(gap <= 0 for gap, _ in gaps)
        gap, nearest = min(gaps, key=lambda item: item[0])
        reached = f"reaches it in {beyond}, by the most in" if beyond else "does not reach it and comes closest in"
        sentences.append(
            f"Human performance is known for {len(gaps)} of {len(cells)} tests (task, language and regime). The best "
            f"system {reached} {nearest.task}/{nearest.language} ({score_text(abs(gap))} points "
            f"{'above' if gap < 0 else 'below'})."
        )
    pairs = [cell for cell in cells if cell.told_apart is not None]
    if pairs:
        apart = sum(cell.told_apart is True for cell in pairs)
        sentences.append(
            f"The difference between the two best systems is at least the minimum detectable difference in {apart} of "
            f"{counted(len(pairs), 'test')}."
        )
        needed = [cell for cell in pairs if not cell.told_apart and cell.needed]
        if needed:
            most = max(needed, key=lambda cell: cell.needed or 0)
            sentences.append(
                f"The others need more examples, {most.task}/{most.language} the most: {most.needed:,} instead of "
                f"{most.best.n:,}."
            )
    unknown = [cell.task for cell in cells if cell.second is not None and cell.told_apart is None]
    if unknown:
        names = ", ".join(dict.fromkeys(unknown))
        sentences.append(f"The detectable difference is unknown for {counted(len(unknown), 'test')} ({names}).")
    sentences.append(
        "An undetectable difference may still exist. A detectable one does not indicate how hard the remaining "
        "examples are."
    )
    return " ".join(sentences)
