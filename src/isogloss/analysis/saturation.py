"""Saturation of a benchmark: gap to human performance, tests of the two best systems, and sizes for planning."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, sqrt
from pathlib import Path
from statistics import fmean, median

from isogloss.analysis.finding import AnalysisError, Figure, Finding, TidyTable, Value, columns, figure
from isogloss.analysis.score_tests import PairedAnswers, mean_difference_p, unpaired_p
from isogloss.data.tables import finite_number
from isogloss.figures import counted, score_text
from isogloss.grouping import group_by
from isogloss.languages import published
from isogloss.metrics.planning import detectable_difference, difference_variance, examples_needed
from isogloss.metrics.significance import holm
from isogloss.metrics.student import ALPHA
from isogloss.results.published_scores import human_overall, human_score, in_table_13
from isogloss.results.views import ScoreView, ViewedScore
from isogloss.scoring.main_score import lower_is_better
from isogloss.scoring.names import language_name
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.registry import canonical, task

# Difference to plan a test set for, in points.
PLANNED = 1.0
PAIRED, UNPAIRED = "paired", "unpaired"


@dataclass(frozen=True, kw_only=True)
class ContestedCell:
    """A task in one language under one regime, with its two best systems.

    Attributes:
        p: p-value of their difference, None if unknown.
        test: "paired" if answers were compared, otherwise "unpaired"; "" without a test.
        variance: variance of their difference on one example, 0..1, at the assumed correlation; that of two equal
            systems if there is only one.
        effective: effective number of independent examples.
    """

    regime: str
    task: str
    language: str
    best: ViewedScore
    second: ViewedScore | None
    p: float | None
    test: str
    variance: float
    effective: float

    @property
    def difference(self) -> float | None:
        """Difference of the two best, in points."""
        return None if self.second is None else abs(self.best.value - self.second.value)

    @property
    def detectable(self) -> float | None:
        """Minimum detectable difference of two such systems, in points, for planning."""
        share = detectable_difference(self.variance, self.effective)
        return None if share is None else 100 * share

    @property
    def needed(self) -> int | None:
        """Number of examples needed to detect `PLANNED` points, for planning; None if unknown."""
        if not self.best.n or self.is_bound:
            return None
        examples = examples_needed(self.variance, PLANNED / 100)
        # Examples that share a source count for less than one each.
        return None if examples is None else round(examples * self.best.n / self.effective)

    @property
    def told_apart(self) -> bool | None:
        """True if the two best differ significantly; None if unknown."""
        return _told_apart(self.p, self.test, self.is_bound)

    @property
    def is_bound(self) -> bool:
        """True if the error of a score is an upper bound, because a sentence of many tags counts as one example."""
        return self.best.error is None and kind_of(task(self.task)).rows != "example"


def _told_apart(p: float | None, test: str, is_bound: bool) -> bool | None:
    """Return True for a significant difference; None if it is unknown, also for a test with too large an error."""
    if p is None:
        return None
    return True if p < ALPHA else None if is_bound and test == UNPAIRED else False


def saturation(
    scores: ScoreView, *, noise: str = "", correlation: float = 0.0, data: str | Path | None = None
) -> Finding:
    """Measure the distance of the best system to human performance and gold noise, and test the two best systems.

    Args:
        scores: scores to analyse.
        noise: percentage of wrong gold answers, for all tasks ("3") or by task ("xnli:3,xquad:5").
        correlation: correlation of correctness between two systems, for planning; 0 gives an upper bound of
            `detectable`. Tests do not use it.
        data: data folder; with it, systems read from folders with predictions are compared by paired tests.
    """
    if not 0 <= correlation < 1:
        raise AnalysisError(f"correlation must be at least 0 and below 1, got {correlation}")
    wrong = _noise(noise)
    answers = PairedAnswers(scores, None if data is None else Path(data))
    cells = list(_cells(scores, answers, correlation))
    if not cells:
        raise AnalysisError("no scores")
    by_task = group_by(cells, lambda cell: (cell.regime, cell.task)).values()
    tables = [
        TidyTable("tasks", "Tasks", _TASK_COLUMNS, [_task_row(scores, answers, wrong, members) for members in by_task]),
        TidyTable("cells", "Tasks and languages", _CELL_COLUMNS, [_cell_row(scores, wrong, cell) for cell in cells]),
        *([_leaderboard_table()] if any(in_table_13(system.name) for system in scores.results.values()) else []),
    ]
    notes = [
        "p: two-sided test of the two best systems. Paired where the answers of both could be judged; otherwise from "
        "the intervals of the scores or, without any, Fisher's exact test of two proportions. These unpaired tests are "
        "conservative: systems fail on the same examples, and partial credit (answers, ranked lists) varies less than "
        "right or wrong. Without intervals, however, examples that share an article or premise count as independent",
        "a sentence of many tags is more informative than one example: for POS and NER without intervals, differences "
        "that are not significant are not judged",
        "separable: p < 0.05 for this pair. A difference that is not significant may still exist",
        "mean over languages: languages of parallel tests are assumed to fail on the same examples, others to be "
        "independent",
        "planning: minimum difference of two systems that such a test detects with 80 % power at the 5 % level, and "
        f"number of examples to detect {PLANNED:g} point, for a correlation of correctness of {correlation:g}; a "
        "correlation c scales the difference by about sqrt(1 - c). They say nothing about the systems compared here",
        "human performance is one published figure per task, not measured in each language",
        *(f"no paired test: {problem}" for problem in answers.problems),
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


def _cells(scores: ScoreView, answers: PairedAnswers, correlation: float) -> Iterator[ContestedCell]:
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
        p, test = (None, "") if second is None else _tested(answers, [best], [second])
        yield ContestedCell(
            regime=regime,
            task=name,
            language=code,
            best=best,
            second=second,
            p=p,
            test=test,
            variance=variance,
            effective=effective,
        )


def _tested(
    answers: PairedAnswers, first: Sequence[ViewedScore], second: Sequence[ViewedScore]
) -> tuple[float | None, str]:
    """Return the p-value of two systems in a language, or on average over several, and the kind of test."""
    names = first[0].system, second[0].system, first[0].task
    p = answers.p_value(*names, [score.language for score in first])
    if p is not None:
        return p, PAIRED
    p = unpaired_p(first[0], second[0]) if len(first) == 1 else mean_difference_p(first, second)
    return p, "" if p is None else UNPAIRED


def _ahead(limit: float | None, best: float, name: str) -> float | None:
    """Return the distance from the best system to a limit; positive if there is room to improve."""
    return None if limit is None else best - limit if lower_is_better(name) else limit - best


def _ceiling(wrong: Mapping[str, float], name: str) -> float | None:
    share = wrong.get(name, wrong.get(""))
    return None if share is None else share if lower_is_better(name) else 100 - share


_CELL_COLUMNS = columns(
    "regime task; language = code; name = language; best = best system; score human:score; "
    "to_human:difference = to human; to_noise:difference = to gold noise; second; difference:score; p:p; test; "
    "told_apart = separable; n:count = examples; detectable:score = planning: detectable, points; "
    f"needed:count = planning: examples for {PLANNED:g} point"
)
_TASK_COLUMNS = columns(
    "regime task; languages:count; best = best system; score human:score; to_human:difference = to human; "
    "beyond_human:count = languages above human; to_noise:difference = to gold noise; second; difference:score; p:p; "
    "test; told_apart = separable; cells_apart:count = languages separable; "
    "detectable:score = planning: detectable average; cell_detectable:score = planning: median in a language"
)


def _cell_row(scores: ScoreView, wrong: Mapping[str, float], cell: ContestedCell) -> list[Value]:
    human, value = human_score(cell.task, scores.metrics[cell.task]), cell.best.value
    distances = _ahead(human, value, cell.task), _ahead(_ceiling(wrong, cell.task), value, cell.task)
    second = cell.second.system if cell.second else None
    planning = cell.best.n or None, cell.detectable, cell.needed
    apart = second, cell.difference, cell.p, cell.test or None, cell.told_apart, *planning
    key = cell.regime, cell.task, cell.language, language_name(cell.language), cell.best.system
    return [*key, value, human, *distances, *apart]


def _task_row(
    scores: ScoreView, answers: PairedAnswers, wrong: Mapping[str, float], cells: list[ContestedCell]
) -> list[Value]:
    regime, name, codes = cells[0].regime, cells[0].task, [cell.language for cell in cells]
    means = {
        system: fmean(values[code] for code in codes)
        for system in scores.systems
        if scores.results[system].regime == regime and set(codes) <= set(values := scores.values(system, name))
    }
    order = sorted(means, key=lambda system: means[system], reverse=not lower_is_better(name))
    best, second = (*order, None, None)[:2]
    value = means[best] if best else fmean(cell.best.value for cell in cells)
    human = human_score(name, scores.metrics[name])
    beyond = [cell for cell in cells if human is not None and (_ahead(human, cell.best.value, name) or 0) <= 0]
    to_noise = _ahead(_ceiling(wrong, name), value, name)
    distances = _ahead(human, value, name), None if human is None else len(beyond), to_noise
    apart: tuple[Value, ...] = None, None, None, None
    if best is not None and second is not None:
        both = ([scores.scores[system][name][code] for code in codes] for system in (best, second))
        p, test = _tested(answers, *both)
        told_apart = _told_apart(p, test, any(cell.is_bound for cell in cells))
        apart = abs(value - means[second]), p, test or None, told_apart
    detectable = [cell.detectable for cell in cells if cell.detectable is not None]
    # Each is a multiple of a standard error; errors average if shared, and add in quadrature if independent.
    smallest = fmean(detectable) if len(detectable) == len(cells) else None
    if smallest is not None and not task(name).parallel:
        smallest = sqrt(fsum(difference**2 for difference in detectable)) / len(detectable)
    planning = smallest, median(detectable) if detectable else None
    key = regime, name, len(cells), best or "best of each language", value, human, *distances
    return [*key, second, *apart, sum(cell.told_apart is True for cell in cells), *planning]


def _figures(cells: list[ContestedCell]) -> list[Figure]:
    figures = []
    if any(cell.best.n and cell.detectable is not None for cell in cells):
        label = "" if len({cell.task for cell in cells}) > 1 else "language"
        about = "Minimum detectable difference of two systems in points, by task and language, for planning."
        title = "Minimum detectable difference, for planning"
        figures.append(figure("strip", "cells: detectable, task", title, about, label=label))
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
            f"Human performance is known for {len(gaps)} of {len(cells)} tests (task, language and regime), without an "
            f"interval. The best system {reached} {nearest.task}/{nearest.language} ({score_text(abs(gap))} points "
            f"{'above' if gap < 0 else 'below'})."
        )
    judged = [cell for cell in cells if cell.told_apart is not None]
    if judged:
        apart = sum(cell.told_apart is True for cell in judged)
        corrected = holm([cell.p for cell in judged if cell.p is not None])
        sentences.append(
            f"The two best systems differ significantly in {apart} of {counted(len(judged), 'test')} (p < 0.05 each; "
            f"{int((corrected < ALPHA).sum())} after Holm's correction). {_kinds_of_tests(judged)}"
        )
    unknown = [cell.task for cell in cells if cell.second is not None and cell.told_apart is None]
    if unknown:
        names = ", ".join(dict.fromkeys(unknown))
        sentences.append(f"{counted(len(unknown), 'further pair')} cannot be judged ({names}).")
    sentences.append(
        "A difference that is not significant may still exist, and a significant one does not indicate how hard the "
        "remaining examples are."
    )
    return " ".join(sentences)


def _kinds_of_tests(judged: Sequence[ContestedCell]) -> str:
    paired = sum(cell.test == PAIRED for cell in judged)
    if paired == len(judged):
        return "The tests are paired."
    some = f"{paired} of the tests are paired; the others" if paired else "The tests"
    return f"{some} are unpaired and conservative: isogloss compare finds smaller differences in answers."
