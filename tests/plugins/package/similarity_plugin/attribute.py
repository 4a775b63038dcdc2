"""An attribute: a property of every example, by which scores are broken down."""

import numpy as np
import numpy.typing as npt

from isogloss.explain.model import Attribute
from isogloss.tasks import Examples


def shared_words(examples: Examples) -> npt.NDArray[np.float64]:
    """Return the number of words that the two sentences of a pair share."""
    pairs = zip(examples["text_a"], examples["text_b"], strict=True)
    return np.array([len({*first.split()} & {*second.split()}) for first, second in pairs], dtype=np.float64)


SHARED_WORDS = Attribute(
    "sharedWords",
    "words that both sentences have",
    needs=("text_a", "text_b"),  # available for every kind of task with these columns
    discrete=False,
    values=shared_words,
)
