"""Generalisation to the unseen: tag n-grams and entities that English training has, against those it has not.

XTREME (section 5, Table 4) gives the accuracy on part-of-speech tag trigrams and 4-grams that were seen or not seen in
the English training data, and compares seen with unseen entities, "isolating" length, frequency and Latin script.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from isogloss.analysis.answers import answers_of, mark_partial
from isogloss.analysis.entity_strata import FACTORS, EntityStrata, entity_strata
from isogloss.analysis.finding import (
    MEAN_OF_OTHERS,
    AnalysisError,
    Column,
    Figure,
    Finding,
    TidyTable,
    Value,
    first_few,
)
from isogloss.analysis.interval_values import compared_values, difference_values, score_values
from isogloss.analysis.table_columns import interval_columns, text_columns
from isogloss.analysis.tag_ngrams import NgramOccurrences, TagNgram, ngram_occurrences, tag_ngrams
from isogloss.errors import DataError
from isogloss.explain.tagging import training_entities
from isogloss.metrics.estimate import Estimate, mean
from isogloss.metrics.statistics import Statistics
from isogloss.metrics.student import ENOUGH
from isogloss.predictions.memory import Predictions
from isogloss.scoring.averages import PIVOT
from isogloss.scoring.cells import Cell, Request
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
    "An n-gram is a run of gold tags within a sentence, counted as often as it occurs; it is right if all tags are.",
    "An entity is seen if its characters, whatever their case and blanks, are an entity of the English training set.",
    "Intervals are of new sentences (those with the same words, and translations of one sentence of PUD, together).",
    "Alike means of the same type, the same length (1, 2, 3, more tokens), equally frequent in the test set (once, up"
    " to 4 times, more), and both in Latin script or not; seen entities are weighted to the mix of the unseen ones."
    " XTREME names the factors, not the cuts.",
    f"Means are over the languages that have seen and unseen ones in at least {ENOUGH} independent sentences each.",
]

# The rows of a system and task that stand for all its languages.
_SUMMARY = (PIVOT, MEAN_OF_OTHERS)
# (system, task, language) -> what was measured
Key = tuple[str, str, str]


@dataclass(frozen=True)
class SeenUnseen:
    """A score on what was seen in English training and on what was not; None where there is none of it."""

    seen: Estimate | None
    unseen: Estimate | None

    def values(self) -> list[Value]:
        """Seen, unseen and their difference, each with its interval."""
        return compared_values(self.seen, self.unseen)


class _TestedCells:
    """What is kept of the cells: judged, without their texts."""

    def __init__(self, request: Request) -> None:
        self.cells: dict[Key, Cell] = {}
        self.ngrams: dict[Key, dict[int, NgramOccurrences]] = {}
        self.entities: dict[Key, EntityStrata] = {}
        self._resample = request.resample

    def others(self, keys: Sequence[Key]) -> list[Key]:
        """Those that a mean is over: not English, and none whose gold is partial."""
        return [key for key in keys if key[2] != PIVOT and not self.cells[key].partial]

    def measured(self) -> None:
        """Call when all cells are there: sources are numbered over all of them."""
        self._sources = Sources(self.cells.values(), self._resample)

    def estimate(self, key: Key, statistics: Statistics | None) -> Estimate | None:
        return None if statistics is None else self._sources.estimate(self.cells[key], statistics)

    def ngram_scores(self, key: Key, order: int) -> SeenUnseen:
        found = self.ngrams[key][order]
        return SeenUnseen(*(self.estimate(key, found.accuracy(seen=seen)) for seen in (True, False)))

    def recalls(self, key: Key, factor: str = "", bucket: str = "") -> SeenUnseen:
        found = self.entities[key]
        sides = (found.recall(seen=seen, factor=factor, bucket=bucket) for seen in (True, False))
        return SeenUnseen(*(self.estimate(key, side) for side in sides))

    def f1_scores(self, key: Key) -> SeenUnseen:
        sides = (self.entities[key].f1[seen] for seen in (True, False))
        return SeenUnseen(*(self.estimate(key, side if len(side) else None) for side in sides))


def unseen(folders: Sequence[Predictions], request: Request) -> Finding:
    """How much worse systems are on tag n-grams and entities that English training does not have.

    Args:
        folders: prediction folders, one a system.
        request: tasks, languages, split and data.

    Returns:
        Accuracy on seen and unseen n-grams, recall and F1 on seen and unseen entities, in each language; of entities
        also by length, frequency, script and type, and among those that are alike in all of these.

    Raises:
        AnalysisError: no tagging task, or no English training set to have seen anything in.
    """
    notes: list[str] = []
    tested = _tested(folders, request, notes)
    tables = [*_ngram_tables(tested), *_entity_tables(tested)]
    marked = mark_partial(tables, {key for key, cell in tested.cells.items() if cell.partial})
    return Finding(
        "unseen", "Seen and unseen in English training", _reading(tables), marked, _figures(tables), NOTES + notes
    )


def _has_chunks(task: Task) -> bool:
    """Whether tags mark entities (B-PER), and are not parts of speech."""
    return any("-" in label for label in task.labels)


def _tested(folders: Sequence[Predictions], request: Request, notes: list[str]) -> _TestedCells:
    tested = _TestedCells(request)
    trained: dict[str, dict[int, set[TagNgram]]] = {}
    for system, answered in answers_of(folders, request, lambda task: kind_of(task).form == "tags", notes, NEEDS):
        task, examples = answered.task, answered.examples
        key = system, task.id, examples.language
        if _has_chunks(task):
            known = training_entities(task.id, request.data)
            if known is None:
                raise _no_training(task, "there is no English training file")
            tested.entities[key] = entity_strata(answered, known)
        elif answered.cell.judgement.dialect == SPANS:
            notes.append(f"{system} on {task.id}/{examples.language}: spans have no n-grams of tags, left out")
            continue
        else:
            if task.id not in trained:
                trained[task.id] = _training_ngrams(task, request)
            ngrams = trained[task.id]
            tested.ngrams[key] = {
                order: ngram_occurrences(examples["tags"], answered.values, ngrams[order], order) for order in ORDERS
            }
        tested.cells[key] = answered.cell
    if not tested.cells:
        raise AnalysisError("no cell has tags or entities to look at", fix="Give one tag a token")
    tested.measured()
    return tested


def _training_ngrams(task: Task, request: Request) -> dict[int, set[TagNgram]]:
    try:
        examples = load(task, PIVOT, "train", request.data, allow_partial=True)
    except DataError as error:
        raise _no_training(task, error.what) from None
    if not examples.has_gold:
        raise _no_training(task, "it has no tags")
    return {order: tag_ngrams(examples["tags"], order) for order in ORDERS}


def _no_training(task: Task, why: str) -> AnalysisError:
    what = f"nothing is known of what systems saw in training: {why}"
    return AnalysisError(what, where=f"{task.id}/{PIVOT}", fix=f"isogloss fetch {task.id}")


def _mean(parts: Sequence[SeenUnseen]) -> SeenUnseen:
    """The mean over languages that have enough of both sides."""
    both = [(part.seen, part.unseen) for part in parts if part.seen is not None and part.unseen is not None]
    known = [sides for sides in both if min(side.sources for side in sides) >= ENOUGH]
    return SeenUnseen(*map(mean, zip(*known, strict=True))) if known else SeenUnseen(None, None)


def _by_task(keys: Sequence[Key]) -> dict[tuple[str, str], list[str]]:
    """The languages of each system and task."""
    found: dict[tuple[str, str], list[str]] = {}
    for system, task, language in keys:
        found.setdefault((system, task), []).append(language)
    return found


def _english_first(rows: list[list[Value]]) -> list[list[Value]]:
    """English, then the mean of the others, then these: a long table is cut off where it is shown."""
    return sorted(rows, key=lambda row: _SUMMARY.index(str(row[2])) if row[2] in _SUMMARY else len(_SUMMARY))


_SIDES = [
    *interval_columns("seen", "score"),
    *interval_columns("unseen", "score"),
    *interval_columns("gap", "difference", "seen - unseen"),
]


def _ngram_tables(tested: _TestedCells) -> list[TidyTable]:
    rows: list[list[Value]] = []
    compared: list[list[Value]] = []
    for (system, task), languages in _by_task(list(tested.ngrams)).items():
        for order in ORDERS:
            scores = {code: tested.ngram_scores((system, task, code), order) for code in languages}
            part: list[list[Value]] = []
            for code, score in scores.items():
                where = tested.ngrams[system, task, code][order].seen
                share = 100 * float((~where).mean()) if len(where) else None
                part.append([system, task, code, order, len(where), share, *score.values()])
            others = [scores[code] for *_, code in tested.others([(system, task, code) for code in languages])]
            if len(others) > 1:
                part.append([system, task, MEAN_OF_OTHERS, order, None, None, *_mean(others).values()])
            rows += _english_first(part)
            if PIVOT in scores and others and not tested.cells[system, task, PIVOT].partial:
                compared += _beside_printed(system, order, scores[PIVOT], _mean(others))
    columns = [
        *text_columns("system", "task", "language"),
        Column("order", "count", "n"),
        Column("n", "count", "n-grams"),
        Column("unseen_share", "score", "% unseen"),
        *_SIDES,
    ]
    title = "Accuracy on tag n-grams, seen or not in English training"
    printed = "Printed are mBERT's, XTREME's Table 4: dev sets, all other languages"
    tables = [
        TidyTable("ngrams", title, columns, rows),
        TidyTable("table-4", "As in XTREME's Table 4", _TABLE_4, compared, [printed]),
    ]
    return [table for table in tables if table.rows]


_TABLE_4 = [
    Column("system"),
    Column("order", "count", "n"),
    Column("which"),
    *interval_columns("english", "score", "en"),
    *interval_columns("others", "score", MEAN_OF_OTHERS),
    *interval_columns("loss", "difference", "difference"),
    Column("printed_english", "score", "en, printed"),
    Column("printed_others", "score", "others, printed"),
    Column("printed_loss", "difference", "difference, printed"),
]


def _beside_printed(system: str, order: int, english: SeenUnseen, others: SeenUnseen) -> list[list[Value]]:
    rows: list[list[Value]] = []
    for name, first, second in (("seen", english.seen, others.seen), ("unseen", english.unseen, others.unseen)):
        rows.append([system, order, name, *compared_values(first, second), *PRINTED[order, name]])
    return rows


_ENTITY_COLUMNS = [
    *text_columns("system", "task", "language"),
    Column("n", "count", "entities"),
    Column("unseen_share", "score", "% unseen"),
    *_SIDES,
    *interval_columns("f1_seen", "score", "F1 seen"),
    *interval_columns("f1_unseen", "score", "F1 unseen"),
    *interval_columns("alike", "difference", "seen - unseen, alike"),
]
_FACTOR_COLUMNS = [
    *text_columns("system", "task", "language", "factor", "bucket"),
    Column("n_seen", "count", "seen"),
    Column("n_unseen", "count", "unseen"),
    *_SIDES,
]


def _entity_tables(tested: _TestedCells) -> list[TidyTable]:
    rows: list[list[Value]] = []
    by_factor: list[list[Value]] = []
    for (system, task), languages in _by_task(list(tested.entities)).items():
        keys = [(system, task, code) for code in languages]
        part: list[list[Value]] = []
        for key in keys:
            found = tested.entities[key]
            share = 100 * float((~found.seen).mean()) if len(found.seen) else None
            alike = tested.estimate(key, found.matched())
            values = _entity_values(tested.recalls(key), tested.f1_scores(key), alike)
            part.append([*key, len(found.seen), share, *values])
            by_factor += _factor_rows(tested, key)
        others = tested.others(keys)
        if len(others) > 1:
            recalls, f1 = (_mean([scores(key) for key in others]) for scores in (tested.recalls, tested.f1_scores))
            known = [each for key in others if (each := tested.estimate(key, tested.entities[key].matched()))]
            values = _entity_values(recalls, f1, mean(known) if known else None)
            part.append([system, task, MEAN_OF_OTHERS, None, None, *values])
        rows += _english_first(part)
    title = "Recall of gold entities, seen or not in English training"
    tables = [
        TidyTable("entities", title, _ENTITY_COLUMNS, rows),
        TidyTable("entities-by", "The same by length, frequency, script and type", _FACTOR_COLUMNS, by_factor),
    ]
    return [table for table in tables if table.rows]


def _entity_values(recalls: SeenUnseen, f1: SeenUnseen, alike: Estimate | None) -> list[Value]:
    """What the columns from `seen` on have."""
    return [*recalls.values(), *score_values(f1.seen), *score_values(f1.unseen), *difference_values(alike)]


def _factor_rows(tested: _TestedCells, key: Key) -> list[list[Value]]:
    found = tested.entities[key]
    rows: list[list[Value]] = []
    for factor in FACTORS:
        for bucket in sorted(set(found.factors[factor].tolist())):
            inside = found.factors[factor] == bucket
            counts = [int((inside & found.seen).sum()), int((inside & ~found.seen).sum())]
            rows.append([*key, factor, bucket, *counts, *tested.recalls(key, factor, bucket).values()])
    return rows


def _figures(tables: Sequence[TidyTable]) -> list[Figure]:
    names = {table.name for table in tables}
    texts = {
        "ngrams": ("Accuracy lost on unseen tag n-grams", "order"),
        "entities": ("Recall lost on unseen entities", ""),
    }
    return [
        Figure(
            name,
            "bars",
            title,
            "A bar for each language: the score on what was seen minus that on what was not, with its interval.",
            "gap",
            "language",
            colour="system",
            panel=panel,
        )
        for name, (title, panel) in texts.items()
        if name in names
    ]


def _reading(tables: Sequence[TidyTable]) -> str:
    by_name = {table.name: table.records() for table in tables}
    sentences = []
    for (system, order), rows in _summary_rows(by_name.get("ngrams", []), "system", "order").items():
        printed = ", ".join(f"{PRINTED[order, which][0]} and {PRINTED[order, which][1]} {which}" for which in _WHICH)
        sentences.append(
            f"{system} has tag {order}-grams right in {_sides(rows)} (mBERT in print, English and others: {printed})."
        )
    for (system, task), rows in _summary_rows(by_name.get("entities", []), "system", "task").items():
        alike = ", ".join(f"{row['alike']:+.1f} in {_where(row)}" for row in rows if isinstance(row["alike"], float))
        among = f"; seen minus unseen among alike ones is {alike}" if alike else ""
        sentences.append(f"{system} finds entities of {task} in {_sides(rows)}{among}.")
    return (
        f"{first_few(sentences)} What is unseen is also rarer, longer and more of the language's own, so the gap is no"
        " proof that having been seen is what helps; only the alike comparison takes the named factors out."
    )


_WHICH = ("seen", "unseen")
Record = dict[str, Value]


def _summary_rows(records: Sequence[Record], *keys: str) -> dict[tuple[Any, ...], list[Record]]:
    """By these columns the rows that stand for all: English and the mean of others, or else the first."""
    groups: dict[tuple[Any, ...], list[Record]] = {}
    for row in records:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    return {key: [row for row in rows if row["language"] in _SUMMARY] or rows[:1] for key, rows in groups.items()}


def _sides(rows: Sequence[Record]) -> str:
    return " and in ".join(
        f"{_where(row)} {' and '.join(f'{row[which]:.1f} % of {which}' for which in _WHICH if row[which] is not None)}"
        for row in rows
    )


def _where(row: Record) -> str:
    return {PIVOT: "English", MEAN_OF_OTHERS: "the other languages"}.get(str(row["language"]), str(row["language"]))
