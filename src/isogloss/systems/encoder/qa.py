"""Extractive question answering: the answer is cut from the passage by the characters of its first and last sub-word.

It is not reassembled from tokens or words, and therefore a substring in every language, also those without spaces.
"""

import math
from collections.abc import Sequence

import numpy as np

from isogloss.systems.encoder.adapter import EncoderAdapter, LabelledItems, cross_entropy, model_arguments
from isogloss.systems.pretrained import Batch, Model, Tensor
from isogloss.systems.targets import answer_spans, left_out_notes
from isogloss.systems.tokens.inputs import InputRows
from isogloss.systems.tokens.subwords import TextSlices, Windows, tokenize, unique
from isogloss.tasks.examples import Examples
from isogloss.training.objective import Array, Encoded, Ints, TrainingObjective, padded


class EncoderReader(EncoderAdapter):
    """XQuAD, MLQA and TyDiQA: each sub-word gets a score as the start and one as the end of the answer."""

    name = "encoder reading"
    auto_class = "AutoModelForQuestionAnswering"

    @property
    def head_settings(self) -> dict[str, object]:
        """Two scores per sub-word."""
        return {"num_labels": 2}

    def _objective(self, train: Examples) -> TrainingObjective:
        spans = answer_spans(train)
        usable = [row for row, (begin, _) in enumerate(spans) if begin >= 0]
        gold = np.array([spans[row] for row in usable], np.int64)
        rows = self._rows(train if len(usable) == len(train) else train.keep(usable), gold)
        objective = _LabelledWindows(rows, {name: rows.encoded.columns[name] for name in ("first", "last")})
        objective.masked = self.recipe.padding != "full"
        objective.notes = left_out_notes(train, len(usable), "the answer does not occur in the passage")
        return objective

    def predict(self, model: Model, examples: Examples) -> list[str]:
        """Return the best span of each passage, or "" for a passage without sub-words."""
        return [answers[0][1] if answers else "" for answers in self.ranked(model, examples)]

    def ranked(self, model: Model, examples: Examples) -> list[list[tuple[float, str]]]:
        """Return the n best answers per passage with scores, best first: the best end for each start."""
        from isogloss.training.inference import outputs

        rows = self._rows(examples)
        count, longest = self.recipe.n_best, self.recipe.answer_length
        scores = np.full((len(rows.lengths), count), -np.inf, np.float32)
        begins, ends = np.zeros(scores.shape, np.int64), np.zeros(scores.shape, np.int64)
        for items, (first, last) in outputs(model, rows.lengths, rows.batch, _edges):
            begin, end = (
                padded(rows.encoded.aligned[name], rows.encoded.starts, items, first.shape[1], len(items), -1)
                for name in ("begin", "end")
            )
            allowed = end > begin
            starts, ends_at = allowed, allowed
            if self.recipe.decoding == "squad":
                real = np.arange(first.shape[1]) < rows.lengths[items, None]
                starts, ends_at = (allowed & among_best(edge, real, count) for edge in (first, last))
                widest = rows.encoded.aligned["widest"]
                starts &= padded(widest, rows.encoded.starts, items, first.shape[1], len(items), 0)
            span_scores, low, high = best_spans(first, last, (starts, ends_at), longest, count)
            width = span_scores.shape[1]
            scores[items, :width] = span_scores
            begins[items, :width] = np.take_along_axis(begin, low, 1)
            ends[items, :width] = np.take_along_axis(end, high, 1)
        return _merged(examples["context"], rows.encoded.columns["example"], (scores, begins, ends), count)

    def _rows(self, examples: Examples, gold: Ints | None = None) -> InputRows:
        texts, recipe = (examples["question"], examples["context"]), self.recipe
        lengths = recipe.max_length, recipe.stride, recipe.query_length, recipe.decoding
        spans = None if gold is None else gold.T.tolist()
        encoded = self._tokenised([*texts, spans], lengths, lambda: self.encode_windows(*texts, gold))
        return self.inputs.rows_for(examples, encoded, encoded.columns["example"])

    def encode_windows(self, questions: Sequence[str], contexts: Sequence[str], gold: Ints | None = None) -> Encoded:
        """Encode every question, cut to `query_length` tokens, with every window of its passage.

        Rows are in order of the questions, with the column `example`. Without gold, aligned: `begin` and `end`, the
        characters of each sub-word of the passage, -1 elsewhere, and for SQuAD's decoding `widest` (see `Windows`).
        With gold, columns: `first` and `last`, the positions of the answer's sub-words in the row; both 0, the first
        special token, in a window without the whole answer.
        """
        inputs, recipe = self.inputs, self.recipe
        distinct, which = unique(questions)
        question = TextSlices.of(tokenize(self.source.tokenizer, distinct), which).cut(recipe.query_length)
        room = np.full(len(contexts), inputs.room(inputs.pair, recipe.max_length))
        windows = Windows.of(self.source, contexts, room, question.lengths, recipe.stride)
        question = question.rows(windows.examples)
        rows = inputs.pair.add_to(question, windows.slices)
        columns = {"example": windows.examples}
        if gold is None:
            aligned = windows.characters(rows.positions[1], len(rows.ids))
            if recipe.decoding == "squad":
                aligned["widest"] = np.zeros(len(rows.ids), np.bool_)
                aligned["widest"][rows.positions[1]] = windows.widest()
            return inputs.encoded(rows, aligned, columns)
        first, last, whole = windows.locate(gold)
        before = len(inputs.pair.groups[0]) + question.lengths + len(inputs.pair.groups[1])
        answers = {"first": np.where(whole, before + first, 0), "last": np.where(whole, before + last, 0)}
        return inputs.encoded(rows, {}, columns | answers)


def _edges(model: Model, batch: Batch) -> tuple[Tensor, Tensor]:
    output = model(**batch)
    return output.start_logits, output.end_logits


class _LabelledWindows(LabelledItems):
    """Windows labelled with the answer's first and last sub-word; if `masked`, these are never padding."""

    masked = True

    def loss(self, model: Model, batch: Batch) -> Tensor:
        """Return the mean cross-entropy of start and end, over the tokens of a row."""
        padding = (batch["attention_mask"] == 0) & self.masked
        edges = (edge.float().masked_fill(padding, -math.inf) for edge in _edges(model, model_arguments(batch)))
        first, last = (cross_entropy(edge, batch[name]) for edge, name in zip(edges, ("first", "last"), strict=True))
        return (first + last) / 2


def among_best(scores: Array, real: Array, count: int) -> Array:
    """Return a mask of the `count` best real positions of every row; the first of equal scores count as better."""
    order = np.argsort(np.where(real, -scores, np.float32(np.inf)), axis=1, kind="stable")[:, :count]
    best = np.zeros(scores.shape, np.bool_)
    np.put_along_axis(best, order, True, axis=1)
    return best & real


def best_spans(
    first: Array, last: Array, inside: tuple[Array, Array], longest: int, count: int
) -> tuple[Array, Ints, Ints]:
    """Return the best spans of every row from each position's score, (rows, width), as the first and last of a span:
    scores (-inf for missing spans), first and last positions, (rows, count or width) each. `inside` are masks of
    possible first and last positions; each start has its best end, best first.
    """
    width = first.shape[1]
    starts_inside, ends_inside = inside
    last = np.where(ends_inside, last, np.float32(-np.inf))
    score = last.copy()
    for length in range(1, min(longest, width)):
        reached = score[:, : width - length]
        np.maximum(reached, last[:, length:], out=reached)
    score = np.where(starts_inside, score + first, np.float32(-np.inf))
    count = min(count, width)
    starts = np.argpartition(-score, count - 1, axis=1)[:, :count]
    order = np.argsort(-np.take_along_axis(score, starts, 1), axis=1, kind="stable")
    starts = np.take_along_axis(starts, order, 1)
    # Find the ends only for the selected spans.
    reach = np.minimum(starts[..., None] + np.arange(longest), width - 1)
    ends = starts + last[np.arange(len(last))[:, None, None], reach].argmax(axis=2)
    return np.take_along_axis(score, starts, 1), starts, ends


def _merged(
    contexts: Sequence[str], examples: Ints, spans: tuple[Array, Ints, Ints], count: int
) -> list[list[tuple[float, str]]]:
    """Merge the best spans of all windows of each passage; each text occurs once."""
    owners = np.repeat(examples, spans[0].shape[1])
    scores, *edges = (array.ravel() for array in spans)
    order = np.lexsort((-scores, owners))
    order = order[np.isfinite(scores[order])]
    best: list[dict[str, float]] = [{} for _ in contexts]
    for owner, score, begin, end in zip(*(array[order].tolist() for array in (owners, scores, *edges)), strict=True):
        if len(best[owner]) < count:
            best[owner].setdefault(contexts[owner][begin:end], score)
    return [[(score, text) for text, score in texts.items()] for texts in best]
