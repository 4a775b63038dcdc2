"""Extractive question answering: where in the passage the answer begins and ends.

An answer is cut out of the passage as it is written, by the characters of its first and last sub-word: nothing is
put together from tokens or words again, so it is a substring in languages without blanks as in all others.
"""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from isogloss.systems.base import SystemFailureError
from isogloss.systems.encoder.adapter import EncoderAdapter, cross_entropy, model_arguments
from isogloss.systems.neural.task_adapter import IGNORED
from isogloss.systems.targets import answer_spans, left_out_notes
from isogloss.systems.tokens.inputs import InputRows
from isogloss.systems.tokens.subwords import TextSlices, tokenize, unique
from isogloss.systems.tokens.windows import AnswerSpans, Windows
from isogloss.tasks.examples import Examples
from isogloss.training.encoded import Array, Encoded, padded, padded_column
from isogloss.training.objective import Arrays, Ints, TrainingObjective

if TYPE_CHECKING:
    from torch import Tensor, nn


class EncoderReader(EncoderAdapter):
    """XQuAD, MLQA and TyDiQA: a number for each sub-word to be the first of the answer, and one to be the last."""

    name = "encoder reading"
    auto_class = "AutoModelForQuestionAnswering"

    @property
    def head_settings(self) -> dict[str, object]:
        """Two numbers a sub-word."""
        return {"num_labels": 2}

    @property
    def learns_as(self) -> tuple[str, ...]:
        """Questions are learnt in one way, whichever task has them."""
        return (self.name,)

    def _objective(self, train: Examples) -> TrainingObjective:
        spans = answer_spans(train)
        usable = [row for row, (begin, _) in enumerate(spans) if begin >= 0]
        begins, ends = np.array([spans[row] for row in usable], np.int64).T
        part = train if len(usable) == len(train) else train.keep(usable)
        objective = _LabelledWindows(self._rows(part, AnswerSpans(begins, ends)))
        objective.notes = left_out_notes(train, len(usable), "their answer is not in their passage")
        return objective

    def predict(self, model: "nn.Module", examples: Examples) -> list[str]:
        """The best span of each passage; of a passage without a single sub-word, nothing."""
        return [found[0][1] if found else "" for found in self.ranked(model, examples)]

    def ranked(self, model: "nn.Module", examples: Examples) -> list[list[tuple[float, str]]]:
        """The n best answers of each passage with their scores, best first: for each first sub-word its best last."""
        from isogloss.training.inference import outputs

        rows = self._rows(examples)
        count, longest = self.recipe.n_best, self.recipe.answer_length
        shape = len(rows.lengths), count
        scores, begins, ends = np.full(shape, -np.inf, np.float32), np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        for items, (first, last) in outputs(model, rows.lengths, rows.batch, _edges):
            begin, end = (
                padded(rows.encoded.aligned[name], rows.encoded.starts, items, first.shape[1], len(items), -1)
                for name in ("begin", "end")
            )
            found, low, high = best_spans(first, last, end > begin, longest, count)
            width = found.shape[1]
            scores[items, :width] = found
            begins[items, :width] = np.take_along_axis(begin, low, 1)
            ends[items, :width] = np.take_along_axis(end, high, 1)
        return _merged(examples["context"], rows.encoded.columns["example"], (scores, begins, ends), count)

    def _rows(self, examples: Examples, gold: AnswerSpans | None = None) -> InputRows:
        questions, contexts, recipe = examples["question"], examples["context"], self.recipe
        lengths = recipe.max_length, recipe.stride, recipe.query_length
        spans = None if gold is None else [side.tolist() for side in gold]
        encoded = self._tokenised(
            [questions, contexts, spans], lengths, lambda: self.encode_windows(questions, contexts, gold)
        )
        return self.inputs.rows_for(examples, encoded, encoded.columns["example"])

    def encode_windows(
        self, questions: Sequence[str], contexts: Sequence[str], gold: AnswerSpans | None = None
    ) -> Encoded:
        """Every question, cut to `query_length` tokens, with every window of its passage.

        Returns:
            Rows in order of the questions, with the column `example`. Without gold, aligned: `begin` and `end`, the
            characters of each sub-word of the passage, -1 elsewhere. With gold, columns: `first` and `last`, the
            places of the answer's sub-words in the row; both 0, the place of the first special token, in a window
            without the whole answer.
        """
        inputs, recipe = self.inputs, self.recipe
        distinct, which = unique(questions)
        question = TextSlices.of(tokenize(inputs.tokenizer, distinct), which).cut(recipe.query_length)
        room = inputs.room(inputs.pair, recipe.max_length) - question.lengths
        if room.min(initial=1) < 1:
            what = f"a question of {question.lengths.max()} tokens leaves no room for its passage"
            fix = "Set a larger max_length or a smaller query_length"
            raise SystemFailureError(what, where=inputs.source.name, fix=fix)
        windows = Windows.of(inputs.tokenizer, contexts, room, recipe.stride)
        question = question.rows(windows.examples)
        rows = inputs.pair.add_to(question, windows.slices)
        columns = {"example": windows.examples}
        if gold is None:
            return inputs.encoded(rows, windows.characters(rows.places[1], len(rows.ids)), columns)
        first, last, whole = windows.locate(gold)
        before = len(inputs.pair.groups[0]) + question.lengths + len(inputs.pair.groups[1])
        answers = {"first": np.where(whole, before + first, 0), "last": np.where(whole, before + last, 0)}
        return inputs.encoded(rows, {}, columns | answers)


def _edges(model: "nn.Module", batch: Mapping[str, "Tensor"]) -> tuple["Tensor", "Tensor"]:
    found = model(**batch)
    return found.start_logits, found.end_logits


class _LabelledWindows(TrainingObjective):
    """Windows with the first and the last sub-word of the answer."""

    def __init__(self, rows: InputRows) -> None:
        self._rows, self.lengths = rows, rows.lengths

    def batch(self, items: Ints, width: int, size: int) -> Arrays:
        """Windows with the places of their answers."""
        columns = self._rows.encoded.columns
        edges = {name: padded_column(columns[name], items, size, IGNORED) for name in ("first", "last")}
        return {**self._rows.batch(items, width, size), **edges}

    def weight(self, items: Ints) -> float:
        """The number of windows."""
        return float(len(items))

    def loss(self, model: "nn.Module", batch: Mapping[str, "Tensor"]) -> "Tensor":
        """The mean of the cross entropies of the two ends, over the tokens there are: padding is no alternative."""
        padding = batch["attention_mask"] == 0
        edges = (edge.float().masked_fill(padding, -math.inf) for edge in _edges(model, model_arguments(batch)))
        first, last = (cross_entropy(edge, batch[name]) for edge, name in zip(edges, ("first", "last"), strict=True))
        return (first + last) / 2


def best_spans(first: Array, last: Array, inside: Array, longest: int, count: int) -> tuple[Array, Ints, Ints]:
    """The best spans of every row.

    Args:
        first: how much each place looks like the first of a span, (rows, width).
        last: how much it looks like the last.
        inside: where a span may begin and end.
        longest: places a span has at most.
        count: spans wanted.

    Returns:
        Scores (-inf where a row has no more spans), first and last places, (rows, count or width) each: for every
        first place its best last one, best first.
    """
    width = first.shape[1]
    last = np.where(inside, last, np.float32(-np.inf))
    score = last.copy()
    for length in range(1, min(longest, width)):
        reached = score[:, : width - length]
        np.maximum(reached, last[:, length:], out=reached)
    score = np.where(inside, score + first, np.float32(-np.inf))
    count = min(count, width)
    places = np.argpartition(-score, count - 1, axis=1)[:, :count]
    order = np.argsort(-np.take_along_axis(score, places, 1), axis=1, kind="stable")
    places = np.take_along_axis(places, order, 1)
    # Which last place it was is asked for the few that are wanted, not for all.
    reach = np.minimum(places[..., None] + np.arange(longest), width - 1)
    ending = places + last[np.arange(len(last))[:, None, None], reach].argmax(axis=2)
    return np.take_along_axis(score, places, 1), places, ending


def _merged(
    contexts: Sequence[str], examples: Ints, spans: tuple[Array, Ints, Ints], count: int
) -> list[list[tuple[float, str]]]:
    """The best spans of all windows of each passage, each text once."""
    scores, begins, ends = (array.ravel() for array in spans)
    owners = np.repeat(examples, spans[0].shape[1])
    real = np.isfinite(scores)
    order = np.lexsort((-scores[real], owners[real]))
    owners, scores, begins, ends = (array[real][order] for array in (owners, scores, begins, ends))
    bounds = np.searchsorted(owners, np.arange(len(contexts) + 1)).tolist()
    listed = list(zip(scores.tolist(), begins.tolist(), ends.tolist(), strict=True))
    found = []
    for context, low, high in zip(contexts, bounds, bounds[1:], strict=False):
        best: dict[str, float] = {}
        for score, begin, end in listed[low:high]:
            best.setdefault(context[begin:end], score)
            if len(best) == count:
                break
        found.append([(score, text) for text, score in best.items()])
    return found
