"""Scores on tag n-grams and entities seen and unseen in English training.

XTREME (section 5, Table 4) reports the accuracy on part-of-speech tag trigrams and 4-grams seen and unseen in the
English training data, and compares seen with unseen entities, "isolating" length, frequency and Latin script.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from isogloss.analysis import finding, seen_items
from isogloss.analysis.answers import answers_of, compared_values, difference_values, mark_partial, score_values
from isogloss.analysis.finding import (
    MEAN_OF_OTHERS,
    Finding,
    TidyTable,
    Value,
    columns,
    difference_words,
    figure,
    first_few,
)
from isogloss.analysis.seen_items import FACTORS, EntityStrata, NgramOccurrences, TagNgram
from isogloss.errors import DataError
from isogloss.explain.tagging import TrainingEntities, training_entities
from isogloss.grouping import group_by
from isogloss.metrics.estimate import Estimate, mean
from isogloss.metrics.statistics import Statistics
from isogloss.metrics.student import ENOUGH
from isogloss.predictions.memory import Predictions
from isogloss.scoring.averages import PIVOT
from isogloss.scoring.cells import Cell
from isogloss.scoring.request import Request
from isogloss.scoring.sources import Sources
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.kinds.tagging import SPANS
from isogloss.tasks.loading import load
from isogloss.tasks.task import Task

ORDERS = (3, 4)
NEEDS = "tagging tasks: udpos, wikiann"
# XTREME, Table 4: mBERT on the dev sets; (order, which) -> English, mean of all other languages, their difference.
PRINTED = {
    (3, "seen"): (90.3, 50.6, 39.7),
    (3, "unseen"): (63.0, 12.1, 50.9),
    (4, "seen"): (88.1, 44.3, 43.7),
    (4, "unseen"): (67.5, 18.3, 49.2),
}
NOTES = [
    "An n-gram is a sequence of gold tags within a sentence; every occurrence counts. It is right if all tags are.",
    "An entity is seen if the English training set has it, ignoring case and spaces.",
    "Intervals are clustered by sentence: sentences with the same words, and translations of a PUD sentence, form one"
    " cluster.",
    "Matched entities have the same type, length (1, 2, 3 or more tokens), frequency in the test set (once, up to 4"
    " times, more) and script (Latin or not); seen entities are reweighted to the distribution of unseen ones. XTREME"
    " names the factors but not the cutoffs.",
    f"Means are over languages with seen and unseen items in at least {ENOUGH} independent sentences each.",
]

# Summary rows of a system and task.
_SUMMARY = (PIVOT, MEAN_OF_OTHERS)
# System, task and language.
Key = tuple[str, str, str]
# Scores on items seen and unseen in English training; None without such items.
SeenUnseen = tuple[Estimate | None, Estimate | None]


class _TestedCells:
    """Judged cells without their texts; estimate only after adding the last cell, since sources span all cells."""

    def __init__(self, request: Request) -> None:
        self.cells: dict[Key, Cell] = {}
        self.ngrams: dict[Key, dict[int, NgramOccurrences]] = {}
        self.entities: dict[Key, EntityStrata] = {}
        self._resample = request.resample

    def others(self, keys: Sequence[Key]) -> list[Key]:
        """Return the cells to average: not English, and with complete gold."""
        return [key for key in keys if key[2] != PIVOT and not self.cells[key].partial]

    @cached_property
    def _sources(self) -> Sources:
        return Sources(self.cells.values(), self._resample)

    def estimate(self, key: Key, statistics: Statistics | None) -> Estimate | None:
        return None if statistics is None else self._sources.estimate(self.cells[key], statistics)

    def sides(self, key: Key, statistics: Callable[[bool], Statistics | None]) -> SeenUnseen:
        return self.estimate(key, statistics(True)), self.estimate(key, statistics(False))

    def ngram_scores(self, key: Key, order: int) -> SeenUnseen:
        return self.sides(key, lambda seen: self.ngrams[key][order].accuracy(seen=seen))

    def recalls(self, key: Key, factor: str = "", bucket: str = "") -> SeenUnseen:
        return self.sides(key, lambda seen: self.entities[key].recall(seen=seen, factor=factor, bucket=bucket))

    def f1_scores(self, key: Key) -> SeenUnseen:
        return self.sides(key, lambda seen: side if len(side := self.entities[key].f1[seen]) else None)


def unseen(folders: Sequence[Predictions], request: Request) -> Finding:
    """Compare scores on tag n-grams and entities seen and unseen in English training.

    Args:
        folders: prediction folders, one per system.
        request: tasks, languages, split and data.

    Returns:
        Accuracy on seen and unseen n-grams, recall and F1 on seen and unseen entities, by language; for entities also
        by length, frequency, script and type, and matched on all of these.

    Raises:
        AnalysisError: no tagging task, or no cell with tags and an English training set.
    """
    notes: list[str] = []
    tested = _tested(folders, request, notes)
    tables = [table for table in (*_ngram_tables(tested), *_entity_tables(tested)) if table.rows]
    about = "Score on seen minus unseen items per language, with its interval."
    charts = (
        ("ngrams", "gap, language, system, order", "Accuracy lost on unseen tag n-grams"),
        ("entities", "gap, language, system", "Recall lost on unseen entities"),
    )
    names = {table.name for table in tables}
    return Finding(
        analysis="unseen",
        title="Seen and unseen in English training",
        reading=_reading(tables),
        tables=mark_partial(tables, {key for key, cell in tested.cells.items() if cell.partial}),
        figures=[figure("bars", f"{name}: {axes}", title, about) for name, axes, title in charts if name in names],
        notes=NOTES + notes,
    )


def _tested(folders: Sequence[Predictions], request: Request, notes: list[str]) -> _TestedCells:
    tested = _TestedCells(request)
    training: dict[str, _Training | None] = {}
    for system, answered in answers_of(folders, request, lambda task: kind_of(task).form == "tags", notes, NEEDS):
        task, examples = answered.task, answered.examples
        key = system, task.id, examples.language
        if answered.cell.judgement.dialect == SPANS and not _has_entities(task):
            notes.append(f"{system} on {task.id}/{examples.language}: spans have no tag n-grams, left out")
            continue
        if task.id not in training:
            training[task.id] = _training(task, request, notes)
        trained = training[task.id]
        if trained is None:
            continue
        if isinstance(trained, TrainingEntities):
            tested.entities[key] = seen_items.entity_strata(answered, trained)
        else:
            tested.ngrams[key] = {
                order: seen_items.ngram_occurrences(examples["tags"], answered.values, ngrams, order)
                for order, ngrams in trained.items()
            }
        tested.cells[key] = answered.cell
    if not tested.cells:
        raise finding.AnalysisError("no cell has tags or entities", where="; ".join(notes[:2]), fix=_FIX)
    return tested


_FIX = "Predict one tag per token of tasks with English training data"
# Items of the English training set: tag n-grams by order, or entities.
_Training = dict[int, set[TagNgram]] | TrainingEntities


def _has_entities(task: Task) -> bool:
    """Return True if tags mark entities (B-PER) rather than parts of speech."""
    return any("-" in label for label in task.labels)


def _training(task: Task, request: Request, notes: list[str]) -> _Training | None:
    """Return the items of a task's English training set, or None with a note if it cannot be read."""
    if PIVOT not in task.every_language:
        notes.append(f"left out: {task.id} has no English training set")
        return None
    try:
        if _has_entities(task):
            entities = training_entities(task.id, request.data)
            if entities is None:
                raise DataError("missing English training file")
            return entities
        examples = load(task, PIVOT, "train", request.data, allow_partial=True)
        if not examples.has_gold:
            raise DataError("the English training file has no tags")
    except DataError as error:
        why = f"cannot read the English training data: {error.what}. Run isogloss fetch {task.id}"
        notes.append(f"left out: {task.id}/{PIVOT}: {why}")
        return None
    return {order: seen_items.tag_ngrams(examples["tags"], order) for order in ORDERS}


def _mean(parts: Sequence[SeenUnseen]) -> SeenUnseen:
    """Return the mean over languages with enough seen and unseen items."""
    both = [(seen, unseen) for seen, unseen in parts if seen is not None and unseen is not None]
    enough = [sides for sides in both if min(side.sources for side in sides) >= ENOUGH]
    return (mean([seen for seen, _ in enough]), mean([unseen for _, unseen in enough])) if enough else (None, None)


def _english_first(rows: list[list[Value]]) -> list[list[Value]]:
    """Sort English and the mean of the others first, since long tables are truncated."""
    return sorted(rows, key=lambda row: _SUMMARY.index(str(row[2])) if row[2] in _SUMMARY else len(_SUMMARY))


_SIDES = "seen unseen±:score; gap±:difference = seen - unseen"


def _ngram_tables(tested: _TestedCells) -> list[TidyTable]:
    counts = "system task language; order:count = n; n:count = n-grams; unseen_share:score = % unseen"
    title = "Accuracy on tag n-grams seen and unseen in English training"
    ngrams = TidyTable("ngrams", title, columns(f"{counts}; {_SIDES}"))
    heads = columns(
        "system; order:count = n; which; english±:score = en; others±:score = mean of others; loss±:difference = "
        "difference; printed_english:score = en, printed; printed_others:score = others, printed; "
        "printed_loss:difference = difference, printed"
    )
    printed = "Printed: mBERT in XTREME's Table 4, dev sets, all other languages"
    compared = TidyTable("table-4", "Comparison with XTREME's Table 4", heads, notes=[printed])
    for (system, task), keys in group_by(tested.ngrams, lambda key: key[:2]).items():
        for order in ORDERS:
            scores = {key: tested.ngram_scores(key, order) for key in keys}
            part: list[list[Value]] = []
            for key, score in scores.items():
                where = tested.ngrams[key][order].seen
                share = 100 * float((~where).mean()) if len(where) else None
                part.append([*key, order, len(where), share, *compared_values(*score)])
            others = [scores[key] for key in tested.others(keys)]
            if len(others) > 1:
                part.append([system, task, MEAN_OF_OTHERS, order, None, None, *compared_values(*_mean(others))])
            ngrams.rows.extend(_english_first(part))
            english = scores.get((system, task, PIVOT))
            if english and others and not tested.cells[system, task, PIVOT].partial:
                for name, *both in zip(_WHICH, english, _mean(others), strict=True):
                    compared.add(system, order, name, *compared_values(*both), *PRINTED[order, name])
    return [ngrams, compared]


def _entity_tables(tested: _TestedCells) -> list[TidyTable]:
    heads = columns(
        f"system task language; n:count = entities; unseen_share:score = % unseen; {_SIDES}; "
        "f1_seen±:score = F1 seen; f1_unseen±:score = F1 unseen; alike±:difference = seen - unseen, matched"
    )
    entities = TidyTable("entities", "Recall of gold entities seen and unseen in English training", heads)
    heads = columns(f"system task language factor bucket; n_seen:count = seen; n_unseen:count = unseen; {_SIDES}")
    by_factor = TidyTable("entities-by", "Recall by length, frequency, script and type", heads)
    for system_and_task, keys in group_by(tested.entities, lambda key: key[:2]).items():
        part: list[list[Value]] = []
        for key in keys:
            strata = tested.entities[key]
            share = 100 * float((~strata.seen).mean()) if len(strata.seen) else None
            alike = tested.estimate(key, strata.matched())
            values = _entity_values(tested.recalls(key), tested.f1_scores(key), alike)
            part.append([*key, len(strata.seen), share, *values])
            for factor in FACTORS:
                for bucket in sorted(set(strata.factors[factor].tolist())):
                    inside = strata.factors[factor] == bucket
                    counts = [int((inside & strata.seen).sum()), int((inside & ~strata.seen).sum())]
                    by_factor.add(*key, factor, bucket, *counts, *compared_values(*tested.recalls(key, factor, bucket)))
        others = tested.others(keys)
        if len(others) > 1:
            recalls, f1 = (_mean([scores(key) for key in others]) for scores in (tested.recalls, tested.f1_scores))
            matched = (tested.estimate(key, tested.entities[key].matched()) for key in others)
            estimates = [estimate for estimate in matched if estimate is not None]
            values = _entity_values(recalls, f1, mean(estimates) if estimates else None)
            part.append([*system_and_task, MEAN_OF_OTHERS, None, None, *values])
        entities.rows.extend(_english_first(part))
    return [entities, by_factor]


def _entity_values(recalls: SeenUnseen, f1: SeenUnseen, alike: Estimate | None) -> list[Value]:
    return [*compared_values(*recalls), *score_values(f1[0]), *score_values(f1[1]), *difference_values(alike)]


def _reading(tables: Sequence[TidyTable]) -> str:
    by_name = {table.name: table.records() for table in tables}
    sentences = []
    for (system, order), rows in _summary_rows(by_name.get("ngrams", []), "system", "order").items():
        printed = ", ".join(f"{PRINTED[order, which][0]} and {PRINTED[order, which][1]} {which}" for which in _WHICH)
        sentences.append(
            f"{system} tags {order}-grams correctly in {_sides(rows)} (XTREME's mBERT, English and others: {printed})."
        )
    for (system, task), rows in _summary_rows(by_name.get("entities", []), "system", "task").items():
        alike = ", ".join(
            f"{difference_words(row['alike'], row['alike_low'], row['alike_high'])} in {_where(row)}"
            for row in rows
            if isinstance(row["alike"], float)
        )
        among = f"; seen minus unseen among matched entities is {alike}" if alike else ""
        sentences.append(f"{system} recalls entities of {task} in {_sides(rows)}{among}.")
    return (
        f"{first_few(sentences)} Unseen items are also rarer, longer and more language-specific, so the gap does not "
        "prove an effect of exposure; only the matched comparison controls for these factors."
    )


_WHICH = ("seen", "unseen")
Record = dict[str, Value]


def _summary_rows(records: Sequence[Record], *keys: str) -> dict[tuple[Any, ...], list[Record]]:
    """Group the summary rows by these columns: English and the mean of others, or else the first row."""
    groups = group_by(records, lambda row: tuple(row[key] for key in keys))
    return {key: [row for row in rows if row["language"] in _SUMMARY] or rows[:1] for key, rows in groups.items()}


def _sides(rows: Sequence[Record]) -> str:
    parts = []
    for row in rows:
        shares = [f"{row[which]:.1f} % of {which}" for which in _WHICH if row[which] is not None]
        gap = f", a difference of {difference_words(row['gap'], row['gap_low'], row['gap_high'])}"
        parts.append(f"{_where(row)} {' and '.join(shares)}{gap if len(shares) > 1 else ''}")
    return " and in ".join(parts)


def _where(row: Record) -> str:
    return {PIVOT: "English", MEAN_OF_OTHERS: "the other languages"}.get(str(row["language"]), str(row["language"]))
