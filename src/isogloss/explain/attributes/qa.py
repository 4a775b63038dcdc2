"""What can be said of a question, its context and its answer (XTREME-R paper, Appendix K.1, and a few more)."""

from collections.abc import Sequence

import numpy as np

from isogloss.explain.attributes.lengths import ratio
from isogloss.explain.attributes.lexicon import question_types
from isogloss.explain.attributes.overlap import bleus
from isogloss.explain.model import StrArray
from isogloss.metrics.statistics import FloatArray
from isogloss.tasks.examples import Examples


def first_answers(examples: Examples) -> Sequence[str]:
    """The first gold answer of each question: it stands for all where there are several."""
    return [answers[0] for answers in examples["answers"]]


def answer_question_bleu(examples: Examples) -> FloatArray:
    """BLEU-AQ: the (first) gold answer scored against the question, 0 to 1; see `overlap.token_bleus`."""
    return bleus(first_answers(examples), examples["question"], examples.language)


def question_context_bleu(examples: Examples) -> FloatArray:
    """BLEU-QC: the question scored against the context, 0 to 1.

    A question is far shorter than its context, so the brevity penalty makes the figures tiny, as in the paper's
    Table 25; only their order matters.
    """
    return bleus(examples["question"], examples["context"], examples.language)


def question_type(examples: Examples) -> StrArray:
    """qType: what is asked for, by the first interrogative of the question in its own language."""
    return np.array(question_types(examples["question"], examples.language), dtype=np.str_)


def answer_position(examples: Examples) -> FloatArray:
    """Where the (first) gold answer begins: its character offset over the length of the context, 0 to 1."""
    starts = np.array([starts[0] for starts in examples["answer_starts"]], dtype=np.float64)
    lengths = np.fromiter(map(len, examples["context"]), np.float64, len(examples))
    return ratio(starts, lengths)


def answer_count(examples: Examples) -> FloatArray:
    """How many different gold answers the question has."""
    return np.array([len(set(answers)) for answers in examples["answers"]], dtype=np.float64)
