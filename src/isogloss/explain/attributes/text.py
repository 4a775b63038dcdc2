"""Attributes of texts to classify, choices, and tagged sentences."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from isogloss.explain.attributes.bleu import bleus
from isogloss.explain.attributes.lengths import Convention, count_tokens, ratio, spaced
from isogloss.explain.attributes.lexicon import negates, plain
from isogloss.explain.model import StrArray
from isogloss.metrics.statistics import FloatArray
from isogloss.tasks.examples import Examples


def first_texts(examples: Examples) -> Sequence[str]:
    """Return the first text of a pair, or the only one."""
    return examples["text_a" if "text_a" in examples.columns else "text"]  # type: ignore[no-any-return]


def choice_ratio(examples: Examples, convention: Convention = "script") -> FloatArray:
    """Return tokens of the correct choice over the mean of the others: above 1, the correct one is longer."""
    flat = [choice for choices in examples["choices"] for choice in choices]
    counts = count_tokens(flat, examples.language, convention)
    sizes = np.fromiter(map(len, examples["choices"]), np.int64, len(examples))
    begins = np.cumsum(sizes) - sizes
    right = counts[begins + np.array(examples["label"], dtype=np.int64)]
    others = (np.add.reduceat(counts, begins) if len(begins) else begins.astype(np.float64)) - right
    return ratio(right, others / np.maximum(sizes - 1, 1))


def _jaccards(first: Iterable[set[str]], second: Iterable[set[str]]) -> Iterator[float]:
    for ours, theirs in zip(first, second, strict=True):
        common = len(ours & theirs)
        yield common / (len(ours) + len(theirs) - common) if common else 0.0


def overlaps(first: Sequence[str], second: Sequence[str], language: str) -> FloatArray:
    """Return the Jaccard index of each pair's sets of words, or of character trigrams in unsegmented scripts."""
    if not spaced(language):
        return trigram_overlaps(first, second)
    words = ([set(text.split()) for text in plain(texts)] for texts in (first, second))
    return np.fromiter(_jaccards(*words), np.float64, len(first))


def trigram_overlaps(first: Sequence[str], second: Sequence[str]) -> FloatArray:
    """Return the Jaccard index of each pair's sets of character trigrams, for any languages.

    Case, punctuation and spaces are ignored; a text of one or two characters is its own trigram.
    """
    packed = (["".join(text.split()) for text in plain(texts)] for texts in (first, second))
    grams = (
        [{text[start : start + 3] for start in range(max(len(text) - 2, 1))} if text else set() for text in texts]
        for texts in packed
    )
    return np.fromiter(_jaccards(*grams), np.float64, len(first))


def pair_overlap(examples: Examples) -> FloatArray:
    """Return the Jaccard index of the two texts of a pair: of words, or of character trigrams if unspaced."""
    return overlaps(examples["text_a"], examples["text_b"], examples.language)


def similarity(examples: Examples, convention: Convention = "explainaboard") -> FloatArray:
    """Return ExplainaBoard's similarity: BLEU of the second text against the first, 0 to 100."""
    return 100 * bleus(examples["text_b"], examples["text_a"], examples.language, convention)


def choice_overlap(examples: Examples) -> FloatArray:
    """Return the Jaccard index of a premise and the correct choice."""
    right = [choices[label] for choices, label in zip(examples["choices"], examples["label"], strict=True)]
    return overlaps(examples["premise"], right, examples.language)


def negation(examples: Examples) -> StrArray:
    """Return which texts have a negating word: "no", "first", "second" or "both"."""
    return _negated(examples, first_texts(examples), examples["text_b"] if "text_b" in examples.columns else [])


def choice_negation(examples: Examples) -> StrArray:
    """Return the negation of a choice task: the premise is the first text, all choices together the second."""
    return _negated(examples, examples["premise"], ["\n".join(choices) for choices in examples["choices"]])


def _negated(examples: Examples, first: Sequence[str], second: Sequence[str]) -> StrArray:
    negated = np.array(negates(first, examples.language), dtype=np.int64)
    if second:
        negated += 2 * np.array(negates(second, examples.language), dtype=np.int64)
    return np.array(["no", "first", "second", "both"])[negated]
