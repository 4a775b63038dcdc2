"""Pseudo test sets against human ones (XTREME, section 3.4): scores, their correlation, and the quality of the texts.

A pseudo set is the English test set, machine-translated. Where a language also has a human test set, both sets rank the
same systems, and the difference of their scores tells the bias of the pseudo set.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import numpy as np

from isogloss.analysis.answers import answers_of
from isogloss.analysis.correlation import FEWEST_PAIRS, ranks
from isogloss.analysis.finding import (
    MEAN_ROW,
    AnalysisError,
    Figure,
    Finding,
    TidyTable,
    Value,
    columns,
    figure,
    first_few,
)
from isogloss.analysis.pseudo_comparisons import PseudoComparison, comparisons, recorded_comparisons
from isogloss.errors import DataError
from isogloss.figures import counted, difference_text, score_text
from isogloss.grouping import group_by
from isogloss.metrics.language_sample import standardised
from isogloss.predictions.memory import Predictions
from isogloss.scoring.cells import Cell
from isogloss.scoring.request import Request
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.pseudo_sets import PSEUDO_SPLITS, pseudo_languages
from isogloss.tasks.registry import task as find_task
from isogloss.translation.artefacts import pseudo_quality
from isogloss.translation.translation_reports import QualityScore

NEEDS = "tasks with texts to translate, such as xnli or xquad"
# With fewer systems or languages, a correlation says nothing.
FEWEST = 3

_NOTES = [
    "difference: pseudo minus human, on the examples that both sets have; intervals pair those with the same original",
    f"correlations need {FEWEST} systems or languages; their intervals (Fisher's z) need {FEWEST_PAIRS}, and treat "
    "systems as a random sample, which variants of one system are not",
]


def correlations(x: Sequence[float], y: Sequence[float]) -> list[Value]:
    """Return Pearson's correlation of two columns with the bounds of its interval, and Spearman's; None if unknown."""
    r = _pearson(x, y)
    bounds: list[Value] = [None, None]
    if r is not None and len(x) >= FEWEST_PAIRS and abs(r) < 1:
        width = 1.959964 / np.sqrt(len(x) - 3)
        bounds = [float(np.tanh(np.arctanh(r) + side * width)) for side in (-1, 1)]
    return [r, *bounds, None if r is None else _pearson(ranks(x), ranks(y))]


def _pearson(x: Sequence[float] | np.ndarray, y: Sequence[float] | np.ndarray) -> float | None:
    if len(x) < FEWEST:
        return None
    scaled = [standardised(np.asarray(values, np.float64)) for values in (x, y)]
    if scaled[0] is None or scaled[1] is None:
        return None
    return float(np.clip(np.mean(scaled[0] * scaled[1]), -1, 1))


def pseudo(folders: Sequence[Predictions], request: Request) -> Finding:
    """Compare the scores on pseudo test sets with those on human ones, over systems and languages.

    Args:
        folders: prediction folders, one per system, with answers to both sets; or result records, one per split.
        request: tasks, languages, split and data; the split is that of the human sets, "test" or "dev".

    Returns:
        Per language, mean scores on both sets, their correlation over systems, and BLEU and chrF; per system, every
        difference with its interval, and correlations over languages.

    Raises:
        AnalysisError: no language has both sets and answers to both.
    """
    if request.split not in ("test", "dev"):
        raise AnalysisError(f"--set split={request.split}: expected the human split, test or dev")
    notes = list(_NOTES)
    split = PSEUDO_SPLITS[request.split]
    records = [source for source in folders if isinstance(source, Path) and source.is_file()]
    compared = recorded_comparisons(records, request, split)
    if compared:
        notes.append("results have no predictions: whole sets are compared, and differences have no interval")
    if answered := [source for source in folders if not (isinstance(source, Path) and source.is_file())]:
        both_sets = _both(request, split)
        human = _cells(answered, both_sets, notes)
        machine = _cells(answered, replace(both_sets, split=split), notes)
        compared += [
            comparison
            for key, cell in human.items()
            if (other := machine.get(key)) is not None
            for comparison in comparisons(key[0], cell, other, request)
        ]
    if not compared:
        fix = (
            "Predict both sets, with isogloss run --pseudo, or pseudo-<language>.jsonl beside <language>.jsonl; or "
            "pass the records of isogloss score and of isogloss score --split pseudo"
        )
        raise AnalysisError("no system has answers to the human and the pseudo set of a language", fix=fix)
    quality = _quality(compared, split, request, notes)
    tables = [_by_language(compared, quality), _by_system(compared, quality), _every_cell(compared)]
    if not any(isinstance(row["languages"], int) and row["languages"] >= FEWEST for row in tables[1].records()):
        del tables[1]  # it has nothing that the others lack
    return Finding(
        analysis="pseudo",
        title="Pseudo test sets",
        reading=_reading(tables[0], len({one.system for one in compared})),
        tables=tables,
        figures=[_figure(compared)],
        notes=notes,
    )


def _both(request: Request, split: str) -> Request:
    """Return the request for the tasks and languages that have both sets."""
    languages: dict[str, set[str]] = {}
    for name in request.tasks:
        task = find_task(name)
        codes = {*pseudo_languages(task, split, request.data)} & {*task.every_language}
        if request.languages is not None:
            codes &= {*request.languages}
        if codes:
            languages[name] = codes
    if not languages:
        what = f"no language of {', '.join(request.tasks)} has both a pseudo and a human test set"
        fix = "Run isogloss translate TASK --pseudo in a language of the task"
        raise AnalysisError(what, fix=fix)
    every = tuple(sorted(set.union(*languages.values())))
    return replace(request, tasks=tuple(languages), languages=every)


def _cells(folders: Sequence[Predictions], request: Request, notes: list[str]) -> dict[tuple[str, str, str], Cell]:
    """Return the judged cells by system, task and language; cells with incomplete gold are noted and left out."""
    wanted = answers_of(folders, request, lambda task: bool(kind_of(task).translatable), notes, NEEDS)
    return {
        (system, answered.cell.task, answered.cell.language): answered.cell
        for system, answered in wanted
        if not answered.cell.partial
    }


def _scores(cells: Sequence[PseudoComparison]) -> tuple[list[float], list[float]]:
    """Return the scores on the human and on the pseudo sets."""
    return [one.score("human") for one in cells], [one.score("pseudo") for one in cells]


Quality = Mapping[tuple[str, str], tuple[QualityScore, ...]]


def _quality(compared: Sequence[PseudoComparison], split: str, request: Request, notes: list[str]) -> Quality:
    """Return BLEU and chrF of the pseudo texts against the human ones, by task and language."""
    quality: dict[tuple[str, str], tuple[QualityScore, ...]] = {}
    for name, code in dict.fromkeys((one.task, one.language) for one in compared):
        with suppress(DataError):
            quality[name, code] = pseudo_quality(find_task(name), code, split, request.data)
    signatures = dict.fromkeys(f"{score.metric} {score.signature}" for scores in quality.values() for score in scores)
    notes += [f"each distinct text counts once: {signature}" for signature in signatures]
    return quality


def _scores_of(quality: Quality, name: str, code: str) -> list[float | None]:
    scores = [score.value for score in quality.get((name, code), ())]
    return [*scores] if scores else [None, None]


def _by_language(compared: Sequence[PseudoComparison], quality: Quality) -> TidyTable:
    """Return the columns of XTREME's appendix, one row per language: both scores, BLEU and chrF; and correlations."""
    described = (
        "task metric language; systems:count; human pseudo:score; difference:difference; bleu:score = BLEU; "
        "chrf:score = chrF; pearson±:correlation = Pearson; spearman:correlation = Spearman"
    )
    table = TidyTable("languages", "Pseudo and human test sets: means over systems", columns(described))
    for (name, metric), same in group_by(compared, lambda one: (one.task, one.metric)).items():
        rows: list[list[float | None]] = []
        by_code = group_by(same, lambda one: one.language)
        for code, cells in sorted(by_code.items()):
            human, machine = _scores(cells)
            means = fmean(human), fmean(machine)
            figures = [*means, means[1] - means[0], *_scores_of(quality, name, code)]
            rows.append(figures)
            table.add(name, metric, code, len(cells), *figures, *correlations(human, machine))
        if len(rows) > 1:
            averages = [fmean(known) if None not in column else None for column, known in _columns_of(rows)]
            count = len({one.system for one in same})
            # Pooling languages would mix their difficulty into the correlation over systems.
            table.add(name, metric, MEAN_ROW, count, *averages, None, None, None, None)
    table.notes.append("correlations are over systems, within a language")
    return table


def _columns_of(rows: Sequence[Sequence[float | None]]) -> list[tuple[tuple[float | None, ...], list[float]]]:
    """Return the columns of some rows, each with its known values."""
    return [(column, [value for value in column if value is not None]) for column in zip(*rows, strict=True)]


def _by_system(compared: Sequence[PseudoComparison], quality: Quality) -> TidyTable:
    """Return correlations over languages, as XTREME reports them of one system."""
    described = (
        "task metric system; languages:count; human pseudo:score; difference:difference; pearson±:correlation = "
        "Pearson; spearman:correlation = Spearman; bleu:correlation = with BLEU; chrf:correlation = with chrF"
    )
    table = TidyTable("systems", "Over languages", columns(described))
    for (name, metric, system), cells in group_by(compared, lambda one: (one.task, one.metric, one.system)).items():
        human, machine = _scores(cells)
        texts = [_scores_of(quality, name, one.language) for one in cells]
        by_quality = []
        for column, _ in _columns_of(texts):
            rated = [(score, value) for score, value in zip(machine, column, strict=True) if value is not None]
            by_quality.append(_pearson([score for score, _ in rated], [value for _, value in rated]))
        means = fmean(human), fmean(machine)
        table.add(
            name, metric, system, len(cells), *means, means[1] - means[0], *correlations(human, machine), *by_quality
        )
    table.notes.append("with BLEU, with chrF: Pearson's correlation with the score on the pseudo set")
    return table


def _every_cell(compared: Sequence[PseudoComparison]) -> TidyTable:
    described = "task metric language system; n human_n:count; human±:score; pseudo±:score; difference±:difference"
    table = TidyTable("cells", "Every system on both sets", columns(described))
    table.notes.append("n: examples of both sets; human_n: of the whole human set")
    for one in sorted(compared, key=lambda each: (each.task, each.metric, each.language)):
        figures = [*one.human, *one.pseudo, *one.difference]
        table.add(one.task, one.metric, one.language, one.system, one.n, one.human_n, *figures)
    return table


def _figure(compared: Sequence[PseudoComparison]) -> Figure:
    """Return a scatter plot of both scores, with a panel per task, or per metric if tasks have several."""
    several = len({(one.task, one.metric) for one in compared}) > len({one.task for one in compared})
    return figure(
        "scatter",
        f"cells: human, pseudo, language, {'metric' if several else 'task'}",
        "Scores on pseudo and human test sets",
        "Scatter plot of the score on the pseudo test set against that on the human one, one point per system.",
        label="system",
    )


def _reading(table: TidyTable, systems: int) -> str:
    sentences = []
    for (name, code), rows in group_by(table.records(), lambda row: (row["task"], row["language"])).items():
        if code == MEAN_ROW:
            continue
        biases = [f"{difference_text(_number(row, 'difference'))} in {row['metric']}" for row in rows]
        sentence = f"{name}/{code}: the pseudo set differs by {' and '.join(biases)} on average"
        first = rows[0]
        if first["bleu"] is not None:
            quality = f"BLEU {score_text(_number(first, 'bleu'))}, chrF {score_text(_number(first, 'chrf'))}"
            sentence += f" ({quality} against the human set)"
        if first["pearson"] is not None:
            sentence += f", and orders the systems with Pearson's r = {_number(first, 'pearson'):.2f}"
        sentences.append(f"{sentence}.")
    beginning = f"{counted(systems, 'system')} on pseudo and human test sets. {first_few(sentences)}"
    if systems < FEWEST:
        return f"{beginning} Too few systems to tell if both sets order them alike: this needs {FEWEST}."
    return beginning


def _number(row: Mapping[str, Value], name: str) -> float:
    value = row[name]
    return float(value) if isinstance(value, int | float) else float("nan")
