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

# LAReQA's one-target figures look at 20 places after up to ten other targets are taken out.
_DEPTH_OF_COMPETING = 30

FOR_RETRIEVAL = (
    "translations mean nothing to retrieval, which is about finding them (XTREME has no such baseline either)"
)


def pool_of(examples: Examples) -> Pool:
    """The candidates.

    Raises:
        DataError: there are none.
    """
    if examples.pool is None or not len(examples.pool):
        where = f"{examples.task}/{examples.language}"
        raise DataError("there is no pool to search", where=where, fix=f"isogloss fetch {examples.task} brings it")
    return examples.pool


def refuse_empty(task: Task, ids: list[str], values: list[Any]) -> None:
    """Refuse gold that names an example without anything to find."""
    for identifier, value in zip(ids, values, strict=True):
        if not value:
            raise DataError("an empty gold list", where=f"{task.id} {identifier!r}")


class _Retrieval(Kind):
    form = "ranking"
    by_cosine: ClassVar[bool] = False
    answer_type = list[str | int] | str | int
    inputs = ("text",)
    gold = "targets"
    retrieval = True
    no_translated_training = no_translated_test = FOR_RETRIEVAL

    def normalize(self, value: Any) -> Any:
        """A list of ids as strings; one bare id is a list of one."""
        return [str(item) for item in value] if isinstance(value, list) else [str(value)]

    def errors(self, task: Task, examples: Examples, values: Values) -> Iterator[RowProblem]:
        """Candidates that are not in the pool."""
        known = examples.pool.language_of if examples.pool is not None else None
        for row, ranked in enumerate(values):
            if known is not None and ranked is not None and not known.keys() >= set(ranked):
                unknown = next(item for item in ranked if item not in known)
                fix = f"Candidate ids are those of isogloss export {task.id}"
                yield row, f"candidate {unknown!r} is not in the pool", fix

    def depth(self, examples: Examples) -> int:
        """How many candidates to rank: enough for every figure of the kind."""
        return CUTOFF

    def answers_from_vectors(
        self, task: Task, examples: Examples, vectors: Vectors, *, margin: float | None = None
    ) -> list[list[str]]:
        """The nearest candidates, best first."""
        pool = pool_of(examples)
        queries, candidates = vectors.queries(examples), vectors.candidates(examples)
        if self.by_cosine:
            queries, candidates = normalize_rows(queries, side="queries"), normalize_rows(candidates, side="candidates")
        rows, _ = search(queries, candidates, k=self.depth(examples))
        return [[pool.ids[row] for row in best] for best in rows.tolist()]

    def warnings(self, task: Task, examples: Examples, values: Values) -> Iterator[RowProblem]:
        """Candidates that stand in a ranking twice."""
        odd = [row for row, ranked in enumerate(values) if ranked is not None and len(set(ranked)) != len(ranked)]
        if odd:
            first_place = {item: place for place, item in reversed(list(enumerate(values[odd[0]])))}
            twice = next(item for place, item in enumerate(values[odd[0]]) if first_place[item] != place)
            more = f", and so in {len(odd) - 1} more rankings" if len(odd) > 1 else ""
            fix = "It counts once, at its best rank, and takes the places of others"
            yield odd[0], f"candidate {twice!r} is ranked more than once{more}", fix


class Bitext(_Retrieval):
    """Tatoeba: for each English sentence, its translation."""

    answer_help = "the id of the nearest sentence, or a ranked list of ids"
    by_cosine = True
    label_format = "lines"
    ids_tell_gold = True

    def row_ids(self, examples: Examples) -> list[str]:
        """XTREME's files are in the order of the sorted English sentences."""
        if "text" not in examples.columns:
            return super().row_ids(examples)
        english = examples["text"]
        return [examples.ids[row] for row in sorted(range(len(english)), key=english.__getitem__)]

    def known_ids(self, ids: list[str], examples: Examples) -> list[str]:
        """Rows of XTREME's sorted file (`sorted-<row>`) as the original line numbers."""
        if not any(name.startswith("sorted-") for name in ids) or examples.ids[0].startswith("sorted"):
            return ids
        names = {f"sorted-{place}": name for place, name in enumerate(self.row_ids(examples))}
        return [names.get(name, name) for name in ids]

    def gold_columns(self, task: Task, ids: list[str], values: list[Any]) -> tuple[list[str], dict[str, Column]]:
        """Line i of the sorted English file has as gold its original line, which is its id."""
        return [value[0] for value in values], {"targets": values}

    def text_language(self, examples: Examples) -> str:
        """English sentences look for their translations."""
        return "en"

    def judge(self, task: Task, examples: Examples, values: Values) -> Judgement:
        """Accuracy of the first answer."""
        gold = [targets[0] for targets in examples["targets"]]
        first = [ranked[0] if ranked else None for ranked in values]
        return Judgement({"accuracy": accuracy.statistics(gold, first)})


class PoolRetrieval(_Retrieval):
    """LAReQA and Mewsli-X: all candidates of all languages compete."""

    answer_help = "a ranked list of candidate ids, best first (20 or more; LAReQA's one-target figures need 30)"
    lenient = True
    label_format = "by-id"
    shared_pool = True
    extra_columns = ("frequency_bin",)

    def gold_columns(self, task: Task, ids: list[str], values: list[Any]) -> tuple[list[str], dict[str, Column]]:
        """The right candidates; of entities the first alone."""
        refuse_empty(task, ids, values)
        if task.options.get("single_target", False):
            return ids, {"targets": [[value[0].strip()] for value in values]}
        for identifier, value in zip(ids, values, strict=True):
            if len(set(value)) < len(value):
                raise DataError("a gold list that names a target twice", where=f"{task.id} {identifier!r}")
        return ids, {"targets": values}

    def depth(self, examples: Examples) -> int:
        """Deeper where several targets compete, or where the targets are not known."""
        targets = max((len(row) for row in examples["targets"] if row), default=1) if examples.has_gold else None
        return CUTOFF if targets == 1 else max(_DEPTH_OF_COMPETING, CUTOFF + (targets or 1) - 1)

    def judge(self, task: Task, examples: Examples, values: Values) -> Judgement:
        """AP@20 (with one target this is the reciprocal rank cut at 20); one-target figures where targets compete."""
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
            note = f"one-target figures left out: they need {needed} ranked ids a question, one has {shallow}"
            return Judgement(metrics, notes=[note])
        # Deep enough, as just checked; a question without an answer has no ranking and scores 0.
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
    """As much of a ranking as a target's rank among the rest can depend on: each target once, and `CUTOFF` others."""
    kept: list[str] = []
    missing, others = set(targets), 0
    wanted = frozenset(targets)
    for item in ranked:
        if item not in wanted:
            others += 1
        elif item in missing:
            missing.remove(item)
        else:
            continue
        kept.append(item)
        if others == CUTOFF:
            break
    return kept


def _padded(lists: Sequence[Sequence[str]], codes: dict[str, int]) -> IntArray:
    """Lists of ids as rows of integers, padded with -1; `codes` grows by what is new."""
    lengths = np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
    width = int(lengths.max(initial=1))
    table = np.full((len(lists), max(width, 1)), -1, dtype=np.int64)
    flat = (codes.setdefault(item, len(codes)) for item in chain.from_iterable(lists))
    table[np.arange(table.shape[1]) < lengths[:, None]] = np.fromiter(flat, dtype=np.int64, count=int(lengths.sum()))
    return table


def _target_languages(examples: Examples, codes: dict[str, int]) -> Any:
    """The language of every target, by code; None where there is no pool."""
    if examples.pool is None:
        return None
    wanted = {target for targets in examples["targets"] for target in targets}
    languages = np.full(len(codes), "", dtype="<U8")
    for target in wanted:
        languages[codes[target]] = examples.pool.language_of.get(target, "")
    return languages
