"""Did the benchmark saturate: how far people are ahead, and which differences the tests can still show."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import fsum, sqrt
from statistics import fmean, median

from isogloss.analysis.detectable import detectable_difference, difference_variance, examples_needed
from isogloss.analysis.finding import AnalysisError, Column, Figure, Finding, TidyTable, Value
from isogloss.analysis.published_scores import human_score
from isogloss.analysis.score_table import LanguageScore, ScoreTable
from isogloss.analysis.table_columns import text_columns
from isogloss.data.tables import finite_number
from isogloss.figures import score_text
from isogloss.scoring.main_score import lower_is_better
from isogloss.scoring.names import language_name
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.registry import canonical, task


@dataclass(frozen=True)
class ContestedCell:
    """A task in one language under one regime, with its two best systems.

    Attributes:
        second: None where there is but one system.
        variance: of the difference of the two on one example, 0..1; of two equal ones if there is one system.
        effective: how many independent examples the test has.
    """

    regime: str
    task: str
    language: str
    systems: int
    best: LanguageScore
    second: LanguageScore | None
    variance: float
    effective: float

    @property
    def difference(self) -> float | None:
        """How far the two best are apart, in points."""
        return None if self.second is None else abs(self.best.value - self.second.value)

    @property
    def detectable(self) -> float | None:
        """The smallest difference that this test shows, in points."""
        found = detectable_difference(self.variance, self.effective)
        return None if found is None else 100 * found

    @property
    def needed(self) -> int | None:
        """How many examples would tell the two best apart; None where they are equal, or there is but one."""
        if not self.difference or not self.best.n or self.is_bound:
            return None
        found = examples_needed(self.variance, self.difference / 100)
        # Examples that share a source count for less than one each.
        return None if found is None else round(found * self.best.n / self.effective)

    @property
    def told_apart(self) -> bool | None:
        """Whether the test can show a difference as large as that between the two best."""
        return _told_apart(self.difference, self.detectable, self.is_bound)

    @property
    def is_bound(self) -> bool:
        """Whether `detectable` is a bound, several times too large: a sentence of many tags counts as one example."""
        return self.best.error is None and kind_of(task(self.task)).rows != "example"


def _told_apart(difference: float | None, detectable: float | None, is_bound: bool) -> bool | None:
    """Whether a difference is as large as what is detectable; below a bound nothing is known."""
    if difference is None or detectable is None:
        return None
    return True if difference >= detectable else None if is_bound else False


def saturation(scores: ScoreTable, *, noise: str = "", correlation: float = 0.0) -> Finding:
    """The distance of the best system to people and to the noise of the gold, beside what each test can show.

    Args:
        scores: what was scored.
        noise: the percentage of gold answers that are wrong, of all tasks ("3") or of each ("xnli:3,xquad:5").
        correlation: between two systems in being right on an example; 0 is an upper bound of what is detectable.
    """
    if not 0 <= correlation < 1:
        raise AnalysisError(f"a correlation of {correlation}", fix="Give a number from 0 to below 1")
    wrong = _noise(noise)
    cells = list(_cells(scores, correlation))
    if not cells:
        raise AnalysisError("there are no scores")
    tables = [_task_table(scores, cells, wrong), _cell_table(scores, cells, wrong)]
    notes = [
        "detectable: the smallest true difference of two systems that the test finds at the 5 % level four times in "
        f"five (the project's formula), if the correlation of their being right is {correlation:g}: with a "
        "correlation c it is about sqrt(1 - c) times what it is with none",
        "a test counts as so many independent examples as its score's interval says, where it has one; else as many "
        "as it has, as if a score were a share of right answers and examples shared no source. Marks between right and "
        "wrong vary less than that (answers, ranked lists). A sentence of many tags tells far more than one example: "
        "for POS and NER without intervals 'detectable' is a bound, three to four times too large where measured, "
        "so that a difference below it is not said to be too small, nor how many examples it needs",
        "detectable of an average: languages of a parallel test as if they failed on the same examples, others as "
        "independent",
        "human performance is one published figure a task, not measured in each language",
        *scores.notes,
    ]
    return Finding("saturation", "Did the benchmark saturate?", _reading(cells, scores), tables, _figures(cells), notes)


def _noise(text: str) -> Mapping[str, float]:
    """The share of wrong gold, in points, by task; under "" that of all others."""
    found: dict[str, float] = {}
    for part in filter(None, (word.strip() for word in text.split(","))):
        name, _, number = part.rpartition(":")
        value = finite_number(number)
        if value is None or not 0 <= value < 100:
            raise AnalysisError(
                f"noise is {part[:40]!r}", fix="Give a percentage, 3, or one for each task, xnli:3,xquad:5"
            )
        found[canonical(name) if name else ""] = value
    return found


def _cells(scores: ScoreTable, correlation: float) -> Iterator[ContestedCell]:
    groups: dict[tuple[str, str, str], list[LanguageScore]] = {}
    for score in scores.scores:
        groups.setdefault((score.regime, score.task, score.language), []).append(score)
    regimes = list(dict.fromkeys(regime for regime, _, _ in groups))
    for (regime, name, code), of in sorted(
        groups.items(), key=lambda item: (regimes.index(item[0][0]), scores.tasks.index(item[0][1]), item[0][2])
    ):
        best, *others = sorted(of, key=lambda score: score.value, reverse=not lower_is_better(name))
        second = others[0] if others else None
        shares = [min(1.0, max(0.0, each.value / 100)) for each in (best, second or best)]
        variance = difference_variance(shares[0], shares[1], correlation)
        yield ContestedCell(regime, name, code, len(of), best, second, variance, _effective(best))


def _effective(score: LanguageScore) -> float:
    """How many independent examples would have an interval so wide; the examples themselves where there is none."""
    if score.error is None or score.error <= 0:
        return float(score.n)
    share = min(0.99, max(0.01, score.value / 100))
    return share * (1 - share) / (score.error / 100) ** 2


def _ahead(limit: float | None, best: float, name: str) -> float | None:
    """How far a limit is ahead of the best system: positive while there is something to gain."""
    if limit is None:
        return None
    return best - limit if lower_is_better(name) else limit - best


def _ceiling(wrong: Mapping[str, float], name: str) -> float | None:
    share = wrong.get(name, wrong.get(""))
    return None if share is None else share if lower_is_better(name) else 100 - share


_CELL_COLUMNS = [
    *text_columns("regime", "task"),
    Column("language", label="code"),
    Column("name", label="language"),
    Column("best", label="best system"),
    Column("score", "score"),
    Column("human", "score"),
    Column("to_human", "difference", "to human"),
    Column("to_noise", "difference", "to gold noise"),
    Column("second", label="second"),
    Column("difference", "score"),
    Column("detectable", "score", "detectable, points"),
    Column("told_apart", label="told apart"),
    Column("n", "count", "examples"),
    Column("needed", "count", "examples needed"),
]


def _cell_table(scores: ScoreTable, cells: list[ContestedCell], wrong: Mapping[str, float]) -> TidyTable:
    rows: list[list[Value]] = []
    for cell in cells:
        human = human_score(cell.task, scores.metrics[cell.task])
        value = cell.best.value
        rows.append(
            [
                cell.regime,
                cell.task,
                cell.language,
                language_name(cell.language),
                cell.best.system,
                value,
                human,
                _ahead(human, value, cell.task),
                _ahead(_ceiling(wrong, cell.task), value, cell.task),
                cell.second.system if cell.second else None,
                cell.difference,
                cell.detectable,
                cell.told_apart,
                cell.best.n or None,
                cell.needed,
            ]
        )
    return TidyTable("cells", "Every task and language", _CELL_COLUMNS, rows)


def _task_table(scores: ScoreTable, cells: list[ContestedCell], wrong: Mapping[str, float]) -> TidyTable:
    columns = [
        *text_columns("regime", "task"),
        Column("languages", "count"),
        Column("best", label="best system"),
        Column("score", "score"),
        Column("human", "score"),
        Column("to_human", "difference", "to human"),
        Column("beyond_human", "count", "languages beyond human"),
        Column("to_noise", "difference", "to gold noise"),
        Column("second"),
        Column("difference", "score"),
        Column("detectable", "score", "detectable average"),
        Column("told_apart", label="told apart"),
        Column("cell_detectable", "score", "median detectable in a language"),
        Column("cells_apart", "count", "languages told apart"),
    ]
    groups: dict[tuple[str, str], list[ContestedCell]] = {}
    for cell in cells:
        groups.setdefault((cell.regime, cell.task), []).append(cell)
    rows = [_task_row(scores, wrong, regime, name, of) for (regime, name), of in groups.items()]
    return TidyTable("tasks", "Every task", columns, rows)


def _task_row(
    scores: ScoreTable, wrong: Mapping[str, float], regime: str, name: str, cells: list[ContestedCell]
) -> list[Value]:
    codes = [cell.language for cell in cells]
    means = {
        system: fmean(values[code] for code in codes)
        for system in scores.systems
        if scores.regime(system) == regime and set(codes) <= set(values := scores.values(system, name))
    }
    order = sorted(means, key=lambda system: means[system], reverse=not lower_is_better(name))
    best = order[0] if order else None
    value = means[best] if best else fmean(cell.best.value for cell in cells)
    second = order[1] if len(order) > 1 else None
    apart = abs(value - means[second]) if second else None
    smallest = _average_detectable(name, cells)
    human = human_score(name, scores.metrics[name])
    beyond = [cell for cell in cells if human is not None and (_ahead(human, cell.best.value, name) or 0) <= 0]
    known = [cell.detectable for cell in cells if cell.detectable is not None]
    return [
        regime,
        name,
        len(cells),
        best or "the best of each language",
        value,
        human,
        _ahead(human, value, name),
        None if human is None else len(beyond),
        _ahead(_ceiling(wrong, name), value, name),
        second,
        apart,
        smallest,
        _told_apart(apart, smallest, any(cell.is_bound for cell in cells)),
        median(known) if known else None,
        sum(cell.told_apart is True for cell in cells),
    ]


def _average_detectable(name: str, cells: list[ContestedCell]) -> float | None:
    """The smallest difference of two averages over languages, in points."""
    known = [cell.detectable for cell in cells if cell.detectable is not None]
    if not known or len(known) < len(cells):
        return None
    # Each is a multiple of a standard error, and these add up as the errors are shared or not.
    if task(name).parallel:
        return fmean(known)
    return sqrt(fsum(each**2 for each in known)) / len(known)


def _figures(cells: list[ContestedCell]) -> list[Figure]:
    figures = []
    if any(cell.best.n and cell.detectable is not None for cell in cells):
        several = len({cell.task for cell in cells}) > 1
        figures.append(
            Figure(
                "cells",
                "strip",
                "What a test can show",
                "The smallest difference of two systems that each test shows, in points, by task and language.",
                x="detectable",
                y="task",
                label="" if several else "language",
            )
        )
    figures.append(
        Figure(
            "cells",
            "strip",
            "Distance to human performance",
            "How far published human performance is ahead of the best system in each language, in points.",
            x="to_human",
            y="task",
        )
    )
    return figures


def _reading(cells: list[ContestedCell], scores: ScoreTable) -> str:
    people = [(cell, human) for cell in cells if (human := human_score(cell.task, scores.metrics[cell.task]))]
    sentences = []
    if people:
        gaps = [(_ahead(human, cell.best.value, cell.task) or 0, cell) for cell, human in people]
        beyond = sum(gap <= 0 for gap, _ in gaps)
        gap, nearest = min(gaps, key=lambda item: item[0])
        sentences.append(
            f"Human performance is known for {len(gaps)} of {len(cells)} tests (a task in a language, under a "
            f"regime); the best system is at or beyond it in {beyond}, and nearest in "
            f"{nearest.task}/{nearest.language} ({score_text(abs(gap))} points {'beyond' if gap < 0 else 'below'})."
        )
    pairs = [cell for cell in cells if cell.told_apart is not None]
    if pairs:
        apart = sum(cell.told_apart is True for cell in pairs)
        sentences.append(
            f"In {apart} of {len(pairs)} tests with two systems the difference between the two best is as large as the "
            "test can be relied on to show."
        )
        needed = [cell for cell in pairs if not cell.told_apart and cell.needed]
        if needed:
            most = max(needed, key=lambda cell: cell.needed or 0)
            sentences.append(
                f"The rest would need more examples, {most.task}/{most.language} the most: {most.needed:,} instead "
                f"of {most.best.n:,}."
            )
    not_known = [cell.task for cell in cells if cell.second is not None and cell.told_apart is None]
    if not_known:
        names = ", ".join(dict.fromkeys(not_known))
        sentences.append(f"Of {len(not_known)} tests ({names}) it is not known what differences they can show.")
    sentences.append(
        "A difference that a test cannot show may still be there; and one that it shows says nothing of how hard "
        "what is left may be."
    )
    return " ".join(sentences)
