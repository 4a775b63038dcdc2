"""Retrieval: the answer is a ranked list of candidate ids (Tatoeba: the nearest one)."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, ClassVar

import numpy as np

from isogloss.errors import DataError
from isogloss.metrics import accuracy, ranking
from isogloss.metrics.search import normalize_rows, search
from isogloss.metrics.statistics import MEAN, IntArray, Statistics
from isogloss.tasks.examples import Column, Examples, Pool
from isogloss.tasks.kinds.base import Judgement, Kind, LanguagePairs, RowProblem, Values, Vectors
from isogloss.tasks.task import Task

CUTOFF = 20

# LAReQA's one-target scores use 20 ranks after removing up to ten other targets.
_DEPTH_OF_COMPETING = 30

FOR_RETRIEVAL = (
    "the task is to find translations, so translated input makes no sense (XTREME has no such baseline either)"
)


def pool_of(examples: Examples) -> Pool:
    """Return the candidate pool.

    Raises:
        DataError: the examples have no pool.
    """
    if examples.pool is None or not len(examples.pool):
        where = f"{examples.task}/{examples.language}"
        raise DataError("no candidate pool to search", where=where, fix=f"Run isogloss fetch {examples.task}")
    return examples.pool


def refuse_empty(task: Task, ids: list[str], values: list[Any]) -> None:
    """Raise DataError if a gold list is empty."""
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
    no_translated_training = no_translated_test = FOR_RETRIEVAL

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
        refuse_empty(task, ids, values)
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
    width = int(lengths.max(initial=1))
    table = np.full((len(lists), max(width, 1)), -1, dtype=np.int64)
    flat = (codes.setdefault(item, len(codes)) for item in chain.from_iterable(lists))
    table[np.arange(table.shape[1]) < lengths[:, None]] = np.fromiter(flat, dtype=np.int64, count=int(lengths.sum()))
    return table


def _target_languages(examples: Examples, codes: dict[str, int]) -> Any:
    """Return the language of every target, by code, or None without a pool."""
    if examples.pool is None:
        return None
    wanted = {target for targets in examples["targets"] for target in targets}
    languages = np.full(len(codes), "", dtype="<U8")
    for target in wanted:
        languages[codes[target]] = examples.pool.language_of.get(target, "")
    return languages
