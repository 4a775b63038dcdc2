"""Sentence BLEU of many pairs of texts at once: smoothed by adding one, which is ours, or as sacrebleu does it.

The two that follow sacrebleu cut a text as mteval-v13a, keep its case and its punctuation, and smooth exponentially:
the k-th order without a match counts as 1 / 2^k matches. They differ in what is short. sacrebleu's older default, which
XTREME-R's Table 25 was made with, takes all four orders of every text: a candidate of fewer than four tokens has 0, and
one of more has a little even where nothing matches. The sentence default since its version 2 takes the orders that the
candidate has, and gives 0 where nothing matches.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain

import numpy as np

from isogloss.explain.attributes.lengths import Convention, cutter
from isogloss.explain.attributes.lexicon import plain
from isogloss.metrics.statistics import FloatArray, IntArray, sizes

ORDER = 4


# What mteval-v13a sets apart: ASCII signs but for the apostrophe, then full stops, commas and hyphens by digits.
_SIGNS = re.compile(r"([{-~\[-` -&(-+:-@/])")
_STOP_AFTER, _STOP_BEFORE = re.compile(r"([^0-9])([.,])"), re.compile(r"([.,])([^0-9])")
_HYPHEN = re.compile(r"([0-9])(-)")
_ENTITIES = {"<skipped>": "", "-\n": "", "\n": " ", "&quot;": '"', "&amp;": "&", "&lt;": "<", "&gt;": ">"}


def bleus(
    candidates: Sequence[str], references: Sequence[str], language: str, convention: Convention = "script"
) -> FloatArray:
    """BLEU of each pair of texts, 0 to 1.

    Args:
        candidates: what is scored.
        references: what it is scored against, one for each.
        language: of all of them.
        convention: "paper" and "explainaboard" are sacrebleu's older and newer default (see above), the former after
            a lone long word was taken apart into letters; others are on words (characters in unsegmented scripts)
            without case and punctuation.
    """
    distinct = list(dict.fromkeys(references))
    place = {text: number for number, text in enumerate(distinct)}
    reference_of = np.fromiter((place[text] for text in references), np.int64, len(references))
    if convention in ("paper", "explainaboard"):
        cut = _cut_13a_after(cutter(language, convention)) if convention == "paper" else cut_13a
        ours, theirs = ([cut(text) for text in texts] for texts in (candidates, distinct))
        return exp_smoothed_bleus(ours, theirs, reference_of, effective_order=convention == "explainaboard")
    cut = cutter(language)
    return token_bleus([cut(text) for text in plain(candidates)], [cut(text) for text in plain(distinct)], reference_of)


def cut_13a(text: str) -> list[str]:
    """The tokens of a text as mteval-v13a and sacrebleu's `tokenize="13a"` cut it."""
    for written, meant in _ENTITIES.items():
        text = text.replace(written, meant)
    text = _SIGNS.sub(r" \1 ", f" {text} ")
    text = _STOP_BEFORE.sub(r" \1 \2", _STOP_AFTER.sub(r"\1 \2 ", text))
    return _HYPHEN.sub(r"\1 \2 ", text).split()


def _cut_13a_after(cut: Callable[[str], list[str]]) -> Callable[[str], list[str]]:
    return lambda text: cut_13a(" ".join(cut(text)))


def exp_smoothed_bleus(
    candidates: Sequence[Sequence[str]],
    references: Sequence[Sequence[str]],
    reference_of: IntArray,
    *,
    effective_order: bool = False,
) -> FloatArray:
    """Sentence BLEU-4 of each token list as sacrebleu computes it with `smooth_method="exp"`, divided by 100.

    Args:
        candidates: token lists.
        references: the token lists they are held against.
        reference_of: for each candidate the number of its reference.
        effective_order: take only the orders that the candidate is long enough for, and 0 where nothing matches.
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
    """Sentence BLEU-4 of each token list against the reference whose number it has, 0 to 1, with add-one smoothing.

    p_1 = m_1 / t_1 and p_n = (m_n + 1) / (t_n + 1) for n = 2, 3, 4 (Lin and Och, 2004), with m_n the clipped matches
    and t_n the n-grams of the candidate; the geometric mean times the brevity penalty exp(min(0, 1 - r/c)). No common
    word: 0. This is sacrebleu's `smooth_method="add-k"` with k = 1 and without effective order, divided by 100.
    """
    lengths, others = sizes(candidates), sizes(references)[reference_of]
    logs = np.zeros(len(candidates))
    with np.errstate(divide="ignore", invalid="ignore"):  # empty candidates and those without a match are 0 in the end
        for order, matched in enumerate(_matches(candidates, references, reference_of), 1):
            smooth = 1.0 if order > 1 else 0.0
            logs += np.log((matched + smooth) / (np.maximum(lengths - order + 1, 0) + smooth))
        score = np.exp(logs / ORDER + np.minimum(0.0, 1.0 - others / lengths))
    return np.where(np.isfinite(logs), score, 0.0)


def _matches(
    candidates: Sequence[Sequence[str]], references: Sequence[Sequence[str]], reference_of: IntArray
) -> Iterator[FloatArray]:
    """Clipped n-gram matches of each candidate with its reference, for n = 1 … 4, all pairs at once."""
    owner, places, words = _shared_words(candidates, references, reference_of)
    begin, grams, size = np.arange(len(words)), words, int(words.max(initial=0)) + 1
    places = np.concatenate([places, np.full(ORDER, -1)])  # nothing goes on past the last word
    for order in range(1, ORDER + 1):
        if order > 1:
            # An n-gram is an (n-1)-gram and the word right after it.
            goes_on = places[begin + order - 1] == places[begin] + order - 1
            begin, grams = begin[goes_on], grams[goes_on]
            grams = np.unique(grams * size + words[begin + order - 1], return_inverse=True)[1].reshape(-1)
        width = int(grams.max(initial=0)) + 1
        keys, counts = np.unique(owner[begin] * width + grams, return_counts=True)
        split = int(np.searchsorted(keys, len(references) * width))
        pair = keys[split:] // width - len(references)
        wanted = reference_of[pair] * width + keys[split:] % width
        place = np.minimum(np.searchsorted(keys[:split], wanted), max(split - 1, 0))
        found = keys[:split][place] == wanted if split else np.zeros(len(wanted), dtype=bool)
        clipped = np.where(found, np.minimum(counts[split:], counts[place]), 0)
        yield np.bincount(pair, clipped, minlength=len(candidates)).astype(np.float64)


def _shared_words(
    candidates: Sequence[Sequence[str]], references: Sequence[Sequence[str]], reference_of: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """The words of all texts: whose each is (references first), its place, and its number.

    A word of a reference that none of its candidates has is in no common n-gram, and is left out at once. Words with
    neighbouring places are neighbours in one text: between two texts there is a gap.
    """
    wanted: list[set[str]] = [set() for _ in references]
    for candidate, number in zip(candidates, reference_of.tolist(), strict=True):
        wanted[number].update(candidate)
    kept = [
        [place for place, word in enumerate(words) if word in known]
        for words, known in zip(references, wanted, strict=True)
    ]
    places = [*kept, *(range(len(words)) for words in candidates)]
    words = [words[place] for words, own in zip(references, kept, strict=True) for place in own]
    words += chain.from_iterable(candidates)
    number_of = {word: number for number, word in enumerate(dict.fromkeys(words))}
    owner = np.repeat(np.arange(len(places)), sizes(places))
    place = np.fromiter(chain.from_iterable(places), np.int64, len(words))
    numbers = np.fromiter(map(number_of.__getitem__, words), np.int64, len(words))
    return owner, place + owner * (place.max(initial=0) + 2), numbers
