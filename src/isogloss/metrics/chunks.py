"""Chunk F1 for tagging: exact spans with the right type, micro-averaged over all chunks.

A tag has a prefix (its first character) and a type. A dialect says what the type is and what bounds a chunk:

- ``conll``: the lenient rule of conlleval; the type is the text after the last hyphen, or the whole tag if
  there is none. An I- with nothing to continue opens a chunk; bare tags such as UPOS form chunks of equal
  neighbours. The published numbers of XTREME and XTREME-R follow this rule (seqeval up to 0.0.12).
- ``seqeval-1.2.2``: the same rule with the type of that release's default mode: the tag without its first
  character, then what follows the first hyphen. Bare tags lose a letter: CCONJ and SCONJ are one type, and X
  has the type of O.
- ``iob2-strict``: a chunk is a B- with the I- of its type that follow it (seqeval's strict mode with IOB2).

F1 is 2 correct / (predicted + gold), and 0 where neither side has a chunk.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple, TypeVar, cast

import numpy as np
import numpy.typing as npt

from isogloss.errors import IsoglossError, PredictionError, unknown
from isogloss.metrics.statistics import F1, RATIO, FloatArray, IntArray, Statistics, sizes

Chunk = tuple[str, int, int]
Sentences = Sequence[Sequence[str]]
Tags = Sentences | Sequence[str]
Codes = npt.NDArray[np.integer]
BoolArray = npt.NDArray[np.bool_]
_Scalar = TypeVar("_Scalar", bound=np.generic)

_B, _I, _E, _S, _O, _DOT, _OTHER = (1 << bit for bit in range(7))
_PREFIXES = {"B": _B, "I": _I, "E": _E, "S": _S, "O": _O, ".": _DOT}


@dataclass(frozen=True)
class _Dialect:
    """What the type of a tag is, which rule bounds a chunk, and whether a corpus is read as one sequence."""

    type_of: Callable[[str], str]
    strict: bool = False
    one_sequence: bool = False


_DIALECTS = {
    "conll": _Dialect(lambda tag: tag.rsplit("-", 1)[-1]),
    "seqeval-1.2.2": _Dialect(lambda tag: tag[1:].split("-", 1)[-1] or "_", one_sequence=True),
    "iob2-strict": _Dialect(lambda tag: tag[1:].strip("-") or "_", strict=True),
}
DIALECTS = tuple(_DIALECTS)


def chunks(tags: Sequence[str], *, dialect: str = "conll") -> list[Chunk]:
    """The chunks of one sentence.

    Args:
        tags: one tag per token.
        dialect: "conll", "seqeval-1.2.2" or "iob2-strict".

    Returns:
        (type, first token, last token) of each chunk, in order; the last token is part of the chunk.

    Raises:
        UnknownNameError: there is no such dialect.
        IsoglossError: a tag is empty, or not IOB2 where "iob2-strict" asks for it.
    """
    return extract([tags], dialect=dialect)[0]


def extract(sentences: Sentences, *, dialect: str = "conll") -> list[list[Chunk]]:
    """The chunks of each sentence by itself; far faster than calling `chunks` sentence by sentence."""
    (codes,), tags = _encode(sentences)
    lengths = sizes(sentences)
    offsets = np.cumsum(lengths) - lengths
    tagset = _Tagset.of(tags, dialect)
    bounds = tagset.bounds(codes, lengths)
    lasts = np.flatnonzero(bounds.ends)
    owners = np.repeat(np.arange(len(lengths)), lengths)[lasts]
    firsts = bounds.begins(lasts, offsets[owners])
    types = [tagset.types[kind] for kind in bounds.kinds[lasts].tolist()]
    spans = zip(types, (firsts - offsets[owners]).tolist(), (lasts - offsets[owners]).tolist(), strict=True)
    found: list[list[Chunk]] = [[] for _ in sentences]
    for owner, chunk in zip(owners.tolist(), spans, strict=True):
        found[owner].append(chunk)
    return found


def f1(gold: Tags, predicted: Tags, *, dialect: str = "conll") -> float:
    """Micro-averaged chunk F1 of a corpus or of one sentence.

    Args:
        gold: the gold tags: a list of sentences, or the tags of one sentence.
        predicted: the predicted tags, likewise, one for each token.
        dialect: "conll", "seqeval-1.2.2" or "iob2-strict".

    Returns:
        F1, 0..1.

    Raises:
        PredictionError: the two differ in their numbers of sentences or tags.
        UnknownNameError: there is no such dialect.
        IsoglossError: a tag is empty, or not IOB2 where "iob2-strict" asks for it.
    """
    return statistics(gold, predicted, dialect=dialect).score


def statistics(gold: Tags, predicted: Tags, *, dialect: str = "conll") -> Statistics:
    """One row per sentence: chunks that are correct, predicted, and in the gold.

    Sentences stand alone, with one exception kept for parity: ``seqeval-1.2.2`` reads a corpus as one
    sequence, and there a tag that has the type of O but is not O (X, among UPOS tags) can close a chunk
    opened in an earlier sentence. Such a chunk counts where it ends.

    Args and errors are those of `f1`.
    """
    gold, predicted = _aligned(gold, predicted)
    (gold_codes, predicted_codes), tags = _encode(gold, predicted)
    return coded_statistics(gold_codes, predicted_codes, sizes(gold), tags, dialect=dialect)


def coded_statistics(
    gold: Codes, predicted: Codes, lengths: IntArray, tags: Sequence[str], *, dialect: str = "conll"
) -> Statistics:
    """`statistics` for tags that are positions in a list of `tags`, all sentences laid end to end."""
    lengths = np.asarray(lengths, dtype=np.int64)
    if not len(gold) == len(predicted) == lengths.sum():
        raise ValueError(f"{len(gold)} gold and {len(predicted)} predicted tags for {lengths.sum()} tokens")
    tagset = _Tagset.of(tags, dialect)
    in_gold, in_predicted = tagset.bounds(gold, lengths), tagset.bounds(predicted, lengths)
    # At most one chunk ends at a token, so equal chunks are found token by token, without any search.
    correct = in_gold.ends & in_predicted.ends & (in_gold.kinds == in_predicted.kinds)
    shared = np.flatnonzero(correct)
    if tagset.dialect.one_sequence:
        # The sequence opens with the first token, or with the O that stands for an empty first sentence.
        floor = np.array(0 if lengths[:1].any() else -1)
    else:
        floor = np.repeat(np.cumsum(lengths) - lengths, lengths)[shared]
    correct[shared] = in_gold.begins(shared, floor) == in_predicted.begins(shared, floor)
    return Statistics(_sums_per_sentence(lengths, correct, in_predicted.ends, in_gold.ends), F1)


def token_accuracy(gold: Tags, predicted: Tags) -> Statistics:
    """One row per sentence: tags that are right, and all tags; the score is their ratio over the corpus."""
    gold, predicted = _aligned(gold, predicted)
    (gold_codes, predicted_codes), _ = _encode(gold, predicted)
    right = gold_codes == predicted_codes
    return Statistics(_sums_per_sentence(sizes(gold), right, np.ones_like(right)), RATIO)


class _Bounds(NamedTuple):
    """Per token: whether a chunk starts with it, whether a chunk ends with it, and its type."""

    starts: BoolArray
    ends: BoolArray
    kinds: Codes

    def begins(self, tokens: IntArray, floor: IntArray) -> IntArray:
        """The last start at or before each token, but no earlier than `floor`.

        Odd tags can end a chunk that never started; as in the reference, it then reaches back this far.
        """
        started = np.cumsum(self.starts, dtype=np.int32)
        last: IntArray = np.append(-1, np.flatnonzero(self.starts))[started[tokens]]
        return np.maximum(last, floor)


@dataclass(frozen=True)
class _Tagset:
    """The distinct tags under a dialect: a prefix flag and a type number each, those of O last."""

    dialect: _Dialect
    flags: npt.NDArray[np.uint8]
    kinds: Codes
    types: list[str]

    @classmethod
    def of(cls, tags: Sequence[str], dialect: str) -> "_Tagset":
        if dialect not in _DIALECTS:
            raise unknown("chunk dialect", dialect, DIALECTS)
        rule = _DIALECTS[dialect]
        numbers: dict[str, int] = {}
        flags, kinds = [], []
        for tag in (*tags, "O"):
            if not isinstance(tag, str) or not tag:
                raise IsoglossError(f"{tag!r} is not a tag", fix="A tag is a non-empty string")
            flag = _PREFIXES.get(tag[0], _OTHER)
            if rule.strict and not flag & (_B | _I | _O):
                raise IsoglossError(
                    f"{tag!r} is not an IOB2 tag",
                    fix="Use the dialect conll for tags that are not B-, I- or O",
                )
            flags.append(flag)
            kinds.append(numbers.setdefault(rule.type_of(tag), len(numbers)))
        small = np.min_scalar_type(len(numbers))  # a byte, nearly always, and bytes compare fast
        return cls(rule, np.array(flags, np.uint8), np.array(kinds, small), list(numbers))

    def bounds(self, codes: Codes, lengths: IntArray) -> _Bounds:
        """Where the chunks are."""
        flags, kinds = self.flags.take(codes), self.kinds.take(codes)
        flag_before, flag_after = _neighbours(flags, lengths, _O)
        kind_before, kind_after = _neighbours(kinds, lengths, self.kinds[-1])
        if self.dialect.strict:
            continues = (flags == _I) & _any(flag_before, _B | _I) & (kinds == kind_before)
            _, continued = _neighbours(continues, lengths, False)
            marked = _any(flags, _B | _I)
            runs = _Bounds(marked & ~continues, marked & ~continued, kinds)
            lasts = np.flatnonzero(runs.ends)
            runs.ends[lasts] = flags[runs.begins(lasts, np.array(0))] == _B
            return runs
        marked = ~_any(flags, _O | _DOT)
        starts = (
            _any(flags, _B | _S)
            | (_any(flags, _E | _I) & _any(flag_before, _E | _S | _O))
            | (marked & (kinds != kind_before))
        )
        ends = (
            _any(flags, _E | _S)
            | (_any(flags, _B | _I) & _any(flag_after, _B | _S | _O))
            | (marked & (kinds != kind_after))
        )
        return _Bounds(starts, ends, kinds)


def _any(flags: npt.NDArray[np.uint8], wanted: int) -> BoolArray:
    """Whether each flag is one of those wanted."""
    hits: BoolArray = (flags & np.uint8(wanted)) != 0
    return hits


def _neighbours(
    values: npt.NDArray[_Scalar], lengths: IntArray, outside: int | np.integer
) -> tuple[npt.NDArray[_Scalar], npt.NDArray[_Scalar]]:
    """The value before and the value after each token, `outside` beyond the ends of its sentence."""
    before, after = np.empty_like(values), np.empty_like(values)
    before[1:], after[:-1] = values[:-1], values[1:]
    stops = np.cumsum(lengths)
    full = lengths > 0
    before[(stops - lengths)[full]] = outside
    after[stops[full] - 1] = outside
    return before, after


def _sums_per_sentence(lengths: IntArray, *marks: BoolArray) -> FloatArray:
    """One column per mark: how many tokens of each sentence carry it."""
    rows = np.zeros((len(lengths), len(marks)))
    full = lengths > 0
    firsts = (np.cumsum(lengths) - lengths)[full]
    for column, mark in enumerate(marks):
        rows[full, column] = np.add.reduceat(mark, firsts, dtype=np.float64)
    return rows


def _encode(*corpora: Sentences) -> tuple[list[Codes], list[str]]:
    """Tags as numbers: the flat codes of each corpus and the distinct tags they point to."""
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__  # a tag met for the first time gets the next number
    return [_codes(corpus, numbers.__getitem__) for corpus in corpora], list(numbers)


def _codes(sentences: Sentences, number: Callable[[str], int]) -> Codes:
    try:
        return np.frombuffer(bytes(map(number, chain.from_iterable(sentences))), np.uint8)
    except ValueError:  # more tags than a byte can tell apart: the slower way
        return np.fromiter(map(number, chain.from_iterable(sentences)), np.int64)


def _aligned(gold: Tags, predicted: Tags) -> tuple[Sentences, Sentences]:
    """Both sides as lists of sentences of the same lengths."""
    gold, predicted = _sentences(gold), _sentences(predicted)
    if len(gold) != len(predicted):
        raise PredictionError(f"{len(gold)} gold sentences but {len(predicted)} predicted")
    wanted, given = sizes(gold), sizes(predicted)
    if (wanted != given).any():
        number = int(np.argmax(wanted != given))
        raise PredictionError(
            f"{wanted[number]} gold tags but {given[number]} predicted",
            where=f"sentence {number}",
            fix="Give one tag for each token",
        )
    return gold, predicted


def _sentences(tags: Tags) -> Sentences:
    flat = len(tags) > 0 and isinstance(tags[0], str)
    return cast("Sentences", [tags] if flat else tags)
