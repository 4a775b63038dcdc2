"""How much two texts have in common: sentence BLEU, and the Jaccard index of words or character trigrams."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from isogloss.explain.attributes.lengths import cutter, spaced
from isogloss.explain.attributes.lexicon import plain
from isogloss.metrics.statistics import FloatArray, IntArray, sizes

ORDER = 4


def bleus(candidates: Sequence[str], references: Sequence[str], language: str) -> FloatArray:
    """BLEU of each pair of texts, on words (characters in unsegmented scripts) without case and punctuation."""
    distinct = list(dict.fromkeys(references))
    place = {text: number for number, text in enumerate(distinct)}
    reference_of = np.fromiter((place[text] for text in references), np.int64, len(references))
    cut = cutter(language)
    return token_bleus([cut(text) for text in plain(candidates)], [cut(text) for text in plain(distinct)], reference_of)


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
        (number, place, word)
        for number, (words, known) in enumerate(zip(references, wanted, strict=True))
        for place, word in enumerate(words)
        if word in known
    ]
    kept += [
        (number, place, word)
        for number, words in enumerate(candidates, len(references))
        for place, word in enumerate(words)
    ]
    owners, places, words = zip(*kept, strict=True) if kept else ((), (), ())
    number_of = {word: number for number, word in enumerate(dict.fromkeys(words))}
    owner, place, numbers = (
        np.fromiter(column, np.int64, len(kept)) for column in (owners, places, map(number_of.__getitem__, words))
    )
    return owner, place + owner * (place.max(initial=0) + 2), numbers


def _trigrams(text: str) -> set[str]:
    packed = "".join(text.split())
    return {packed[start : start + 3] for start in range(max(len(packed) - 2, 1))} if packed else set()


def _jaccards(first: Iterable[set[str]], second: Iterable[set[str]]) -> Iterator[float]:
    for ours, theirs in zip(first, second, strict=True):
        common = len(ours & theirs)
        yield common / (len(ours) + len(theirs) - common) if common else 0.0


def overlaps(first: Sequence[str], second: Sequence[str], language: str) -> FloatArray:
    """The Jaccard index of each pair's sets of words, or of character trigrams in unsegmented scripts."""
    if not spaced(language):
        return trigram_overlaps(first, second)
    words = ([set(text.split()) for text in plain(texts)] for texts in (first, second))
    return np.fromiter(_jaccards(*words), np.float64, len(first))


def trigram_overlaps(first: Sequence[str], second: Sequence[str]) -> FloatArray:
    """The Jaccard index of each pair's sets of character trigrams, whatever the languages.

    Case, punctuation and spaces do not count; a text of one or two characters is its own trigram.
    """
    grams = (map(_trigrams, plain(texts)) for texts in (first, second))
    return np.fromiter(_jaccards(*grams), np.float64, len(first))
