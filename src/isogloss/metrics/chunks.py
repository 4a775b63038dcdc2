"""Chunk F1 for tagging: exact spans with the right type, micro-averaged over all chunks.

A tag has a prefix (its first character) and a type. A dialect defines the type and the chunk boundaries:

- ``conll``: the lenient rule of conlleval; the type is the text after the last hyphen, or the whole tag if
  it has no hyphen. An I- with nothing to continue opens a chunk; bare tags such as UPOS form chunks of equal
  neighbours. The published numbers of XTREME and XTREME-R follow this rule (seqeval up to 0.0.12).
- ``seqeval-1.2.2``: the same rule with the type of that release's default mode: the tag without its first
  character, then what follows the first hyphen. Bare tags lose a letter: CCONJ and SCONJ are one type, and X
  has the type of O.
- ``iob2-strict``: a chunk is a B- with the I- of its type that follow it (seqeval's strict mode with IOB2).

F1 is 2 correct / (predicted + gold), and 0 if neither side has a chunk.
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
    """Rules for tag types and chunk boundaries, and a flag for reading a corpus as one sequence."""

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
    """Return the chunks of one sentence.

    Args:
        tags: one tag per token.
        dialect: "conll", "seqeval-1.2.2" or "iob2-strict".

    Returns:
        (type, first token, last token) of each chunk, in order; the last token is part of the chunk.

    Raises:
        UnknownNameError: unknown dialect.
        IsoglossError: a tag is empty, or not IOB2 with "iob2-strict".
    """
    return extract([tags], dialect=dialect)[0]


def extract(sentences: Sentences, *, dialect: str = "conll") -> list[list[Chunk]]:
    """Return the chunks of each sentence; far faster than calling `chunks` per sentence."""
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
    chunks_by_sentence: list[list[Chunk]] = [[] for _ in sentences]
    for owner, chunk in zip(owners.tolist(), spans, strict=True):
        chunks_by_sentence[owner].append(chunk)
    return chunks_by_sentence


def f1(gold: Tags, predicted: Tags, *, dialect: str = "conll") -> float:
    """Return the micro-averaged chunk F1 of a corpus or of one sentence.

    Args:
        gold: gold tags: a list of sentences, or the tags of one sentence.
        predicted: predicted tags, likewise, one for each token.
        dialect: "conll", "seqeval-1.2.2" or "iob2-strict".

    Returns:
        F1, 0..1.

    Raises:
        PredictionError: the two differ in their numbers of sentences or tags.
        UnknownNameError: unknown dialect.
        IsoglossError: a tag is empty, or not IOB2 with "iob2-strict".
    """
    return statistics(gold, predicted, dialect=dialect).score


def statistics(gold: Tags, predicted: Tags, *, dialect: str = "conll") -> Statistics:
    """Return one row per sentence: chunks that are correct, predicted, and in the gold.

    Sentences are independent, with one exception kept for parity: ``seqeval-1.2.2`` reads a corpus as one
    sequence, and there a tag that has the type of O but is not O (X, among UPOS tags) can close a chunk
    opened in an earlier sentence. This chunk counts where it ends.

    Args and errors are those of `f1`.
    """
    gold, predicted = _aligned(gold, predicted)
    (gold_codes, predicted_codes), tags = _encode(gold, predicted)
    return coded_statistics(gold_codes, predicted_codes, sizes(gold), tags, dialect=dialect)


def coded_statistics(
    gold: Codes, predicted: Codes, lengths: IntArray, tags: Sequence[str], *, dialect: str = "conll"
) -> Statistics:
    """Like `statistics`, for tags given as indices into `tags`, with all sentences concatenated."""
    lengths = np.asarray(lengths, dtype=np.int64)
    if not len(gold) == len(predicted) == lengths.sum():
        raise ValueError(f"{len(gold)} gold and {len(predicted)} predicted tags for {lengths.sum()} tokens")
    tagset = _Tagset.of(tags, dialect)
    in_gold, in_predicted = tagset.bounds(gold, lengths), tagset.bounds(predicted, lengths)
    # At most one chunk ends at a token, so equal chunks can be compared token by token.
    correct = in_gold.ends & in_predicted.ends & (in_gold.kinds == in_predicted.kinds)
    shared = np.flatnonzero(correct)
    if tagset.dialect.one_sequence:
        # The sequence opens with the first token, or with an O for an empty first sentence.
        floor = np.array(0 if lengths[:1].any() else -1)
    else:
        floor = np.repeat(np.cumsum(lengths) - lengths, lengths)[shared]
    correct[shared] = in_gold.begins(shared, floor) == in_predicted.begins(shared, floor)
    return Statistics(_sums_per_sentence(lengths, correct, in_predicted.ends, in_gold.ends), F1)


def token_accuracy(gold: Tags, predicted: Tags) -> Statistics:
    """Return one row per sentence: tags that are right, and all tags; the score is their ratio over the corpus."""
    gold, predicted = _aligned(gold, predicted)
    (gold_codes, predicted_codes), _ = _encode(gold, predicted)
    right = gold_codes == predicted_codes
    return Statistics(_sums_per_sentence(sizes(gold), right, np.ones_like(right)), RATIO)


class _Bounds(NamedTuple):
    """Per-token masks of chunk starts and chunk ends, and the type of each token."""

    starts: BoolArray
    ends: BoolArray
    kinds: Codes

    def begins(self, tokens: IntArray, floor: IntArray) -> IntArray:
        """Return the last start at or before each token, but no earlier than `floor`.

        Odd tags can end a chunk that never started; as in the reference, it then begins at `floor`.
        """
        started = np.cumsum(self.starts, dtype=np.int32)
        last: IntArray = np.append(-1, np.flatnonzero(self.starts))[started[tokens]]
        return np.maximum(last, floor)


@dataclass(frozen=True)
class _Tagset:
    """Distinct tags under a dialect, each with a prefix flag and a type number; O is last."""

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
                fix = "Use the dialect conll for tags that are not B-, I- or O"
                raise IsoglossError(f"{tag!r} is not an IOB2 tag", fix=fix)
            flags.append(flag)
            kinds.append(numbers.setdefault(rule.type_of(tag), len(numbers)))
        small = np.min_scalar_type(len(numbers))  # a byte, nearly always, and bytes compare fast
        return cls(rule, np.array(flags, np.uint8), np.array(kinds, small), list(numbers))

    def bounds(self, codes: Codes, lengths: IntArray) -> _Bounds:
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
    hits: BoolArray = (flags & np.uint8(wanted)) != 0
    return hits


def _neighbours(
    values: npt.NDArray[_Scalar], lengths: IntArray, outside: int | np.integer
) -> tuple[npt.NDArray[_Scalar], npt.NDArray[_Scalar]]:
    """Return the values before and after each token; `outside` at the sentence ends."""
    before, after = np.empty_like(values), np.empty_like(values)
    before[1:], after[:-1] = values[:-1], values[1:]
    stops = np.cumsum(lengths)
    full = lengths > 0
    before[(stops - lengths)[full]] = outside
    after[stops[full] - 1] = outside
    return before, after


def _sums_per_sentence(lengths: IntArray, *marks: BoolArray) -> FloatArray:
    """Return one column per mark: the number of marked tokens in each sentence."""
    rows = np.zeros((len(lengths), len(marks)))
    full = lengths > 0
    firsts = (np.cumsum(lengths) - lengths)[full]
    for column, mark in enumerate(marks):
        rows[full, column] = np.add.reduceat(mark, firsts, dtype=np.float64)
    return rows


def _encode(*corpora: Sentences) -> tuple[list[Codes], list[str]]:
    """Encode tags as numbers: return the flat codes of each corpus, and the distinct tags they point to."""
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__  # a new tag gets the next number
    return [_codes(corpus, numbers.__getitem__) for corpus in corpora], list(numbers)


def _codes(sentences: Sentences, number: Callable[[str], int]) -> Codes:
    try:
        return np.frombuffer(bytes(map(number, chain.from_iterable(sentences))), np.uint8)
    except ValueError:  # more tags than fit in a byte: use the slower path
        return np.fromiter(map(number, chain.from_iterable(sentences)), np.int64)


def _aligned(gold: Tags, predicted: Tags) -> tuple[Sentences, Sentences]:
    """Return both sides as lists of sentences of the same lengths."""
    gold, predicted = _sentences(gold), _sentences(predicted)
    if len(gold) != len(predicted):
        raise PredictionError(f"{len(gold)} gold sentences but {len(predicted)} predicted")
    wanted, lengths = sizes(gold), sizes(predicted)
    if (wanted != lengths).any():
        number = int(np.argmax(wanted != lengths))
        what = f"{wanted[number]} gold tags but {lengths[number]} predicted"
        raise PredictionError(what, where=f"sentence {number}", fix="Provide one tag per token")
    return gold, predicted


def _sentences(tags: Tags) -> Sentences:
    flat = len(tags) > 0 and isinstance(tags[0], str)
    return cast("Sentences", [tags] if flat else tags)
