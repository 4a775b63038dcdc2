"""Corpus BLEU and chrF of translations, as statistics per text: the score is a function of summed counts of n-grams.

Both equal sacrebleu's `corpus_bleu` and `corpus_chrf` divided by 100, and carry its signatures. Several references per
text are allowed: BLEU clips an n-gram's count at the largest of all references and takes the closest length, chrF
takes the reference with the best score.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from isogloss.errors import IsoglossError, unknown
from isogloss.languages import known_language
from isogloss.metrics.ngrams import cut_13a, cut_at_signs, matches
from isogloss.metrics.statistics import FloatArray, IntArray, Statistics, Value, sizes

# Version of sacrebleu with the same definitions, as signatures name it.
SACREBLEU = "2.6.0"
WORDS = 4
CHARACTERS = 6
_BETA_SQUARED = 4
# Characters of translations and references that are counted together: bounds the memory.
_BLOCK = 1 << 20
# Signs that chrF++ splits off words.
_SIGNS = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
# Characters that sacrebleu's "zh" splits off. Two of its ranges were meant for code points above U+FFFF, and cover
# U+2001 to U+2A6D instead.
_CHINESE = re.compile(
    "([\u2001-\u2a6d\u2e80-\u2eff\u2f00-\u2fdf\u2ff0-\u303f\u3100-\u312f\u31a0-\u31bf\u31c0-\u31ef\u3200-\u33ff"
    "\u3400-\u4db5\u4e00-\u9fbb\uf900-\ufa2d\ufa30-\ufa6a\ufa70-\ufad9\ufe10-\ufe1f\ufe30-\ufe4f\uff00-\uffef])"
)


def _cut_chinese(text: str) -> list[str]:
    return cut_at_signs(_CHINESE.sub(r" \1 ", text.strip()))


def _cut_characters(text: str) -> str:
    return "".join(text.split())


# sacrebleu strips the end of a line, where "13a" would join a hyphen to the next line.
TOKENIZERS: Mapping[str, Callable[[str], Sequence[str]]] = {
    "13a": lambda text: cut_13a(text.rstrip()),
    "zh": _cut_chinese,
    "char": _cut_characters,
    "none": str.split,
}


def tokenizer_for(language: str) -> str:
    """Return the name of a language's tokenizer for BLEU: "char" for scripts without blanks between words, or "13a".

    sacrebleu itself uses "zh" for Chinese and a morphological analyser for Japanese.
    """
    entry = known_language(language)
    return "13a" if entry is None or entry.segmented else "char"


def exp_smoothed(
    matched: FloatArray,
    totals: FloatArray,
    lengths: npt.ArrayLike,
    reference_lengths: npt.ArrayLike,
    orders: npt.ArrayLike,
) -> FloatArray:
    """Return BLEU from counts of n-grams (..., 4) and lengths (...): the k-th order without a match counts 1 / 2^k.

    Orders without any n-gram count as precision 1; `orders` is the divisor of the geometric mean.
    """
    smoothed = np.where(matched > 0, matched, 0.5 ** np.cumsum(matched <= 0, axis=-1))
    logs = np.where(totals > 0, np.log(smoothed / np.maximum(totals, 1)), 0.0)
    brevity = np.minimum(0.0, 1.0 - np.asarray(reference_lengths) / np.maximum(lengths, 1))
    score: FloatArray = np.exp(logs.sum(axis=-1) / np.maximum(orders, 1) + brevity)
    return score


def _bleu_value(sums: FloatArray, count: FloatArray) -> FloatArray:
    lengths, references, matched, totals = sums[..., 0], sums[..., 1], sums[..., 2:6], sums[..., 6:]
    score = exp_smoothed(matched, totals, lengths, references, WORDS)
    return np.where((matched.max(axis=-1) > 0) & (totals.min(axis=-1) > 0), score, 0.0)


def _chrf_value(sums: FloatArray, count: FloatArray) -> FloatArray:
    """Return F2 of mean precision and mean recall over the orders with n-grams on both sides."""
    ours, theirs, common = sums[..., 0::3], sums[..., 1::3], sums[..., 2::3]
    used = (ours > 0) & (theirs > 0)
    orders = np.maximum(used.sum(axis=-1), 1)
    precision = np.divide(common, ours, out=np.zeros_like(ours), where=used).sum(axis=-1) / orders
    recall = np.divide(common, theirs, out=np.zeros_like(ours), where=used).sum(axis=-1) / orders
    below = _BETA_SQUARED * precision + recall
    above = (1 + _BETA_SQUARED) * precision * recall
    score: FloatArray = np.divide(above, below, out=np.zeros_like(below), where=below > 0)
    return score


def _numbered(*names: str, orders: int = WORDS) -> tuple[str, ...]:
    return tuple(f"{name}_{order}" for name in names for order in range(1, orders + 1))


def _triples(unit: str, orders: int) -> tuple[str, ...]:
    return tuple(f"{unit}_{order}_{what}" for order in range(1, orders + 1) for what in ("ours", "reference", "common"))


BLEU = Value(
    "bleu",
    ("length", "reference_length", *_numbered("matches", "total")),
    _bleu_value,
    weighted_by=("length", "reference_length"),
)
_WEIGHTS = ("characters_1_ours", "characters_1_reference")
CHRF = Value("chrf2", _triples("characters", CHARACTERS), _chrf_value, weighted_by=_WEIGHTS)
CHRF_PLUS_PLUS = Value("chrf2++", (*CHRF.columns, *_triples("words", 2)), _chrf_value, weighted_by=_WEIGHTS)


def bleu_signature(references: int | str, tokenizer: str) -> str:
    """Return sacrebleu's signature of BLEU with some number of references per text, or "var" if it varies."""
    return f"nrefs:{references}|case:mixed|eff:no|tok:{tokenizer}|smooth:exp|version:{SACREBLEU}"


def chrf_signature(references: int | str, *, words: bool = False) -> str:
    """Return sacrebleu's signature of chrF, or of chrF++ (`words`)."""
    return f"nrefs:{references}|case:mixed|eff:yes|nc:{CHARACTERS}|nw:{2 * words}|space:no|version:{SACREBLEU}"


def bleu_statistics(
    translations: Sequence[str], references: Sequence[Sequence[str]], tokenizer: str = "13a"
) -> Statistics:
    """Return the statistics of corpus BLEU: `statistics.score` is sacrebleu's figure divided by 100.

    Args:
        translations: the texts to judge.
        references: one or several human translations of all texts: `references[k][row]`, as sacrebleu takes them.
        tokenizer: "13a", "zh", "char" or "none" (see `tokenizer_for`).

    Raises:
        UnknownNameError: unknown tokenizer.
        IsoglossError: there are no references, or another number of texts in one of them.
    """
    if tokenizer not in TOKENIZERS:
        raise unknown("tokenizer", tokenizer, TOKENIZERS)
    cut = TOKENIZERS[tokenizer]
    return Statistics(_in_blocks(translations, references, partial(_bleu_rows, cut=cut), len(BLEU.columns)), BLEU)


def chrf_statistics(
    translations: Sequence[str], references: Sequence[Sequence[str]], *, words: bool = False
) -> Statistics:
    """Return the statistics of corpus chrF2, or of chrF2++ with n-grams of up to two words (`words`).

    Arguments and errors are those of `bleu_statistics`.
    """
    value = CHRF_PLUS_PLUS if words else CHRF
    rows = _in_blocks(translations, references, partial(_chrf_rows, words=words), len(value.columns))
    return Statistics(rows, value)


def _in_blocks(
    translations: Sequence[str],
    references: Sequence[Sequence[str]],
    rows_of: Callable[[Sequence[str], list[Sequence[str]]], FloatArray],
    columns: int,
) -> FloatArray:
    """Return the rows of all texts, computed for one block of texts at a time."""
    if not references:
        raise IsoglossError("no references: translations are judged by human ones")
    for number, texts in enumerate(references, 1):
        if len(texts) != len(translations):
            what = f"reference {number} has {len(texts):,} texts, but there are {len(translations):,} translations"
            raise IsoglossError(what, fix="Give one reference text per translation, in the same order")
    blocks = [
        rows_of(translations[start:end], [texts[start:end] for texts in references])
        for start, end in _blocks(sum(map(sizes, references), sizes(translations)))
    ]
    return np.concatenate([np.zeros((0, columns)), *blocks])


def _blocks(lengths: IntArray) -> Iterator[tuple[int, int]]:
    """Yield the bounds of consecutive texts of about `_BLOCK` characters."""
    numbers = np.cumsum(lengths) // _BLOCK
    bounds = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(lengths)]
    yield from pairwise(bounds)


def _totals(lengths: IntArray, orders: int) -> FloatArray:
    """Return the numbers of n-grams of texts, for n = 1 … `orders`."""
    totals: FloatArray = np.maximum(lengths[:, None] - np.arange(orders), 0).astype(np.float64)
    return totals


def _bleu_rows(
    translations: Sequence[str], references: list[Sequence[str]], cut: Callable[[str], Sequence[str]]
) -> FloatArray:
    ours, theirs = [cut(text) for text in translations], [cut(text) for texts in references for text in texts]
    reference_of = np.arange(len(theirs)).reshape(len(references), -1).T
    lengths, others = sizes(ours), sizes(theirs)[reference_of]
    # The closest length, the shorter of two that are equally close.
    distance = 2 * np.abs(others - lengths[:, None]) + (others > lengths[:, None])
    closest = np.take_along_axis(others, distance.argmin(axis=1)[:, None], axis=1)
    matched = np.stack(list(matches(ours, theirs, reference_of, WORDS)), axis=1)
    return np.concatenate([lengths[:, None], closest, matched, _totals(lengths, WORDS)], axis=1)


def _chrf_rows(translations: Sequence[str], references: list[Sequence[str]], words: bool) -> FloatArray:
    best = np.zeros((len(translations), 0))
    best_score = np.full(len(translations), -1.0)
    for texts in references:
        rows = _chrf_triples([*map(_cut_characters, translations)], [*map(_cut_characters, texts)], CHARACTERS)
        if words:
            cut = [*map(_words_and_signs, translations)], [*map(_words_and_signs, texts)]
            rows = np.concatenate([rows, _chrf_triples(*cut, 2)], axis=1)
        score = _chrf_value(rows, np.ones(len(rows)))
        is_better = score > best_score
        best = np.where(is_better[:, None], rows, best if best.size else rows)
        best_score = np.maximum(score, best_score)
    return best


def _chrf_triples(ours: Sequence[Sequence[str]], theirs: Sequence[Sequence[str]], orders: int) -> FloatArray:
    """Return ours, reference's and common n-grams; ours count as 0 if the reference has none of that order."""
    common = np.stack(list(matches(ours, theirs, np.arange(len(ours)), orders)), axis=1)
    references = _totals(sizes(theirs), orders)
    own = np.where(references > 0, _totals(sizes(ours), orders), 0.0)
    return np.stack([own, references, common], axis=2).reshape(len(ours), 3 * orders)


def _words_and_signs(text: str) -> list[str]:
    """Return the words of chrF++: one sign is split off, at the end of a word or else at its start."""
    parts: list[str] = []
    for word in text.split():
        if len(word) > 1 and word[-1] in _SIGNS:
            parts += [word[:-1], word[-1]]
        elif len(word) > 1 and word[0] in _SIGNS:
            parts += [word[0], word[1:]]
        else:
            parts.append(word)
    return parts
