"""What can be said of texts to classify, of choices, and of tagged sentences."""

from collections.abc import Sequence

import numpy as np

from isogloss.explain.attributes.bleu import bleus
from isogloss.explain.attributes.lengths import Convention, count_tokens, ratio
from isogloss.explain.attributes.lexicon import negates
from isogloss.explain.attributes.overlap import overlaps
from isogloss.explain.model import StrArray
from isogloss.metrics.statistics import FloatArray
from isogloss.tasks.examples import Examples


def label(examples: Examples) -> StrArray:
    """The gold label; of a choice, the index of the right one."""
    return np.array([str(label) for label in examples["label"]], dtype=np.str_)


def first_texts(examples: Examples) -> Sequence[str]:
    """The first text of a pair, or the only one."""
    return examples["text_a" if "text_a" in examples.columns else "text"]  # type: ignore[no-any-return]


def first_choices(examples: Examples) -> Sequence[str]:
    """The first choice of each example."""
    return [choices[0] for choices in examples["choices"]]


def second_choices(examples: Examples) -> Sequence[str]:
    """The second choice of each example."""
    return [choices[1] for choices in examples["choices"]]


def _right_choices(examples: Examples) -> Sequence[str]:
    return [choices[right] for choices, right in zip(examples["choices"], examples["label"], strict=True)]


def choice_ratio(examples: Examples, convention: Convention = "script") -> FloatArray:
    """Tokens of the right choice over the mean of the others: above 1, the right one is the longer one."""
    flat = [choice for choices in examples["choices"] for choice in choices]
    counts = count_tokens(flat, examples.language, convention)
    sizes = np.fromiter(map(len, examples["choices"]), np.int64, len(examples))
    begins = np.cumsum(sizes) - sizes
    right = counts[begins + np.array(examples["label"], dtype=np.int64)]
    others = (np.add.reduceat(counts, begins) if len(begins) else begins.astype(np.float64)) - right
    return ratio(right, others / np.maximum(sizes - 1, 1))


def pair_overlap(examples: Examples) -> FloatArray:
    """Jaccard index of the two texts of a pair: of words, or of character trigrams where unspaced."""
    return overlaps(examples["text_a"], examples["text_b"], examples.language)


def similarity(examples: Examples, convention: Convention = "explainaboard") -> FloatArray:
    """ExplainaBoard's similarity: BLEU of the second text against the first, 0 to 100."""
    return 100 * bleus(examples["text_b"], examples["text_a"], examples.language, convention)


def choice_overlap(examples: Examples) -> FloatArray:
    """The same of a premise and the right choice."""
    return overlaps(examples["premise"], _right_choices(examples), examples.language)


def question(examples: Examples) -> StrArray:
    """Whether a cause or an effect is asked for."""
    return np.array(examples["question"], dtype=np.str_)


def negation(examples: Examples) -> StrArray:
    """Where a negating word stands: "no" for nowhere, else in the "first", the "second" or "both" of the texts."""
    return _negated(examples, first_texts(examples), examples["text_b"] if "text_b" in examples.columns else [])


def choice_negation(examples: Examples) -> StrArray:
    """The same of a choice: the premise is the first text, all choices together are the second."""
    return _negated(examples, examples["premise"], ["\n".join(choices) for choices in examples["choices"]])


def _negated(examples: Examples, first: Sequence[str], second: Sequence[str]) -> StrArray:
    negated = np.array(negates(first, examples.language), dtype=np.int64)
    if second:
        negated += 2 * np.array(negates(second, examples.language), dtype=np.int64)
    return np.array(["no", "first", "second", "both"])[negated]


def sentence_length(examples: Examples) -> FloatArray:
    """sLen: the tokens of a tagged sentence, as its annotators cut them."""
    return np.fromiter(map(len, examples["tokens"]), np.float64, len(examples))
