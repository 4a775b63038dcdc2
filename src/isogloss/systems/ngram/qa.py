"""Question answering: which span of the passage looks most like the answer.

The score of a span is a sum over how it begins, how it ends and what it is as a whole, so that all spans of a passage
are scored from a few numbers a token.
"""

from collections.abc import Sequence

import numpy as np

from isogloss.metrics.statistics import IntArray
from isogloss.systems.ngram.hashing import Hashes, buckets, join, salted
from isogloss.systems.ngram.linear_model import Floats, LinearModel, SparseRows, train_ranker
from isogloss.systems.ngram.passages import Passages
from isogloss.systems.targets import answer_spans
from isogloss.tasks.examples import Examples
from isogloss.tasks.task import Task

_BITS = 18
_EPOCHS = 4
_BATCH = 32
_RATE = 0.3  # chosen, like the rest, on held-out English and on Korean and Swahili training questions of TyDiQA
_LONGEST = 12  # tokens of an answer, at most
_RIVALS = 48  # wrong spans that the right one is trained against
_TOGETHER = 64  # questions answered together: bounds the memory


class NgramReader:
    """A log-linear ranker over spans: the lexical overlap around them, their shape, how the question begins."""

    def __init__(self, task: Task, train: Examples, seed: int) -> None:
        spans = answer_spans(train)
        usable = np.array([row for row, (begin, _) in enumerate(spans) if begin >= 0], np.int64)
        random = np.random.default_rng([seed, 1])
        questions, contexts = train["question"], train["context"]
        self.model = LinearModel(_BITS, rate=_RATE)

        def groups(chosen: IntArray) -> tuple[SparseRows, IntArray, IntArray]:
            rows = usable[chosen].tolist()
            passages = Passages([questions[row] for row in rows], [contexts[row] for row in rows])
            return _with_rivals(passages, [spans[row] for row in rows], random)

        train_ranker(self.model, groups, len(usable), seed=seed, epochs=_EPOCHS, batch=_BATCH)

    def predict(self, examples: Examples) -> list[str]:
        """A span of the passage for every question; of a passage without a token, the passage."""
        questions, contexts = examples["question"], examples["context"]
        found: list[str] = []
        for start in range(0, len(contexts), _TOGETHER):
            part = slice(start, start + _TOGETHER)
            found += self._answers(questions[part], contexts[part])
        return found

    def _answers(self, questions: Sequence[str], contexts: Sequence[str]) -> list[str]:
        passages = Passages(questions, contexts)
        tokens = passages.tokens
        if not len(tokens):
            return list(contexts)
        first, last = _all_spans(passages)
        scores = self._sums(_edge_features(passages, ending=False))[first]
        scores += self._sums(_edge_features(passages, ending=True))[last]
        scores += self._sums(_span_features(passages, first, last))
        begins = np.searchsorted(tokens.owners[first], np.arange(len(contexts) + 1))
        answers = list(contexts)
        for row, (low, high) in enumerate(zip(begins[:-1].tolist(), begins[1:].tolist(), strict=True)):
            if low < high:
                best = low + int(scores[low:high].argmax())
                offset = tokens.text.bounds[row]
                answers[row] = contexts[row][tokens.starts[first[best]] - offset : tokens.ends[last[best]] - offset]
        return answers

    def _sums(self, hashes: Hashes) -> Floats:
        sums: Floats = self.model.weights[buckets(hashes, _BITS), 0].sum(axis=1)
        return sums


def _all_spans(passages: Passages) -> tuple[IntArray, IntArray]:
    """The first and last tokens of all spans, passage after passage."""
    tokens = passages.tokens
    first = np.repeat(np.arange(len(tokens)), _LONGEST)
    last = first + np.tile(np.arange(_LONGEST), len(tokens))
    inside = last < tokens.bounds[tokens.owners[first] + 1]
    return first[inside], last[inside]


def _with_rivals(
    passages: Passages, spans: Sequence[tuple[int, int]], random: np.random.Generator
) -> tuple[SparseRows, IntArray, IntArray]:
    """Each answer with random wrong spans; a third begins where it does, a third ends there."""
    tokens = passages.tokens
    bounds = np.array(spans, np.int64) + tokens.text.bounds[:-1, None]
    right_first = np.searchsorted(tokens.ends, bounds[:, 0], side="right")
    right_last = np.maximum(np.searchsorted(tokens.starts, bounds[:, 1]) - 1, right_first)
    right_last = np.minimum(right_last, right_first + _LONGEST - 1)
    low, high = tokens.bounds[:-1, None], tokens.bounds[1:, None]
    shape = (len(spans), _RIVALS)
    length = random.integers(0, _LONGEST, shape)
    first = low + (random.random(shape) * (high - low)).astype(np.int64)
    kind = np.arange(_RIVALS) % 3
    first = np.where(kind == 1, right_first[:, None], np.where(kind == 2, right_last[:, None] - length, first))
    last = np.where(kind == 2, right_last[:, None], first + length)
    first, last = np.clip(first, low, high - 1), np.clip(last, low, high - 1)
    # A rival that is the answer itself is dropped: being both would pull the weights two ways.
    same = (first == right_first[:, None]) & (last == right_last[:, None])
    keep = np.concatenate([np.ones((len(spans), 1), np.bool_), ~same], axis=1)
    all_first = np.concatenate([right_first[:, None], first], axis=1)[keep]
    all_last = np.concatenate([right_last[:, None], last], axis=1)[keep]
    begins = np.append(0, np.cumsum(keep.sum(axis=1))[:-1])
    table = np.concatenate(
        [
            _edge_features(passages, ending=False)[all_first],
            _edge_features(passages, ending=True)[all_last],
            _span_features(passages, all_first, all_last),
        ],
        axis=1,
    )
    return SparseRows.table(buckets(table, _BITS)), begins, begins


def _stepped(values: IntArray) -> Hashes:
    """Distances on a scale that is coarser the farther away, two steps to each doubling."""
    steps: Hashes = np.ceil(np.log2(values + 1) * 2).astype(np.uint64)
    return steps


def _edge_features(passages: Passages, *, ending: bool) -> Hashes:
    """What speaks for a span that begins (or ends) with each token: (tokens, features)."""
    tokens = passages.tokens
    side = "end" if ending else "start"
    padded_words = np.concatenate([np.zeros(1, np.uint64), tokens.words, np.zeros(1, np.uint64)])
    padded_shapes = np.concatenate([np.zeros(1, np.uint64), tokens.shapes, np.zeros(1, np.uint64)])
    outer = slice(2, None) if ending else slice(0, -2)
    outside, outside_shape = padded_words[outer], padded_shapes[outer]
    one, two = passages.openings
    matched = passages.matched.astype(np.uint64)
    near = join(_stepped(passages.distance(forwards=False)), _stepped(passages.distance(forwards=True)))
    overlap = np.floor(passages.overlap * 5.99).astype(np.uint64)
    first_sentence = passages.sentence[tokens.bounds[:-1].clip(max=len(tokens) - 1)][tokens.owners]
    order = np.minimum(passages.sentence - first_sentence, 6).astype(np.uint64)
    features = {
        "shape": tokens.shapes,
        "shape, one": join(tokens.shapes, one),
        "shape, two": join(tokens.shapes, two),
        "word": tokens.words,
        "word, one": join(tokens.words, one),
        "outside": outside,
        "outside, one": join(outside, one),
        "outside, two": join(outside, two),
        "outside shape": join(outside_shape, tokens.shapes),
        "matched": matched,
        "near": near,
        "near, shape": join(near, tokens.shapes),
        "overlap": overlap,
        "overlap, order": join(overlap, order),
        "order": order,
    }
    return np.stack([salted(hashes, f"{side} {name}") for name, hashes in features.items()], axis=1)


def _span_features(passages: Passages, first: IntArray, last: IntArray) -> Hashes:
    """What speaks for spans as wholes: (spans, features)."""
    length = last - first + 1
    inside = {name: running[last + 1] - running[first] for name, running in passages.running.items()}
    stops = passages.running["stop"][last] - passages.running["stop"][first]  # a sentence may end with the span
    makeup = join(
        *(np.minimum(inside[name], 1).astype(np.uint64) for name in ("matched", "digit", "upper", "mark")),
        (inside["upper"] == length).astype(np.uint64),
        np.minimum(stops, 1).astype(np.uint64),
    )
    size = length.astype(np.uint64)
    one, two = (hashes[first] for hashes in passages.openings)
    features = {
        "size": size,
        "size, one": join(size, one),
        "size, two": join(size, two),
        "makeup": makeup,
        "makeup, one": join(makeup, one),
        "makeup, two": join(makeup, two),
        "makeup, size": join(makeup, size),
        "matches": np.minimum(inside["matched"], 4).astype(np.uint64),
    }
    return np.stack([salted(hashes, name) for name, hashes in features.items()], axis=1)
