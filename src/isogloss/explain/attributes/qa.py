"""What can be said of a question, its context and its answer (XTREME-R paper, Appendix K.1, and a few more)."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from isogloss.explain.attributes.bleu import bleus
from isogloss.explain.attributes.lengths import REFERENCES, Convention, cutter, ratio
from isogloss.explain.attributes.lexicon import OTHER, question_types
from isogloss.explain.model import StrArray
from isogloss.metrics.statistics import FloatArray
from isogloss.tasks.examples import Examples

# The question types that the paper tells apart.
_FREQUENT = 5


def first_answers(examples: Examples) -> Sequence[str]:
    """The first gold answer of each question: it stands for all where there are several."""
    return [answers[0] for answers in examples["answers"]]


def answer_question_bleu(examples: Examples, convention: Convention = "script") -> FloatArray:
    """BLEU-AQ: the (first) gold answer scored against the question, 0 to 1; see `bleu.bleus`."""
    return bleus(first_answers(examples), examples["question"], examples.language, convention)


def question_context_bleu(examples: Examples, convention: Convention = "script") -> FloatArray:
    """BLEU-QC: the question scored against the context, 0 to 1.

    A question is far shorter than its context, so the brevity penalty makes the figures tiny, as in the paper's
    Table 25; only their order matters.
    """
    return bleus(examples["question"], examples["context"], examples.language, convention)


def question_type(examples: Examples, convention: Convention = "script") -> StrArray:
    """qType: what is asked for, by the first interrogative of the question in its own language.

    The paper's is the first token, whatever it is: the five most frequent of a cell, and "other".
    """
    if convention in REFERENCES:
        cut = cutter(examples.language, convention)
        first = [next(iter(cut(text.lower())), "") for text in examples["question"]]
        often = Counter(first)
        frequent = sorted(often, key=lambda token: (-often[token], token))[:_FREQUENT]
        return np.array([token if token in frequent else OTHER for token in first], dtype=np.str_)
    return np.array(question_types(examples["question"], examples.language), dtype=np.str_)


def answer_position(examples: Examples) -> FloatArray:
    """Where the (first) gold answer begins: its character offset over the length of the context, 0 to 1."""
    starts = np.array([starts[0] for starts in examples["answer_starts"]], dtype=np.float64)
    lengths = np.fromiter(map(len, examples["context"]), np.float64, len(examples))
    return ratio(starts, lengths)


def answer_count(examples: Examples) -> FloatArray:
    """How many different gold answers the question has."""
    return np.array([len(set(answers)) for answers in examples["answers"]], dtype=np.float64)
