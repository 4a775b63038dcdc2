"""Retrieval: the answer is a ranked list of candidate ids (Tatoeba: the nearest one), or nothing in bitext mining."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, ClassVar

import numpy as np

from isogloss.errors import DataError
from isogloss.metrics import accuracy, mining, ranking
from isogloss.metrics.search import normalize_rows, search
from isogloss.metrics.statistics import F1, MEAN, PRECISION, RECALL, IntArray, Statistics
from isogloss.tasks.examples import REST, Column, Examples, Pool
from isogloss.tasks.kinds.base import Judgement, Kind, LanguagePairs, RowProblem, Values, Vectors
from isogloss.tasks.task import Task

CUTOFF = 20

# LAReQA's one-target scores use 20 ranks after removing up to ten other targets.
_DEPTH_OF_COMPETING = 30

_NO_TRAINING = "its training sets, pairs or none, are not translated (XTREME has no such baseline either)"
_TUNED_HERE = "the threshold was tuned on the gold it is scored on"
_TUNED_PERHAPS = "thresholds are tuned on dev: if this one was, the dev scores are too high"


def pool_of(examples: Examples) -> Pool:
    """Return the candidate pool; raise DataError if there is none."""
    if examples.pool is None or not len(examples.pool):
        where = f"{examples.task}/{examples.language}"
        raise DataError("no candidate pool to search", where=where, fix=f"Run isogloss fetch {examples.task}")
    return examples.pool


def _refuse_empty(task: Task, ids: list[str], values: list[Any]) -> None:
    for identifier, value in zip(ids, values, strict=True):
        if not value:
            raise DataError("empty gold list", where=f"{task.id} {identifier!r}")


class _Retrieval(Kind):
    form = "ranking"
    by_cosine: ClassVar[bool] = False
    answer_type = list[str | int] | str | int
    inputs = ("text",)
    gold = "targets"
    retrieval = True
    translatable = ("text",)
    no_translated_training = _NO_TRAINING

    def normalize(self, value: Any) -> Any:
        """Return a list of ids as strings; a bare id becomes a list of one."""
        return [str(item) for item in value] if isinstance(value, list) else [str(value)]

    def errors(self, task: Task, examples: Examples, values: Values) -> Iterator[RowProblem]:
        """Yield candidates that are not in the pool."""
        pool = examples.pool.language_of if examples.pool is not None else None
        for row, ranked in enumerate(values):
            if pool is not None and ranked is not None and not pool.keys() >= set(ranked):
                unknown = next(item for item in ranked if item not in pool)
                fix = f"Use the candidate ids of isogloss export {task.id}"
                yield row, f"candidate {unknown!r} is not in the pool", fix

    def depth(self, examples: Examples) -> int:
        """Return the number of candidates to rank, enough for every metric of the kind."""
        return CUTOFF

    def answers_from_vectors(
        self, task: Task, examples: Examples, vectors: Vectors, *, margin: float | None = None
    ) -> list[list[str]]:
        """Return the nearest candidates, best first."""
        pool = pool_of(examples)
        queries, candidates = vectors.queries(examples), vectors.candidates(examples)
        if self.by_cosine:
            queries, candidates = normalize_rows(queries, side="queries"), normalize_rows(candidates, side="candidates")
        rows, _ = search(queries, candidates, k=self.depth(examples))
        return [[pool.ids[row] for row in best] for best in rows.tolist()]

    def warnings(self, task: Task, examples: Examples, values: Values) -> Iterator[RowProblem]:
        """Yield candidates that occur twice in a ranking."""
        odd = [row for row, ranked in enumerate(values) if ranked is not None and len(set(ranked)) != len(ranked)]
        if odd:
            first_rank = {item: rank for rank, item in reversed(list(enumerate(values[odd[0]])))}
            twice = next(item for rank, item in enumerate(values[odd[0]]) if first_rank[item] != rank)
            more = f" (as in {len(odd) - 1} more rankings)" if len(odd) > 1 else ""
            fix = "It counts once, at its best rank, but still occupies the other ranks"
            yield odd[0], f"candidate {twice!r} is ranked more than once{more}", fix


class Bitext(_Retrieval):
    """Tatoeba: find the translation of each English sentence."""

    answer_help = "the id of the nearest sentence, or a ranked list of ids"
    by_cosine = True
    label_format = "lines"
    ids_tell_gold = True

    def row_ids(self, examples: Examples) -> list[str]:
        """Return ids in the order of the sorted English sentences, as in XTREME's files."""
        if "text" not in examples.columns:
            return super().row_ids(examples)
        english = examples["text"]
        return [examples.ids[row] for row in sorted(range(len(english)), key=english.__getitem__)]

    def known_ids(self, ids: list[str], examples: Examples) -> list[str]:
        """Map rows of XTREME's sorted file (`sorted-<row>`) to the original line numbers."""
        if not any(name.startswith("sorted-") for name in ids) or examples.ids[0].startswith("sorted"):
            return ids
        names = {f"sorted-{index}": name for index, name in enumerate(self.row_ids(examples))}
        return [names.get(name, name) for name in ids]

    def gold_columns(self, task: Task, ids: list[str], values: list[Any]) -> tuple[list[str], dict[str, Column]]:
        """Return the original line numbers, which are both gold and ids of the sorted English file."""
        return [value[0] for value in values], {"targets": values}

    def text_language(self, examples: Examples) -> str:
        """Return "en": queries are English sentences."""
        return "en"

    def judge(self, task: Task, examples: Examples, values: Values) -> Judgement:
        """Return the accuracy of the first answer."""
        gold = [targets[0] for targets in examples["targets"]]
        first = [ranked[0] if ranked else None for ranked in values]
        return Judgement({"accuracy": accuracy.statistics(gold, first)})


class PoolRetrieval(_Retrieval):
    """LAReQA and Mewsli-X: all candidates of all languages compete."""

    answer_help = "a ranked list of candidate ids, best first (20 or more; LAReQA's one-target scores need 30)"
    lenient = True
    label_format = "by-id"
    shared_pool = True
    extra_columns = ("frequency_bin",)

    def gold_columns(self, task: Task, ids: list[str], values: list[Any]) -> tuple[list[str], dict[str, Column]]:
        """Return the gold candidates; for entities, only the first."""
        _refuse_empty(task, ids, values)
        if task.options.get("single_target", False):
            return ids, {"targets": [[value[0].strip()] for value in values]}
        for identifier, value in zip(ids, values, strict=True):
            if len(set(value)) < len(value):
                raise DataError("duplicate target in a gold list", where=f"{task.id} {identifier!r}")
        return ids, {"targets": values}

    def depth(self, examples: Examples) -> int:
        """Return more than `CUTOFF` if several targets compete or the targets are unknown."""
        targets = max((len(row) for row in examples["targets"] if row), default=1) if examples.has_gold else None
        return CUTOFF if targets == 1 else max(_DEPTH_OF_COMPETING, CUTOFF + (targets or 1) - 1)

    def judge(self, task: Task, examples: Examples, values: Values) -> Judgement:
        """Return AP@20 (for a single target, the reciprocal rank cut at 20) and, for several, one-target scores."""
        codes: dict[str, int] = {}
        targets = _padded(examples["targets"], codes)
        ranked = _padded([(value or ())[:CUTOFF] for value in values], codes)
        units = np.arange(len(examples), dtype=np.int64)
        whole = Statistics(ranking.average_precisions(ranked, targets, CUTOFF)[:, None], MEAN)
        metrics = {f"map@{CUTOFF}": whole}
        languages = _target_languages(examples, codes)
        if targets.shape[1] == 1:
            pairs = LanguagePairs(f"map@{CUTOFF}", whole, languages[targets[:, 0]]) if languages is not None else None
            return Judgement(metrics, pairs)
        needed = CUTOFF + targets.shape[1] - 1
        shallow = min((len(value) for value in values if value is not None), default=0)
        if shallow < min(needed, len(examples.pool or ()) or needed):
            note = f"one-target scores skipped: they need {needed} ranked ids per question, one has {shallow}"
            return Judgement(metrics, notes=[note])
        # Checked above to be deep enough; an unanswered question has no ranking and scores 0.
        rivals = [_with_rivals(value or (), own) for value, own in zip(values, examples["targets"], strict=True)]
        single = ranking.limited_reciprocal_ranks(_padded(rivals, codes), targets, CUTOFF, whole_pool=True)
        real = targets >= 0
        rows = Statistics(single[real][:, None], MEAN, np.repeat(units, real.sum(axis=1)))
        metrics["one-target"] = rows
        if languages is None:
            return Judgement(metrics)
        target_languages = languages[targets[real]]
        same = target_languages == examples.language
        metrics["one-target-same"] = rows.select(same)
        metrics["one-target-different"] = rows.select(~same)
        return Judgement(metrics, LanguagePairs("one-target", rows, target_languages))


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
    translatable = ("text",)
    no_translated_training = _NO_TRAINING

    def normalize(self, value: Any) -> Any:
        """Return a list of English ids."""
        return value if isinstance(value, list) else [value]

    def errors(self, task: Task, examples: Examples, values: Values) -> Iterator[RowProblem]:
        """Yield the first English id of every answer that does not exist; a single answer may have millions."""
        if examples.pool is None:
            return
        pool = examples.pool.language_of
        for row, targets in enumerate(values):
            unknown = next((item for item in targets or () if item not in pool), None)
            if unknown is not None:
                yield row, f"{unknown!r} is not a sentence of the English side", "Use the ids of the .en file"

    def gold_columns(self, task: Task, ids: list[str], values: list[Any]) -> tuple[list[str], dict[str, Column]]:
        """Return the gold pairs; source sentences without a pair have no translation."""
        _refuse_empty(task, ids, values)
        return [*ids, REST], {"targets": [*values, []]}

    def answers_from_vectors(
        self, task: Task, examples: Examples, vectors: Vectors, *, margin: float | None = None
    ) -> list[list[str]]:
        """Pair sentences one to one by ratio margin, above the best dev threshold; on dev itself, add a note."""
        pairs = _scored(examples, vectors)
        if examples.split == "dev" and examples.has_gold:
            gold = _gold_pairs(examples)
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


def _with_rivals(ranked: Sequence[str], targets: Sequence[str]) -> list[str]:
    """Return the part of a ranking that can affect a target's rank: each target once, and `CUTOFF` others."""
    rivals: list[str] = []
    missing, others = set(targets), 0
    wanted = frozenset(targets)
    for item in ranked:
        if item not in wanted:
            others += 1
        elif item in missing:
            missing.remove(item)
        else:
            continue
        rivals.append(item)
        if others == CUTOFF:
            break
    return rivals


def _padded(lists: Sequence[Sequence[str]], codes: dict[str, int]) -> IntArray:
    """Encode lists of ids as integer rows padded with -1, adding new ids to `codes`."""
    lengths = np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
    table = np.full((len(lists), int(lengths.max(initial=1))), -1, dtype=np.int64)
    flat = (codes.setdefault(item, len(codes)) for item in chain.from_iterable(lists))
    table[np.arange(table.shape[1]) < lengths[:, None]] = np.fromiter(flat, dtype=np.int64, count=int(lengths.sum()))
    return table


def _target_languages(examples: Examples, codes: dict[str, int]) -> Any:
    """Return the language of every target, by code, or None without a pool."""
    if examples.pool is None:
        return None
    languages = np.full(len(codes), "", dtype="<U8")
    for target in set(chain.from_iterable(examples["targets"])):
        languages[codes[target]] = examples.pool.language_of.get(target, "")
    return languages


def _gold_pairs(examples: Examples) -> list[tuple[str, str]]:
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
        read = examples.read_dev
        dev = load(task, examples.language, "dev", examples.root) if read is None else read()
        if not dev.has_gold:
            raise DataError("the dev file has no gold pairs to tune a threshold on", where=", ".join(dev.sources))
    except DataError:
        if margin is None:
            raise
        examples.notes.append(f"no dev set to tune a threshold on; using margin {margin}")
        return margin
    return mining.threshold(_scored(dev, vectors), _gold_pairs(dev))
