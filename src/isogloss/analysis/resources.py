"""What transfer goes with: Wikipedia's size (XTREME, Figure 2), distances from English, and columns of a user's own."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from isogloss.analysis.correlation import FEWEST_FAMILIES, Correlation, pearson, spearman
from isogloss.analysis.finding import AnalysisError, Column, Figure, Finding, TidyTable, Value, first_few
from isogloss.analysis.language_columns import (
    ARTICLES,
    LOG_ARTICLES,
    LanguageColumn,
    distance_columns,
    read_columns,
    wikipedia_columns,
)
from isogloss.analysis.pooling import pooled_over_tasks
from isogloss.analysis.regression import Regression, explain_by_columns
from isogloss.analysis.score_table import ScoreTable
from isogloss.analysis.table_columns import interval_columns, text_columns
from isogloss.analysis.transfer_gap import base_name
from isogloss.data.uriel import DISTANCES, PLACES
from isogloss.languages import language
from isogloss.scoring.averages import PIVOT
from isogloss.scoring.main_score import lower_is_better
from isogloss.tasks.loading import data_folder

ALL_TASKS = "all tasks"
# More series than this cannot be told apart in a chart.
MOST_DRAWN = 6
# What XTREME (section 5) prints of mBERT: about 0.8 for most tasks, about 0.35 for structured prediction.
PRINTED_MODEL = "mBERT"
PRINTED = {
    **dict.fromkeys(("xnli", "pawsx", "xquad", "mlqa", "tydiqa", "bucc", "tatoeba"), 0.8),
    **dict.fromkeys(("udpos", "wikiann"), 0.35),
}

NOTES = [
    "Intervals are bootstrapped over languages (BCa, widened for small samples), for languages like these; those over "
    "families draw families whole, since related languages are no independent observations. Where a family is nearly "
    "half of the languages and relatives share most of their luck, those over languages held the truth in 70 % of 400 "
    "simulated studies, those over families in 89 %.",
    "Of a column as skewed as plain `articles` Pearson's interval is too narrow: it held the truth in 78 % of 400 "
    "simulated studies of 40 languages, where Spearman's, and Pearson's of normal columns, held it in about 95 %.",
    "English is where transfer comes from and is left out, but for `articles`: XTREME correlated with the plain number "
    "of articles, English counted, which is why the fits of its Figure 2 are curved on a logarithmic axis. The lines "
    "of the chart here are those of `log_articles`: English is a diamond, and not fitted.",
    f"'{ALL_TASKS}' is one figure a language: scores (100 minus error rates) standardised by task, then languages "
    "fitted beside tasks.",
    "URIEL's distances are made from its features: the angle between syntactic, phonological, inventory or all "
    "features, or between lists of ancestors (1 between families, a creole being one), and the way over the Earth. "
    "lang2vec's precomputed ones are in no release of it.",
    "The regression is a ridge on standardised columns, its penalty chosen and its error measured in families left "
    "out; its interval is the jackknife's over families, everything fitted anew, but coefficients at one penalty.",
]


@dataclass(frozen=True)
class _Cell:
    """The scores of one system on one task, or on all."""

    system: str
    task: str
    scores: Mapping[str, float]

    def paired(self, columns: Sequence[LanguageColumn], *, with_english: bool) -> list[str]:
        """The languages that have a score and a number in every column."""
        return [
            code
            for code in self.scores
            if (with_english or code != PIVOT) and all(code in column.values for column in columns)
        ]


class _LeftOut:
    """What could not be computed, and for which systems."""

    def __init__(self) -> None:
        self._systems: dict[str, list[str]] = {}

    def add(self, what: str, system: str) -> None:
        self._systems.setdefault(what, []).append(system)

    def notes(self) -> list[str]:
        """A note for each reason, with the first of the systems."""
        return [
            f"{what} ({systems[0]}{f' and {len(systems) - 1} more' if systems[1:] else ''})."
            for what, systems in self._systems.items()
        ]


def resources(scores: ScoreTable, *, columns: str = "", data: str | Path | None = None) -> Finding:
    """What scores in other languages go with, each alone and all together.

    Args:
        scores: of one or more systems.
        columns: a CSV of further columns to correlate with: `language` first.
        data: the data folder, which has URIEL (`isogloss fetch uriel`); without it there are no distances.

    Raises:
        AnalysisError: no system has a task with enough languages whose scores differ, or the CSV is wrong.
    """
    left_out = _LeftOut()
    cells = _cells(scores, left_out)
    codes = list(dict.fromkeys(code for cell in cells for code in cell.scores))
    folder = data_folder(data)
    distances = distance_columns(folder, codes)
    lacking = _lacking_distances([column.name for column in distances])
    known = [*wikipedia_columns(codes), *distances, *(read_columns(Path(columns)) if columns else [])]
    correlations = _correlations(cells, known, left_out)
    if not correlations.rows:
        what = f"no correlation can be given: {left_out.notes()[0].removesuffix('.')}"
        raise AnalysisError(what, fix="Give scores in more languages")
    fits = list(_regressions(cells, [column for column in known if column.predicts], left_out))
    points = _points(cells, known)
    tables = [correlations, *_regression_tables(fits), *_printed(scores, correlations), points]
    figures = [_figure(points)] if len(scores.systems) <= MOST_DRAWN else []
    reading = _reading(correlations, fits)
    title = "Resources, typology and transfer"
    return Finding("resources", title, reading, tables, figures, [*NOTES, *lacking, *left_out.notes(), *scores.notes])


def _cells(scores: ScoreTable, left_out: _LeftOut) -> list[_Cell]:
    cells: list[_Cell] = []
    for system in scores.systems:
        of = {task: values for task in scores.tasks if (values := scores.values(system, task))}
        if len(of) > 1:
            try:
                cells.append(_Cell(system, ALL_TASKS, pooled_over_tasks(_more_is_better(of))))
            except AnalysisError as error:
                left_out.add(f"{ALL_TASKS} are left out: {error.what}", system)
        cells += [_Cell(system, task, values) for task, values in of.items()]
    return sorted(cells, key=lambda cell: cell.task != ALL_TASKS)


def _lacking_distances(names: Sequence[str]) -> list[str]:
    if not names:
        return ["No distances: URIEL is not in the data folder; `isogloss fetch uriel` brings it."]
    lacking = [kind for kind in DISTANCES if kind not in names]
    what = (
        f"No {', '.join(lacking)} distance: the data folder's URIEL has no {PLACES}.npz; `isogloss fetch uriel` does."
    )
    return [what] if lacking else []


def _more_is_better(scores: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """Scores by task and language, error rates turned round."""
    return {
        name: {code: 100 - value if lower_is_better(name) else value for code, value in of.items()}
        for name, of in scores.items()
    }


_CORRELATION_COLUMNS = [
    *text_columns("system", "task"),
    Column("column", label="with"),
    Column("languages", "count"),
    *interval_columns("pearson", "correlation", "Pearson"),
    *interval_columns("spearman", "correlation", "Spearman"),
    Column("families", "count"),
    Column("family_low", "correlation", "Pearson over families, from"),
    Column("family_high", "correlation", "to"),
]


def _correlations(cells: Sequence[_Cell], columns: Sequence[LanguageColumn], left_out: _LeftOut) -> TidyTable:
    rows: list[list[Value]] = []
    for cell in cells:
        problems: dict[str, str] = {}
        for column in columns:
            try:
                rows.append(_correlation_row(cell, column))
            except AnalysisError as error:
                problems[column.name] = error.what
        for what in dict.fromkeys(problems.values()):
            names = [name for name, problem in problems.items() if problem == what]
            of = "" if len(names) == len(columns) else f" with {', '.join(names)}"
            left_out.add(f"No correlation of {cell.task}{of}: {what}", cell.system)
    return TidyTable("correlations", "Correlations of scores across languages", _CORRELATION_COLUMNS, rows)


def _correlation_row(cell: _Cell, column: LanguageColumn) -> list[Value]:
    codes = cell.paired([column], with_english=column.with_english)
    x, y = [column.values[code] for code in codes], [cell.scores[code] for code in codes]
    families = [language(code).family for code in codes]
    count = len(set(families))
    by_family = _figures(pearson(x, y, families))[1:] if count >= FEWEST_FAMILIES else (None, None)
    place = (cell.system, cell.task, column.name, len(codes))
    return [*place, *_figures(pearson(x, y)), *_figures(spearman(x, y)), count, *by_family]


def _figures(found: Correlation) -> tuple[float, float, float]:
    return found.value, found.low, found.high


@dataclass(frozen=True)
class _Fit:
    cell: _Cell
    columns: Sequence[LanguageColumn]
    found: Regression


def _regressions(cells: Sequence[_Cell], columns: Sequence[LanguageColumn], left_out: _LeftOut) -> Iterator[_Fit]:
    for cell in cells:
        codes = cell.paired(columns, with_english=False)
        x = np.array([[column.values[code] for column in columns] for code in codes]).reshape(len(codes), -1)
        y = np.array([cell.scores[code] for code in codes])
        try:
            found = explain_by_columns(x, y, [language(code).family for code in codes])
        except AnalysisError as error:
            left_out.add(f"No regression for {cell.task}: {error.what}", cell.system)
            continue
        yield _Fit(cell, columns, found)


_REGRESSION_COLUMNS = [
    *text_columns("system", "task"),
    Column("languages", "count"),
    Column("families", "count"),
    *interval_columns("explained", "share", "explained in unseen families"),
    Column("fitted", "share", "in the fitted languages"),
    Column("penalty", "number"),
]
_COEFFICIENT_COLUMNS = [
    *text_columns("system", "task", "column"),
    *interval_columns("coefficient", "correlation", "standardised coefficient", low="low", high="high"),
    Column("inflation", "number", "variance inflation"),
]


def _regression_tables(fits: Sequence[_Fit]) -> list[TidyTable]:
    if not fits:
        return []
    whole: list[list[Value]] = []
    parts: list[list[Value]] = []
    for fit in fits:
        found, place = fit.found, (fit.cell.system, fit.cell.task)
        shares = (found.explained, found.low, found.high, found.fitted)
        whole.append([*place, found.languages, found.families, *shares, found.penalty])
        parts += [
            [*place, column.name, coefficient, low, high, inflated]
            for column, coefficient, low, high, inflated in zip(
                fit.columns,
                found.coefficients,
                found.coefficient_lows,
                found.coefficient_highs,
                found.inflation,
                strict=True,
            )
        ]
    names = ", ".join(column.name for column in fits[0].columns)
    together = "in unseen families: against the mean of the other families, so that it may exceed what is fitted"
    by_column = [
        "shrunk by the penalty: where that is 1 or more a coefficient near 0, with a narrow interval, says that the "
        "columns do not help in unseen families, not that the score does not go with them",
        "a variance inflation above 5 or so: the column is nearly made up of the others, and its share is arbitrary",
    ]
    return [
        TidyTable("regression", f"What all columns explain together ({names})", _REGRESSION_COLUMNS, whole, [together]),
        TidyTable("coefficients", "The regression column by column", _COEFFICIENT_COLUMNS, parts, by_column),
    ]


def _printed(scores: ScoreTable, correlations: TidyTable) -> list[TidyTable]:
    """What XTREME says of mBERT beside what its scores give."""
    rows: list[list[Value]] = []
    for row in correlations.records():
        task, system = str(row["task"]), str(row["system"])
        is_printed = base_name(scores, system) == PRINTED_MODEL and scores.regime(system) == "zero-shot"
        if row["column"] == ARTICLES and task in PRINTED and is_printed:
            low, high = row["pearson_low"], row["pearson_high"]
            rows.append([system, task, PRINTED[task], row["pearson"], low, high, row["languages"]])
    columns = [
        *text_columns("system", "task"),
        Column("printed", "correlation", "printed, about"),
        *interval_columns("pearson", "correlation", "Pearson", low="low", high="high"),
        Column("languages", "count"),
    ]
    title = "XTREME's correlations with Wikipedia's size, compared"
    note = "XTREME prints two rounded figures for its own runs; XTREME-R's Tables 15-24 have newer runs, more languages"
    return [TidyTable("printed", title, columns, rows, [note])] if rows else []


def _points(cells: Sequence[_Cell], columns: Sequence[LanguageColumn]) -> TidyTable:
    rows: list[list[Value]] = []
    for cell in (each for each in cells if each.task != ALL_TASKS):
        for code, score in cell.scores.items():
            place = (cell.system, cell.task, code, language(code).family)
            rows.append([*place, code != PIVOT, score, *(each.values.get(code) for each in columns)])
    heads = [*text_columns("system", "task", "language", "family", "fitted"), Column("score", "score")]
    numbers = [Column(each.name, "number", each.label) for each in columns]
    return TidyTable("points", "The scores and the columns", [*heads, *numbers], rows, shown=5)


def _figure(points: TidyTable) -> Figure:
    return Figure(
        "points",
        "scatter",
        "Scores against the size of Wikipedia",
        f"{len(points.rows)} scores by task, against millions of Wikipedia articles on a logarithmic axis, with a fit "
        "to the languages other than English, which is a diamond.",
        x=ARTICLES,
        y="score",
        colour="system",
        label="language",
        panel="task",
        fit=True,
        fitted="fitted",
        log_x=True,
    )


def _reading(correlations: TidyTable, fits: Sequence[_Fit]) -> str:
    records = correlations.records()
    by_family = [each for each in records if each["family_low"] is not None]
    said = [
        f"{_without_zero(records, 'pearson')} of {len(records)} Pearson correlations have an interval over languages "
        f"without 0; about {len(records) / 20:.0f} would if there were nothing to find and languages were independent."
    ]
    if by_family:
        said.append(
            f"Relatives are not: of the {len(by_family)} that have an interval over families "
            f"{_without_zero(by_family, 'family')} are without 0."
        )
    logs = [each for each in records if each["column"] == LOG_ARTICLES]
    if logs:
        strongest, weakest = (sorted(logs, key=lambda each: float(each["pearson"] or 0))[place] for place in (-1, 0))
        said.append(f"With log Wikipedia size they run from {_named(weakest)} to {_named(strongest)}.")
    chosen = [fit for fit in fits if fit.cell.task == ALL_TASKS] or fits[:3]
    if chosen:
        said.append(first_few([_explained(fit) for fit in chosen]))
    said.append(
        "Languages with a large Wikipedia are also near to English, rich and well tested, so no column here is shown "
        "to be a cause; and an interval that holds 0 does not show that there is nothing."
    )
    return " ".join(said)


def _explained(fit: _Fit) -> str:
    found = fit.found
    return (
        f"Of {fit.cell.system} on {fit.cell.task}, {_all_columns(fit.columns)} "
        f"{found.explained:.0%} ({found.low:.0%} to {found.high:.0%}) in families the fit has not seen and "
        f"{found.fitted:.0%} in those it has ({found.languages} languages, {found.families} families)"
        f"{'; below 0, the mean is the better guess' if found.explained < 0 else ''}."
    )


def _without_zero(records: Sequence[Mapping[str, Value]], interval: str) -> int:
    return sum(float(each[f"{interval}_low"] or 0) * float(each[f"{interval}_high"] or 0) > 0 for each in records)


def _all_columns(columns: Sequence[LanguageColumn]) -> str:
    return f"the {len(columns)} columns together explain" if columns[1:] else f"{columns[0].name} alone explains"


def _named(row: Mapping[str, Value]) -> str:
    low, high = float(row["pearson_low"] or 0), float(row["pearson_high"] or 0)
    return f"{float(row['pearson'] or 0):.2f} ({low:.2f} to {high:.2f}; {row['system']}, {row['task']})"
