"""Vectorised sentence BLEU of many text pairs, with add-one smoothing (ours) or sacrebleu's smoothing.

The two sacrebleu variants tokenise like mteval-v13a, keep case and punctuation, and smooth exponentially: the k-th
order without a match counts as 1 / 2^k matches. They differ for short texts. The older default, used for XTREME-R's
Table 25, always uses all four orders: candidates of fewer than four tokens score 0, and longer ones score slightly
above 0 even without a match. The sentence default since version 2 uses the orders that fit the candidate, and is 0
without a match.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np

from isogloss.explain.attributes.lengths import Convention, cutter
from isogloss.explain.attributes.lexicon import plain
from isogloss.metrics.statistics import FloatArray, IntArray, sizes

ORDER = 4


# Tokens that mteval-v13a splits off: ASCII signs except the apostrophe, then full stops, commas and hyphens by digits.
_SIGNS = re.compile(r"([{-~\[-` -&(-+:-@/])")
_STOP_AFTER, _STOP_BEFORE = re.compile(r"([^0-9])([.,])"), re.compile(r"([.,])([^0-9])")
_HYPHEN = re.compile(r"([0-9])(-)")
_ENTITIES = {"<skipped>": "", "-\n": "", "\n": " ", "&quot;": '"', "&amp;": "&", "&lt;": "<", "&gt;": ">"}


def bleus(
    candidates: Sequence[str], references: Sequence[str], language: str, convention: Convention = "script"
) -> FloatArray:
    """Return the BLEU of each candidate against its reference, 0 to 1.

    The conventions "paper" and "explainaboard" are sacrebleu's older and newer default (see above), the former after
    a single long word is split into letters; others are on words (characters in unsegmented scripts) without case and
    punctuation.
    """
    distinct = list(dict.fromkeys(references))
    index_of = {text: number for number, text in enumerate(distinct)}
    reference_of = np.fromiter((index_of[text] for text in references), np.int64, len(references))
    if convention in ("paper", "explainaboard"):
        split = cutter(language, convention)
        # sacrebleu strips the end of a line, where the tokeniser would join a hyphen to the next line.
        prepare = (lambda text: " ".join(split(text))) if convention == "paper" else str.rstrip
        ours, theirs = ([cut_13a(prepare(text)) for text in texts] for texts in (candidates, distinct))
        return exp_smoothed_bleus(ours, theirs, reference_of, effective_order=convention == "explainaboard")
    cut = cutter(language)
    return token_bleus([cut(text) for text in plain(candidates)], [cut(text) for text in plain(distinct)], reference_of)


def cut_13a(text: str) -> list[str]:
    """Tokenise a text like mteval-v13a and sacrebleu's `tokenize="13a"`."""
    for entity, character in _ENTITIES.items():
        text = text.replace(entity, character)
    text = _SIGNS.sub(r" \1 ", f" {text} ")
    text = _STOP_BEFORE.sub(r" \1 \2", _STOP_AFTER.sub(r"\1 \2 ", text))
    return _HYPHEN.sub(r"\1 \2 ", text).split()


def exp_smoothed_bleus(
    candidates: Sequence[Sequence[str]],
    references: Sequence[Sequence[str]],
    reference_of: IntArray,
    *,
    effective_order: bool = False,
) -> FloatArray:
    """Return sentence BLEU-4 of each token list like sacrebleu with `smooth_method="exp"`, divided by 100.

    With `effective_order`, only orders that the candidate is long enough for are used, with 0 if nothing matches.
    """
    lengths, others = sizes(candidates), sizes(references)[reference_of]
    matches = np.stack(list(_matches(candidates, references, reference_of)), axis=1)
    totals = np.maximum(lengths[:, None] - np.arange(ORDER), 0)
    halvings = np.cumsum(matches == 0, axis=1)
    smoothed = np.where(matches > 0, matches, 0.5**halvings)
    logs = np.where(totals > 0, np.log(smoothed / np.maximum(totals, 1)), 0.0)
    orders = np.minimum(lengths, ORDER) if effective_order else np.full(len(lengths), ORDER)
    brevity = np.minimum(0.0, 1.0 - others / np.maximum(lengths, 1))
    score = np.exp(logs.sum(axis=1) / np.maximum(orders, 1) + brevity)
    nothing = (lengths == 0) | (matches.sum(axis=1) == 0) if effective_order else lengths < ORDER
    return np.where(nothing, 0.0, score)


def token_bleus(
    candidates: Sequence[Sequence[str]], references: Sequence[Sequence[str]], reference_of: IntArray
) -> FloatArray:
    """Return add-one smoothed sentence BLEU-4 of each token list against its reference, 0 to 1.

    p_1 = m_1 / t_1 and p_n = (m_n + 1) / (t_n + 1) for n = 2, 3, 4 (Lin and Och, 2004), with m_n the clipped matches
    and t_n the n-grams of the candidate; the geometric mean times the brevity penalty exp(min(0, 1 - r/c)). No common
    word: 0. This is sacrebleu's `smooth_method="add-k"` with k = 1 and without effective order, divided by 100.
    """
    lengths, others = sizes(candidates), sizes(references)[reference_of]
    logs = np.zeros(len(candidates))
    with np.errstate(divide="ignore", invalid="ignore"):  # empty candidates and those without a match end up as 0
        for order, matched in enumerate(_matches(candidates, references, reference_of), 1):
            smooth = 1.0 if order > 1 else 0.0
            logs += np.log((matched + smooth) / (np.maximum(lengths - order + 1, 0) + smooth))
        score = np.exp(logs / ORDER + np.minimum(0.0, 1.0 - others / lengths))
    return np.where(np.isfinite(logs), score, 0.0)


def _matches(
    candidates: Sequence[Sequence[str]], references: Sequence[Sequence[str]], reference_of: IntArray
) -> Iterator[FloatArray]:
    """Count clipped n-gram matches of each candidate with its reference, for n = 1 … 4, all pairs together."""
    owner, positions, words = _shared_words(candidates, references, reference_of)
    begin, grams, size = np.arange(len(words)), words, int(words.max(initial=0)) + 1
    positions = np.concatenate([positions, np.full(ORDER, -1)])  # no n-gram continues past the last word
    for order in range(1, ORDER + 1):
        if order > 1:
            # An n-gram is an (n-1)-gram plus the next word.
            goes_on = positions[begin + order - 1] == positions[begin] + order - 1
            begin, grams = begin[goes_on], grams[goes_on]
            grams = np.unique(grams * size + words[begin + order - 1], return_inverse=True)[1].reshape(-1)
        width = int(grams.max(initial=0)) + 1
        keys, counts = np.unique(owner[begin] * width + grams, return_counts=True)
        split = int(np.searchsorted(keys, len(references) * width))
        pair = keys[split:] // width - len(references)
        wanted = reference_of[pair] * width + keys[split:] % width
        index = np.minimum(np.searchsorted(keys[:split], wanted), max(split - 1, 0))
        matches = keys[:split][index] == wanted if split else np.zeros(len(wanted), dtype=bool)
        clipped = np.where(matches, np.minimum(counts[split:], counts[index]), 0)
        yield np.bincount(pair, clipped, minlength=len(candidates)).astype(np.float64)


def _shared_words(
    candidates: Sequence[Sequence[str]], references: Sequence[Sequence[str]], reference_of: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Return owner (references first), position and number of every word of all texts.

    Reference words that no candidate shares are dropped, as they cannot be in a common n-gram. Consecutive positions
    mark neighbours within one text; texts are separated by a gap.
    """
    wanted: list[set[str]] = [set() for _ in references]
    for candidate, number in zip(candidates, reference_of.tolist(), strict=True):
        wanted[number].update(candidate)
    shared = [
        [position for position, word in enumerate(words) if word in candidate_words]
        for words, candidate_words in zip(references, wanted, strict=True)
    ]
    positions = [*shared, *(range(len(words)) for words in candidates)]
    words = [words[position] for words, own in zip(references, shared, strict=True) for position in own]
    words += chain.from_iterable(candidates)
    number_of = {word: number for number, word in enumerate(dict.fromkeys(words))}
    owner = np.repeat(np.arange(len(positions)), sizes(positions))
    flat = np.fromiter(chain.from_iterable(positions), np.int64, len(words))
    numbers = np.fromiter(map(number_of.__getitem__, words), np.int64, len(words))
    return owner, flat + owner * (flat.max(initial=0) + 2), numbers
