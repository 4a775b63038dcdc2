"""Pseudo test sets against human ones (XTREME, section 3.4): scores, their correlation, and the quality of the texts.

A pseudo set is the English test set, machine-translated. Where a language also has a human test set, both sets rank the
same systems, and the difference of their scores tells the bias of the pseudo set.
"""

from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np

from isogloss.analysis.answers import answers_of, difference_values, score_values
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
from isogloss.errors import DataError
from isogloss.figures import counted, difference_text, score_text
from isogloss.grouping import group_by
from isogloss.metrics.estimate import Estimate, difference
from isogloss.metrics.language_sample import standardised
from isogloss.predictions.memory import Predictions
from isogloss.scoring.cells import Cell
from isogloss.scoring.request import Request
from isogloss.scoring.sources import Sources
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


@dataclass(frozen=True, kw_only=True)
class PseudoComparison:
    """A system's scores on the human and the pseudo test set of one language, in one metric.

    `n` is the number of examples that both have, or of the pseudo set if they are not parallel; `human_n` that of the
    whole human set.
    """

    system: str
    task: str
    metric: str
    language: str
    human: Estimate
    pseudo: Estimate
    n: int
    human_n: int

    @property
    def difference(self) -> Estimate:
        """Pseudo minus human, paired by source."""
        return difference(self.pseudo, self.human)


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
        folders: prediction folders, one per system, with answers to both sets.
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
    both_sets = _both(request, split)
    human = _cells(folders, both_sets, notes)
    machine = _cells(folders, replace(both_sets, split=split), notes)
    compared = [
        comparison
        for key, cell in human.items()
        if (other := machine.get(key)) is not None
        for comparison in _comparisons(key[0], cell, other, request)
    ]
    if not compared:
        fix = "Predict both sets, with isogloss run --pseudo, or pseudo-<language>.jsonl beside <language>.jsonl"
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
        figures=[_FIGURE],
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


def _comparisons(system: str, human: Cell, machine: Cell, request: Request) -> list[PseudoComparison]:
    """Return the scores of a cell on both sets, by main metric."""
    whole = human.n
    if shared := {*(human.units or ())} & {*(machine.units or ())}:
        human, machine = restricted(human, shared), restricted(machine, shared)
    # Both sets are translations of the same English examples: one space of sources.
    machine = replace(machine, split=human.split)
    sources = Sources([human, machine], request.resample)
    return [
        PseudoComparison(
            system=system,
            task=human.task,
            metric=metric,
            language=human.language,
            human=sources.estimate(human, human.metrics[metric]),
            pseudo=sources.estimate(machine, machine.metrics[metric]),
            n=machine.n,
            human_n=whole,
        )
        for metric in find_task(human.task).main
        if metric in human.metrics and metric in machine.metrics
    ]


def restricted(cell: Cell, units: Set[str]) -> Cell:
    """Return a cell with the examples of some units only."""
    rows = [row for row, unit in enumerate(cell.units or ()) if unit in units]
    place = np.full(cell.n, -1)
    place[rows] = np.arange(len(rows))
    metrics = {}
    for name, statistics in cell.metrics.items():
        example = np.arange(len(statistics)) if statistics.units is None else statistics.units
        inside = place[example] >= 0
        part = statistics.select(inside)
        metrics[name] = part if statistics.units is None else replace(part, units=place[example[inside]])
    return replace(
        cell,
        n=len(rows),
        judgement=replace(cell.judgement, metrics=metrics),
        units=[(cell.units or ())[row] for row in rows],
        clusters=None if cell.clusters is None else [cell.clusters[row] for row in rows],
    )


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
            human, machine = ([100 * getattr(one, side).value for one in cells] for side in ("human", "pseudo"))
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
        human, machine = ([100 * getattr(one, side).value for one in cells] for side in ("human", "pseudo"))
        texts = [_scores_of(quality, name, one.language) for one in cells]
        rated = [(score, *pair) for score, pair in zip(machine, texts, strict=True)]
        by_quality = [
            _pearson(
                [row[0] for row in rated if row[at] is not None], [row[at] for row in rated if row[at] is not None]
            )
            for at in (1, 2)
        ]
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
        figures = [*score_values(one.human), *score_values(one.pseudo), *difference_values(one.difference)]
        table.add(one.task, one.metric, one.language, one.system, one.n, one.human_n, *figures)
    return table


_FIGURE: Figure = figure(
    "scatter",
    "cells: human, pseudo, language, task",
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
