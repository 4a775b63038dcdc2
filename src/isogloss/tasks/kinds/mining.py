"""Bitext mining: the answer for a source sentence is the id of its translation, or nothing."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from isogloss.errors import DataError
from isogloss.metrics import mining
from isogloss.metrics.statistics import F1, PRECISION, RECALL, Statistics
from isogloss.tasks.examples import REST, Column, Examples
from isogloss.tasks.kinds.base import Judgement, Kind, RowProblem, Values, Vectors
from isogloss.tasks.kinds.retrieval import FOR_RETRIEVAL, pool_of, refuse_empty
from isogloss.tasks.task import Task

_TUNED_HERE = "the threshold was tuned on the gold it is scored on"
_TUNED_PERHAPS = "thresholds are tuned on dev: if this one was, the dev scores are too high"


class Mining(Kind):
    """BUCC 2018."""

    form = "pairs"
    answer_type = list[str] | str
    answer_help = "the id of the English sentence, or a list of ids; leave out sentences without a translation"
    inputs = ("text",)
    gold = "targets"
    lenient = True
    silence_is_answer = True
    label_format = "pairs"
    ids_tell_gold = True
    retrieval = True
    no_translated_training = no_translated_test = FOR_RETRIEVAL

    def normalize(self, value: Any) -> Any:
        """Return a list of English ids."""
        return value if isinstance(value, list) else [value]

    def errors(self, task: Task, examples: Examples, values: Values) -> Iterator[RowProblem]:
        """Yield English ids that do not exist."""
        pool = examples.pool.language_of if examples.pool is not None else None
        for row, targets in enumerate(values):
            for item in targets or ():
                if pool is not None and item not in pool:
                    yield row, f"{item!r} is not a sentence of the English side", "Use the ids of the .en file"

    def gold_columns(self, task: Task, ids: list[str], values: list[Any]) -> tuple[list[str], dict[str, Column]]:
        """Return the gold pairs; source sentences without a pair have no translation."""
        refuse_empty(task, ids, values)
        return [*ids, REST], {"targets": [*values, []]}

    def answers_from_vectors(
        self, task: Task, examples: Examples, vectors: Vectors, *, margin: float | None = None
    ) -> list[list[str]]:
        """Pair sentences one to one by ratio margin, above the best dev threshold; on dev itself, add a note."""
        pairs = _scored(examples, vectors)
        if examples.split == "dev" and examples.has_gold:
            gold = gold_pairs(examples)
            cut = mining.threshold(pairs, gold)
            fair, _, _ = mining.pair_f1(gold, mining.cross_fitted_pairs(pairs, gold))
            note = f"{_TUNED_HERE}; F1 is {100 * fair:.1f} with each half cut at the other half's threshold"
            if not examples.tuned_on_gold:
                examples.notes.append(note)
                examples.tuned_on_gold = True
        else:
            cut = _dev_threshold(task, examples, vectors, margin)
        targets = {source: [target] for source, target, score in pairs if score >= cut}
        return [targets.get(identifier, []) for identifier in examples.ids]

    def judge(self, task: Task, examples: Examples, values: Values) -> Judgement:
        """Return F1, precision and recall over the pairs."""
        rows = np.zeros((len(examples), 3))
        for row, (gold, value) in enumerate(zip(examples["targets"], values, strict=True)):
            if gold or value:
                predicted = set(value or ())
                rows[row] = len(predicted.intersection(gold)), len(predicted), len(set(gold))
        # One row per source sentence, the resampling unit that two systems share.
        by_value = {"f1": F1, "precision": PRECISION, "recall": RECALL}
        notes = [_TUNED_PERHAPS] if examples.split == "dev" and not examples.tuned_on_gold else []
        return Judgement({name: Statistics(rows, value) for name, value in by_value.items()}, notes=notes)


def gold_pairs(examples: Examples) -> list[tuple[str, str]]:
    """Return the gold pairs of source and target ids."""
    return [(i, j) for i, targets in zip(examples.ids, examples["targets"], strict=True) for j in targets]


def _scored(examples: Examples, vectors: Vectors) -> list[tuple[str, str, float]]:
    """Return mined (source id, target id, score) triples without sentences that occur more than once."""
    pool = pool_of(examples)
    queries, candidates = vectors.queries(examples), vectors.candidates(examples)
    rows, times = mining.unify(examples["text"])
    target_rows, target_times = mining.unify(pool.text)
    return [
        (examples.ids[rows[i]], pool.ids[target_rows[j]], score)
        for score, i, j in mining.mine(queries[rows], candidates[target_rows])
        if times[i] == 1 and target_times[j] == 1
    ]


def _dev_threshold(task: Task, examples: Examples, vectors: Vectors, margin: float | None) -> float:
    from isogloss.tasks.loading import load

    try:
        dev = load(task, examples.language, "dev", examples.root)
        if not dev.has_gold:
            raise DataError("the dev file has no gold pairs to tune a threshold on", where=", ".join(dev.sources))
    except DataError:
        if margin is None:
            raise
        examples.notes.append(f"no dev set to tune a threshold on; using margin {margin}")
        return margin
    return mining.threshold(_scored(dev, vectors), gold_pairs(dev))
