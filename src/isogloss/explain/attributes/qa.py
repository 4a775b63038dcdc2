"""What can be said of a question, its context and its answer (XTREME-R paper, Appendix K.1, and a few more)."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from isogloss.explain.attributes.caching import cached_per_examples
from isogloss.explain.attributes.lengths import Convention, count_tokens, ratio
from isogloss.explain.attributes.lexicon import question_types
from isogloss.explain.attributes.overlap import bleus
from isogloss.tasks.examples import Examples

Numbers = npt.NDArray[np.float64]


def first_answers(examples: Examples) -> Sequence[str]:
    """The first gold answer of each question: it stands for all where there are several."""
    return [found[0] for found in examples["answers"]]


@cached_per_examples
def _length(examples: Examples, what: str, convention: Convention) -> Numbers:
    """Tokens of the (first) answer, of the question or of the context; ratios ask for them again."""
    texts = first_answers(examples) if what == "answers" else examples[what]
    counts = count_tokens(texts, examples.language, convention)
    counts.flags.writeable = False
    return counts


def answer_length(examples: Examples, convention: Convention = "script") -> Numbers:
    """aLen: tokens of the (first) gold answer."""
    return _length(examples, "answers", convention)


def question_length(examples: Examples, convention: Convention = "script") -> Numbers:
    """qLen: tokens of the question."""
    return _length(examples, "question", convention)


def context_length(examples: Examples, convention: Convention = "script") -> Numbers:
    """cLen: tokens of the context."""
    return _length(examples, "context", convention)


def answer_question_ratio(examples: Examples, convention: Convention = "script") -> Numbers:
    """Answer length over question length: aLen / qLen."""
    return ratio(answer_length(examples, convention), question_length(examples, convention))


def answer_context_ratio(examples: Examples, convention: Convention = "script") -> Numbers:
    """Answer length over context length: aLen / cLen."""
    return ratio(answer_length(examples, convention), context_length(examples, convention))


def question_context_ratio(examples: Examples, convention: Convention = "script") -> Numbers:
    """Question length over context length: qLen / cLen."""
    return ratio(question_length(examples, convention), context_length(examples, convention))


def answer_question_bleu(examples: Examples) -> Numbers:
    """BLEU-AQ: the (first) gold answer scored against the question, 0 to 1; see `overlap.bleu`."""
    return bleus(first_answers(examples), examples["question"], examples.language)


def question_context_bleu(examples: Examples) -> Numbers:
    """BLEU-QC: the question scored against the context, 0 to 1.

    A question is far shorter than its context, so the brevity penalty makes the figures tiny, as in the paper's
    Table 25; only their order matters.
    """
    return bleus(examples["question"], examples["context"], examples.language)


def question_type(examples: Examples) -> npt.NDArray[np.str_]:
    """qType: what is asked for, by the first interrogative of the question in its own language."""
    return np.array(question_types(examples["question"], examples.language), dtype=np.str_)


def answer_position(examples: Examples) -> Numbers:
    """Where the (first) gold answer begins: its character offset over the length of the context, 0 to 1."""
    starts = np.array([found[0] for found in examples["answer_starts"]], dtype=np.float64)
    lengths = np.fromiter(map(len, examples["context"]), np.float64, len(examples))
    return ratio(starts, lengths)


def answers(examples: Examples) -> Numbers:
    """How many different gold answers the question has."""
    return np.array([len(set(found)) for found in examples["answers"]], dtype=np.float64)
