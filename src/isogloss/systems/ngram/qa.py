"""Question answering: the span of the passage that scores highest, as a sum over its first, last and all tokens."""

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from isogloss.metrics.statistics import FloatArray, IntArray
from isogloss.systems.ngram.hashing import Hashes, Mask, Texts, buckets, character_classes, join, salted, shapes
from isogloss.systems.ngram.linear_model import LinearModel, SparseRows, batches
from isogloss.systems.targets import answer_spans
from isogloss.tasks.examples import Examples
from isogloss.tasks.task import Task

_BITS = 18
_EPOCHS = 4
_BATCH = 32
_RATE = 0.3  # tuned, like the rest, on held-out English and on Korean and Swahili training questions of TyDiQA
_LONGEST = 12  # maximum tokens of an answer
_RIVALS = 48  # wrong spans per correct one in training

# Features by their parts; `one` and `two` are the first words of the question.
_EDGE_FEATURES = (
    *("shape", "shape, one", "shape, two", "word", "word, one", "outside", "outside, one", "outside, two"),
    *("outside shape", "matched", "near", "near, shape", "overlap", "overlap, order", "order"),
)
_SPAN_FEATURES = ("size", "size, one", "size, two", "makeup", "makeup, one", "makeup, two", "makeup, size", "matches")
_STEM = 5  # compared characters of a word: crude, but works for any suffixing language
_SENTENCE_ENDS = np.array([ord(mark) for mark in ".!?。！？।॥؟۔።"], np.uint32)
_BLANK, _DIGIT, _MARK, _OTHER, _UNSPACED, _UPPER = (ord(letter) for letter in "BdmPcA")


class NgramReader:
    """A log-linear ranker over spans, by lexical overlap, shape and the first words of the question."""

    together = 64

    def __init__(self, task: Task, train: Examples, seed: int) -> None:
        spans = answer_spans(train)
        usable = np.array([row for row, (begin, _) in enumerate(spans) if begin >= 0], np.int64)
        random = np.random.default_rng([seed, 1])
        self.model = LinearModel(_BITS, rate=_RATE)
        for chosen in batches(len(usable), seed, _EPOCHS, _BATCH):
            rows = usable[chosen].tolist()
            part = train.keep(rows)
            passages = Passages(part["question"], part["context"])
            self.model.learn_choices(*_with_rivals(passages, [spans[row] for row in rows], random))

    def predict(self, examples: Examples) -> list[str]:
        """Return a span of the passage per question; the whole passage if it has no tokens."""
        contexts = examples["context"]
        passages = Passages(examples["question"], contexts)
        tokens = passages.tokens
        if not len(tokens):
            return list(contexts)
        first = np.repeat(np.arange(len(tokens)), _LONGEST)
        last = first + np.tile(np.arange(_LONGEST), len(tokens))
        inside = last < tokens.bounds[tokens.owners[first] + 1]
        first, last = first[inside], last[inside]
        edges = [_edge_features(passages, ending=ending) for ending in (False, True)]
        parts = [buckets(hashes, _BITS) for hashes in (*edges, _span_features(passages, first, last))]
        starts, ends, scores = (self.model.weights[numbers, 0].sum(axis=1) for numbers in parts)
        scores = starts[first] + ends[last] + scores
        begins = np.searchsorted(tokens.owners[first], np.arange(len(contexts) + 1))
        answers = list(contexts)
        for row, (low, high) in enumerate(zip(begins[:-1].tolist(), begins[1:].tolist(), strict=True)):
            if low < high:
                best = low + int(scores[low:high].argmax())
                offset = tokens.text.bounds[row]
                answers[row] = contexts[row][tokens.starts[first[best]] - offset : tokens.ends[last[best]] - offset]
        return answers


class Tokens:
    """Texts split into words, punctuation marks and, in scripts without blanks, single characters.

    `starts` and `ends` are in the code points of all texts; `bounds` are the first token of each text, and the end.
    `words` are hashes of the lower-cased tokens; `keys` of their compared part: a word's beginning, or a character of
    an unspaced script with the next one.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        # Lower-casing İ gives two code points, which would shift everything after it.
        self.text = Texts([text.replace("İ", "i").lower() for text in texts])
        self.classes = character_classes(Texts(texts).codes)
        blank = self.classes == _BLANK
        first = np.zeros(len(blank) + 1, np.bool_)
        first[self.text.bounds] = True
        wordlike = ~blank & (self.classes != _OTHER)
        joins = wordlike & (self.classes != _UNSPACED) & np.append(False, wordlike[:-1])[: len(wordlike)] & ~first[:-1]
        after_character = np.append(False, self.classes[:-1] == _UNSPACED)[: len(wordlike)]
        joins &= (self.classes == _MARK) | ~after_character
        self.starts = np.flatnonzero(~blank & ~joins)
        self.ends = np.flatnonzero(~blank & ~np.append(joins[1:], np.zeros(min(1, len(joins)), np.bool_))) + 1
        self.owners = self.text.owners[self.starts]
        self.bounds: IntArray = np.searchsorted(self.owners, np.arange(len(texts) + 1))
        self.first_class = self.classes[self.starts]  # of each token's first character
        self.words = self.text.hashes(self.starts, self.ends)
        reach = np.where(self.first_class == _UNSPACED, self.starts + 2, np.minimum(self.starts + _STEM, self.ends))
        self.keys = self.text.hashes(self.starts, np.minimum(reach, self.text.bounds[self.owners + 1]))

    def __len__(self) -> int:
        return len(self.starts)

    @cached_property
    def shapes(self) -> Hashes:
        """Shape of each token."""
        return shapes(self.classes, self.starts, self.ends)


class Passages:
    """A block of questions and their passages, with facts about each token of the passages."""

    def __init__(self, questions: Sequence[str], contexts: Sequence[str]) -> None:
        question_tokens = Tokens(questions)
        self.tokens = tokens = Tokens(contexts)
        starts, ends = question_tokens.bounds[:-1], question_tokens.bounds[1:]
        padded = np.append(question_tokens.words, np.zeros(2, np.uint64))
        first, second = (np.where(starts + n < ends, padded[starts + n], np.uint64(0)) for n in (0, 1))
        # Hashes of the first word and the first two words of a token's question.
        self.openings = first[tokens.owners], join(first, second)[tokens.owners]
        own_keys = join(tokens.keys, tokens.owners.astype(np.uint64))
        # Tokens that occur in their question.
        self.matched: Mask = (tokens.first_class != _OTHER) & np.isin(
            own_keys, join(question_tokens.keys, question_tokens.owners.astype(np.uint64))
        )
        _, index, counts = np.unique(own_keys, return_inverse=True, return_counts=True)
        # A token that occurs throughout the passage says little about one position.
        self.weight: FloatArray = np.where(self.matched, 1 / counts[index], 0.0)
        codes = tokens.text.codes[tokens.starts]
        # "3.5" does not end a sentence: a full stop of a spaced script is followed by a blank or the end.
        spaced = np.append(tokens.classes, np.uint8(_BLANK))[tokens.ends] == _BLANK
        stops = np.isin(codes, _SENTENCE_ENDS) & (spaced | (codes >= 0x3000))
        new = np.diff(tokens.owners, prepend=-1) != 0
        new[1:] |= stops[:-1]
        self.sentence: IntArray = np.cumsum(new) - 1
        # Share of the passage's overlap with the question that is in the token's sentence, 0 to 1.
        sums = np.bincount(self.sentence, self.weight)
        best = np.zeros(len(contexts))
        np.maximum.at(best, tokens.owners, sums[self.sentence])
        self.overlap: FloatArray = sums[self.sentence] / np.maximum(best[tokens.owners], 1e-9)

    def distance(self, *, forwards: bool) -> IntArray:
        """Return each token's distance to the nearest match after (or before) it in its passage; 99 if none."""
        index = np.arange(len(self.tokens))
        informative = self.weight >= 1 / 3
        if forwards:
            nearest = np.minimum.accumulate(np.where(informative, index, len(index))[::-1])[::-1]
            inside = nearest < self.tokens.bounds[self.tokens.owners + 1]
        else:
            nearest = np.maximum.accumulate(np.where(informative, index, -1))
            inside = nearest >= self.tokens.bounds[self.tokens.owners]
        return np.where(inside, np.abs(nearest - index), 99)

    @cached_property
    def running(self) -> dict[str, IntArray]:
        """Cumulative counts of token types; the count in a span is a difference."""
        kinds = {
            "matched": self.matched,
            "digit": self.tokens.first_class == _DIGIT,
            "upper": self.tokens.first_class == _UPPER,
            "mark": self.tokens.first_class == _OTHER,
            "stop": np.append(np.diff(self.sentence), 0) != 0,
        }
        return {name: np.append(0, np.cumsum(chosen)) for name, chosen in kinds.items()}


def _with_rivals(
    passages: Passages, spans: Sequence[tuple[int, int]], random: np.random.Generator
) -> tuple[SparseRows, IntArray, IntArray]:
    """Return each answer with random wrong spans; a third share its start, a third its end."""
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
    # Drop rivals equal to the answer, which would give contradictory gradients.
    same = (first == right_first[:, None]) & (last == right_last[:, None])
    keep = np.concatenate([np.ones((len(spans), 1), np.bool_), ~same], axis=1)
    all_first = np.concatenate([right_first[:, None], first], axis=1)[keep]
    all_last = np.concatenate([right_last[:, None], last], axis=1)[keep]
    begins = np.append(0, np.cumsum(keep.sum(axis=1))[:-1])
    starts, ends = (_edge_features(passages, ending=ending) for ending in (False, True))
    features = starts[all_first], ends[all_last], _span_features(passages, all_first, all_last)
    return SparseRows.table(buckets(np.concatenate(features, axis=1), _BITS)), begins, begins


def _edge_features(passages: Passages, *, ending: bool) -> Hashes:
    """Return features of spans that start (or end) with each token: (tokens, features)."""
    tokens = passages.tokens
    outer = slice(2, None) if ending else slice(0, -2)
    outside, outside_shape = (np.pad(hashes, 1)[outer] for hashes in (tokens.words, tokens.shapes))
    one, two = passages.openings
    # Distances to the nearest match on both sides, quantised logarithmically in two steps per doubling.
    distances = (passages.distance(forwards=forwards) for forwards in (False, True))
    near = join(*(np.ceil(np.log2(steps + 1) * 2).astype(np.uint64) for steps in distances))
    first_sentence = passages.sentence[tokens.bounds[:-1].clip(max=len(tokens) - 1)][tokens.owners]
    parts = {
        "shape": tokens.shapes,
        "word": tokens.words,
        "one": one,
        "two": two,
        "outside": outside,
        "outside shape": join(outside_shape, tokens.shapes),
        "matched": passages.matched.astype(np.uint64),
        "near": near,
        "overlap": np.floor(passages.overlap * 5.99).astype(np.uint64),
        "order": np.minimum(passages.sentence - first_sentence, 6).astype(np.uint64),
    }
    return _joined(parts, _EDGE_FEATURES, "end " if ending else "start ")


def _span_features(passages: Passages, first: IntArray, last: IntArray) -> Hashes:
    """Return features of whole spans: (spans, features)."""
    length = last - first + 1
    inside = {name: running[last + 1] - running[first] for name, running in passages.running.items()}
    stops = passages.running["stop"][last] - passages.running["stop"][first]  # a sentence may end with the span
    makeup = join(
        *(np.minimum(inside[name], 1).astype(np.uint64) for name in ("matched", "digit", "upper", "mark")),
        (inside["upper"] == length).astype(np.uint64),
        np.minimum(stops, 1).astype(np.uint64),
    )
    one, two = (hashes[first] for hashes in passages.openings)
    matches = np.minimum(inside["matched"], 4).astype(np.uint64)
    parts = {"size": length.astype(np.uint64), "makeup": makeup, "one": one, "two": two, "matches": matches}
    return _joined(parts, _SPAN_FEATURES)


def _joined(parts: Mapping[str, Hashes], features: Sequence[str], role: str = "") -> Hashes:
    """Return features as joined parts, each salted with its name."""
    joined = {name: join(*(parts[part] for part in name.split(", "))) for name in features}
    return np.stack([salted(hashes, role + name) for name, hashes in joined.items()], axis=1)
