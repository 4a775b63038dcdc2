"""Attributes of questions, contexts and answers (XTREME-R paper, Appendix K.1, and a few more)."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from isogloss.explain.attributes.lengths import REFERENCES, Convention, cutter, ratio
from isogloss.explain.attributes.lexicon import OTHER, question_types
from isogloss.explain.model import StrArray
from isogloss.metrics.statistics import FloatArray
from isogloss.tasks.examples import Examples

# Question types in the paper.
_FREQUENT = 5


def first_answers(examples: Examples) -> Sequence[str]:
    """Return the first gold answer of each question, used if there are several."""
    return [answers[0] for answers in examples["answers"]]


def question_type(examples: Examples, convention: Convention = "script") -> StrArray:
    """Return qType: the question type by the first interrogative, in the question's language.

    The paper uses the first token: the five most frequent of a cell, and "other".
    """
    if convention in REFERENCES:
        cut = cutter(examples.language, convention)
        first = [next(iter(cut(text.lower())), "") for text in examples["question"]]
        often = Counter(first)
        frequent = sorted(often, key=lambda token: (-often[token], token))[:_FREQUENT]
        return np.array([token if token in frequent else OTHER for token in first], dtype=np.str_)
    return np.array(question_types(examples["question"], examples.language), dtype=np.str_)


def answer_position(examples: Examples) -> FloatArray:
    """Return the relative position of the first gold answer: its character offset over the context length, 0 to 1."""
    starts = np.array([starts[0] for starts in examples["answer_starts"]], dtype=np.float64)
    lengths = np.fromiter(map(len, examples["context"]), np.float64, len(examples))
    return ratio(starts, lengths)
