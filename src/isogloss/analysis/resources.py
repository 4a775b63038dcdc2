"""Correlation of scores with Wikipedia size (XTREME, Figure 2), distances from English, and user-defined columns."""

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np

from isogloss.analysis import language_columns
from isogloss.analysis.correlation import Regression, explain_by_columns, pearson, spearman
from isogloss.analysis.finding import AnalysisError, Column, Finding, TidyTable, Value, columns, figure, first_few
from isogloss.analysis.language_columns import ARTICLES, LOG_ARTICLES, LanguageColumn
from isogloss.analysis.transfer_gap import base_name
from isogloss.data.uriel import DISTANCES, PLACES
from isogloss.figures import counted
from isogloss.grouping import group_by
from isogloss.metrics.language_sample import NO_INTERVAL_REASON, standardised
from isogloss.results.views import ScoreView
from isogloss.scoring.averages import PIVOT
from isogloss.scoring.main_score import lower_is_better
from isogloss.scoring.names import family_of
from isogloss.tasks.loading import data_folder

ALL_TASKS = "all tasks"
# Maximum number of distinguishable series in a chart.
MOST_DRAWN = 6
# XTREME (section 5) on mBERT: about 0.8 for most tasks, about 0.35 for structured prediction.
PRINTED_MODEL = "mBERT"
PRINTED = {
    **dict.fromkeys(("xnli", "pawsx", "xquad", "mlqa", "tydiqa", "bucc", "tatoeba"), 0.8),
    **dict.fromkeys(("udpos", "wikiann"), 0.35),
}

NOTES = [
    "95 % intervals are over language families, since related languages are not independent: with correlations of up "
    "to 0.8 within families they covered the truth in 92 % or more of simulated studies, intervals over single "
    f"languages in 70 %. {NO_INTERVAL_REASON.capitalize()}.",
    "Pearson's correlation with a column as skewed as `articles` depends on a few large Wikipedias: it often has no "
    "interval, and one that covered a correlation of 0.6 in 86 to 91 % of simulated studies otherwise. Prefer "
    "`log_articles`, or Spearman's.",
    "English, the source of transfer, is left out except for `articles`: XTREME correlated with the raw number of "
    "articles, including English, so the fits of its Figure 2 are curved on a logarithmic axis. The chart here fits "
    "`log_articles`; English is drawn as a diamond and not fitted.",
    f"'{ALL_TASKS}' is one figure per language: scores (100 minus error rates) standardised by task, then fitted by "
    "language and task effects.",
    "URIEL's distances are computed from its features: the angle between syntactic, phonological, inventory or all "
    "features, or between lists of ancestors (1 between families, counting Creole as one), and the great-circle "
    "distance. lang2vec does not release its precomputed distances.",
    "The regression is a ridge on standardised columns, with the penalty chosen and the error measured in held-out "
    "families. Its interval is a jackknife over families with all fits repeated; coefficients keep one penalty.",
]


class _Cell(NamedTuple):
    """Scores of one system on one task, or on all."""

    system: str
    task: str
    scores: Mapping[str, float]

    def paired(self, columns: Sequence[LanguageColumn], *, with_english: bool) -> list[str]:
        """Return the languages with a score and a number in every column."""
        codes = [code for code in self.scores if with_english or code != PIVOT]
        return [code for code in codes if all(code in column.values for column in columns)]


# Results that could not be computed: the reason and the affected system.
_LeftOut = list[tuple[str, str]]


def _left_out_notes(left_out: _LeftOut) -> list[str]:
    """Return one note per reason, naming the first system."""
    return [
        f"{what} ({systems[0][1]}{f' and {len(systems) - 1} more' if systems[1:] else ''})."
        for what, systems in group_by(left_out, itemgetter(0)).items()
    ]


def resources(scores: ScoreView, *, columns: str = "", data: str | Path | None = None) -> Finding:
    """Correlate scores with properties of languages, one by one and together.

    Args:
        scores: scores of one or more systems.
        columns: CSV of further columns to correlate with, `language` first.
        data: data folder with URIEL (`isogloss fetch uriel`); distances are left out without it.

    Raises:
        AnalysisError: no task has enough languages with different scores, or invalid CSV.
    """
    left_out: _LeftOut = []
    cells = _cells(scores, left_out)
    codes = list(dict.fromkeys(code for cell in cells for code in cell.scores))
    distances = language_columns.distance_columns(data_folder(data), codes)
    missing = [kind for kind in DISTANCES if kind not in {column.name for column in distances}]
    lacking = f"No {', '.join(missing)} distance: the data folder's URIEL has no {PLACES}.npz"
    if not distances:
        lacking = "No distances: URIEL is not in the data folder"
    added = language_columns.read_columns(Path(columns)) if columns else []
    predictors = [*language_columns.wikipedia_columns(codes), *distances, *added]
    correlations = _correlations(cells, predictors, left_out)
    if not correlations.rows:
        what = f"no correlation can be computed: {_left_out_notes(left_out)[0].removesuffix('.')}"
        raise AnalysisError(what, fix="Add scores in more languages")
    fits = list(_regressions(cells, [column for column in predictors if column.predicts], left_out))
    points = _points(cells, predictors)
    about = (
        f"{len(points.rows)} scores by task and millions of Wikipedia articles (log axis), with a fit to all languages "
        "except English, drawn as a diamond."
    )
    options = {"label": "language", "fit": True, "fitted": "fitted", "log_x": True}
    chart = figure("scatter", f"points: {ARTICLES}, score, system, task", "Scores by Wikipedia size", about, **options)
    return Finding(
        analysis="resources",
        title="Resources, typology and transfer",
        reading=_reading(correlations, fits),
        tables=[correlations, *_regression_tables(fits), *_printed(scores, correlations), points],
        figures=[chart] if len(scores.systems) <= MOST_DRAWN else [],
        notes=[
            *NOTES,
            *(f"{note}." for note in language_columns.later_sizes_notes(codes)),
            *([f"{lacking}; run `isogloss fetch uriel`."] if missing else []),
            *_left_out_notes(left_out),
            *scores.notes,
        ],
    )


def _cells(scores: ScoreView, left_out: _LeftOut) -> list[_Cell]:
    cells: list[_Cell] = []
    for system in scores.systems:
        by_task = {task: values for task in scores.tasks if (values := scores.values(system, task))}
        if len(by_task) > 1:
            # Error rates become 100 minus the rate, so that more is better.
            better = {
                name: {code: 100 - value if lower_is_better(name) else value for code, value in values.items()}
                for name, values in by_task.items()
            }
            try:
                cells.append(_Cell(system, ALL_TASKS, pooled_over_tasks(better)))
            except AnalysisError as error:
                left_out.append((f"{ALL_TASKS} left out: {error.what}", system))
        cells += [_Cell(system, task, values) for task, values in by_task.items()]
    return sorted(cells, key=lambda cell: cell.task != ALL_TASKS)


def _correlations(cells: Sequence[_Cell], predictors: Sequence[LanguageColumn], left_out: _LeftOut) -> TidyTable:
    heads = columns(
        "system task; column = with; languages families:count; pearson±:correlation = Pearson; "
        "spearman±:correlation = Spearman"
    )
    table = TidyTable("correlations", "Correlations of scores across languages", heads)
    for cell in cells:
        problems: dict[str, str] = {}
        for column in predictors:
            try:
                table.add(*_correlation_row(cell, column))
            except AnalysisError as error:
                problems[column.name] = error.what
        for what, names in group_by(problems, problems.__getitem__).items():
            suffix = "" if len(names) == len(predictors) else f" with {', '.join(names)}"
            left_out.append((f"No correlation of {cell.task}{suffix}: {what}", cell.system))
    return table


def _correlation_row(cell: _Cell, column: LanguageColumn) -> list[Value]:
    codes = cell.paired([column], with_english=column.with_english)
    x, y = [column.values[code] for code in codes], [cell.scores[code] for code in codes]
    families = [family_of(code) for code in codes]
    counts = len(codes), len(set(families))
    return [cell.system, cell.task, column.name, *counts, *pearson(x, y, families), *spearman(x, y, families)]


class _Fit(NamedTuple):
    cell: _Cell
    columns: Sequence[LanguageColumn]
    regression: Regression


def _regressions(cells: Sequence[_Cell], columns: Sequence[LanguageColumn], left_out: _LeftOut) -> Iterator[_Fit]:
    for cell in cells:
        codes = cell.paired(columns, with_english=False)
        x = np.array([[column.values[code] for column in columns] for code in codes]).reshape(len(codes), -1)
        y = np.array([cell.scores[code] for code in codes])
        try:
            regression = explain_by_columns(x, y, [family_of(code) for code in codes])
        except AnalysisError as error:
            left_out.append((f"No regression for {cell.task}: {error.what}", cell.system))
            continue
        yield _Fit(cell, columns, regression)


def _regression_tables(fits: Sequence[_Fit]) -> list[TidyTable]:
    if not fits:
        return []
    heads = columns(
        "system task; languages families:count; explained±:share = explained in unseen families; "
        "fitted:share = in the fitted languages; penalty:number"
    )
    names = ", ".join(column.name for column in fits[0].columns)
    together = (
        "in unseen families: relative to the mean of the other families, so it may exceed the share in the "
        "fitted languages"
    )
    title = f"Variance explained by all columns together ({names})"
    whole = TidyTable("regression", title, heads, notes=[together])
    by_column = [
        "coefficients are shrunk by the penalty: if it is 1 or more, a coefficient near 0 with a narrow interval means "
        "that the columns do not help in unseen families, not that they are uncorrelated with the score",
        "a variance inflation above about 5 means that the column is nearly determined by the others, so its "
        "coefficient is arbitrary",
    ]
    heads = columns(
        "system task column; coefficient(low high):correlation = standardised coefficient; "
        "inflation:number = variance inflation"
    )
    parts = TidyTable("coefficients", "Regression coefficients", heads, notes=by_column)
    for fit in fits:
        regression, key = fit.regression, (fit.cell.system, fit.cell.task)
        shares = (regression.explained, regression.low, regression.high, regression.fitted)
        whole.add(*key, regression.languages, regression.families, *shares, regression.penalty)
        bounds = regression.coefficient_lows, regression.coefficient_highs
        figures = regression.coefficients, *bounds, regression.inflation
        for column, *values in zip(fit.columns, *figures, strict=True):
            parts.add(*key, column.name, *values)
    return [whole, parts]


def _printed(scores: ScoreView, correlations: TidyTable) -> list[TidyTable]:
    """Compare XTREME's printed correlations of mBERT with those of its scores."""
    both = "printed:correlation = printed, about; pearson(low high):correlation = Pearson"
    note = "XTREME prints two rounded figures for its runs; XTREME-R's Tables 15-24 have newer runs and more languages"
    title = "Comparison with XTREME's correlations with Wikipedia size"
    table = TidyTable("printed", title, columns(f"system task; {both}; languages:count"), notes=[note])
    for row in correlations.records():
        task, system = str(row["task"]), str(row["system"])
        is_printed = base_name(scores, system) == PRINTED_MODEL and scores.results[system].regime == "zero-shot"
        if row["column"] == ARTICLES and task in PRINTED and is_printed:
            low, high = row["pearson_low"], row["pearson_high"]
            table.add(system, task, PRINTED[task], row["pearson"], low, high, row["languages"])
    return [table] if table.rows else []


def _points(cells: Sequence[_Cell], predictors: Sequence[LanguageColumn]) -> TidyTable:
    numbers = [Column(column.name, "number", column.label) for column in predictors]
    heads = [*columns("system task language family fitted; score:score"), *numbers]
    table = TidyTable("points", "Scores and columns", heads, shown=5)
    for cell in (cell for cell in cells if cell.task != ALL_TASKS):
        for code, score in cell.scores.items():
            key = (cell.system, cell.task, code, family_of(code))
            table.add(*key, code != PIVOT, score, *(column.values.get(code) for column in predictors))
    return table


def _reading(correlations: TidyTable, fits: Sequence[_Fit]) -> str:
    records = correlations.records()
    tested = [record for record in records if record["pearson_low"] is not None]
    total = counted(len(records), "Pearson correlation")
    sentences = [f"{total} without an interval: {NO_INTERVAL_REASON}."]
    if tested:
        significant = sum(float(row["pearson_low"] or 0) * float(row["pearson_high"] or 0) > 0 for row in tested)
        sentences = [
            f"{len(tested)} of {total} {'has' if len(tested) == 1 else 'have'} an interval over families; in "
            f"{significant} it excludes 0, compared with about {len(tested) / 20:.0f} expected by chance."
        ]
    logs = [record for record in records if record["column"] == LOG_ARTICLES]
    if logs:
        logs.sort(key=lambda record: float(record["pearson"] or 0))
        least, most = _named(logs[0]), _named(logs[-1])
        sentences.append(
            f"Correlations with log Wikipedia size are between {least} and {most}."
            if f"{logs[0]['pearson']:.2f}" != f"{logs[-1]['pearson']:.2f}"
            else f"The correlation with log Wikipedia size is {least}{' in all' if logs[1:] else ''}."
        )
    chosen = [fit for fit in fits if fit.cell.task == ALL_TASKS] or fits[:3]
    if chosen:
        sentences.append(first_few([_explained(fit) for fit in chosen]))
    sentences.append(
        "Wikipedia size is confounded with closeness to English, wealth and test quality, so no column is shown to be "
        "a cause. A correlation that is not significant may still exist."
    )
    return " ".join(sentences)


def _explained(fit: _Fit) -> str:
    regression, count = fit.regression, len(fit.columns)
    together = f"the {count} columns together explain" if count > 1 else f"{fit.columns[0].name} explains"
    return (
        f"For {fit.cell.system} on {fit.cell.task}, {together} "
        f"{regression.explained:.0%} ({regression.low:.0%} to {regression.high:.0%}) of the variance in held-out "
        f"families and {regression.fitted:.0%} in the fitted ones ({regression.languages} languages, "
        f"{regression.families} families)"
        f"{'; below 0 %, the mean predicts better' if regression.explained < 0 else ''}."
    )


def _named(row: Mapping[str, Value]) -> str:
    low, high = row["pearson_low"], row["pearson_high"]
    interval = f"{low:.2f} to {high:.2f}" if isinstance(low, float) and isinstance(high, float) else "no interval"
    return f"{float(row['pearson'] or 0):.2f} ({interval}; {row['system']}, {row['task']})"


def pooled_over_tasks(scores: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Return the effect of each language over all tasks, in standard deviations of a task's scores, with mean 0.

    Each task's scores are standardised, then language and task effects are fitted by least squares
    (score = language + task), so that languages in easier tasks have no advantage. Tasks with one language or constant
    scores are left out.
    """
    cells = [
        (task, code, float(value))
        for task, values in scores.items()
        if len(values) > 1 and (column := standardised(list(values.values()))) is not None
        for code, value in zip(values, column, strict=True)
    ]
    tasks, codes = list(dict.fromkeys(task for task, _, _ in cells)), list(dict.fromkeys(code for _, code, _ in cells))
    if not cells:
        raise AnalysisError("no task has scores that differ between languages")
    design = np.zeros((len(cells), len(codes) + len(tasks)))
    for row, (task, code, _) in enumerate(cells):
        design[row, codes.index(code)] = design[row, len(codes) + tasks.index(task)] = 1
    if np.linalg.matrix_rank(design) < design.shape[1] - 1:
        raise AnalysisError("cannot pool tasks: they fall into groups that share no language")
    effects = np.linalg.lstsq(design, np.array([value for _, _, value in cells]), rcond=None)[0][: len(codes)]
    return dict(zip(codes, (effects - effects.mean()).tolist(), strict=True))
