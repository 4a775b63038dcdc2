"""What can be said of a system's answers: how a wrong one is wrong, and how sure the system was.

Such attributes depend on the system, so they stand in the analysis of one system alone; that they go with its score is
no finding.
"""

from collections.abc import Callable, Sequence

import numpy as np

from isogloss.explain.attributes.answers import CONFIDENCE, ERROR_TYPE, RANK
from isogloss.explain.attributes.lengths import spaced
from isogloss.explain.attributes.lexicon import plain
from isogloss.explain.buckets import NONE, Binning
from isogloss.explain.cell_table import CellTable
from isogloss.explain.measure import BucketedRows
from isogloss.explain.model import Attribute, StrArray
from isogloss.explain.selection import AttributeSelection

# The buckets of the attributes that have names for them, in order.
RANKS = ("1", "2-5", "6-20", NONE)
RIGHT, PUNCTUATION, BOUNDARY = "right", "punctuation only", "wrong boundary"
SAME_TYPE, NO_OVERLAP, NO_ANSWER = "wrong span, right type", "no overlap", "no answer"
ERROR_TYPES = (RIGHT, PUNCTUATION, BOUNDARY, SAME_TYPE, NO_OVERLAP, NO_ANSWER)


def rows_by_answer(table: CellTable, selection: AttributeSelection, system: int = 0) -> list[BucketedRows]:
    """A cell cut by what a system answered: the rank of the first hit, how an answer is wrong, how sure it was.

    Such buckets go with the score by definition, so no sentence is due about them: it would be true of any system.
    """
    makers: dict[Attribute, Callable[[], BucketedRows | None]] = {
        RANK: lambda: _named(RANK, RANKS, ranks(table, system)),
        ERROR_TYPE: lambda: _named(ERROR_TYPE, ERROR_TYPES, error_types(table, system)),
        CONFIDENCE: lambda: _by_confidence(table, selection, system),
    }
    selected = selection.of(table.task.kind, table.examples)
    found = [make() for attribute, make in makers.items() if attribute in selected]
    return [bucketed for bucketed in found if bucketed is not None and len(bucketed.buckets) > 1]


def _named(attribute: Attribute, names: tuple[str, ...], column: StrArray | None) -> BucketedRows | None:
    return None if column is None else BucketedRows(attribute, *Binning(values=names).apply(column))


def _by_confidence(table: CellTable, selection: AttributeSelection, system: int) -> BucketedRows | None:
    confidence = table.confidences[system] if table.confidences else None
    if confidence is None:
        return None
    binning = selection.binning(CONFIDENCE, confidence)
    return BucketedRows(CONFIDENCE, *binning.apply(confidence[table.row_example], table.counted))


def ranks(table: CellTable, system: int = 0) -> StrArray:
    """For each row, where in a system's ranking the first target stands: one of `RANKS`."""
    upto = (1, 5, 20)
    found = np.full(len(table.examples), len(upto))
    for row, (ranked, targets) in enumerate(zip(table.values[system], table.examples["targets"], strict=True)):
        hits = (place for place, one in enumerate((ranked or ())[: upto[-1]], 1) if one in targets)
        found[row] = np.searchsorted(upto, next(hits, upto[-1] + 1))
    names: StrArray = np.array(RANKS)[found]
    return names[table.row_example]


def error_types(table: CellTable, system: int = 0) -> StrArray | None:
    """For each question, how a system's answer is wrong (`ERROR_TYPES`); None where answers have no exact match.

    The first that holds: "right", an exact match by the rule of the scorer; "no answer", none, or nothing but
    punctuation; "punctuation only", the letters and digits of a gold answer, with other signs or blanks between them;
    "wrong boundary", a word in common with one (in an unsegmented script, one within the other); "wrong span, right
    type", nothing in common, but of the same sort as one by its looks (see `_sort`); else "no overlap".
    """
    metrics = table.metrics[system]
    if not {"em", "f1"} <= metrics.keys() or len(table.row_example) != len(table.examples):
        return None
    exact, shared = (metrics[name].rows[:, 0] > 0 for name in ("em", "f1"))
    said = [value or "" for value in table.values[system]]
    golds: Sequence[Sequence[str]] = table.examples["answers"]
    wrong = np.flatnonzero(~exact).tolist()
    letters = _letters([text for row in wrong for text in (said[row], *golds[row])])
    within = not spaced(table.examples.language)

    def kind(row: int) -> str:
        own, theirs = letters[said[row]], [letters[gold] for gold in golds[row]]
        if not own:
            return NO_ANSWER
        if own in theirs:
            return PUNCTUATION
        if shared[row] or (within and any(own in gold or gold in own for gold in theirs if gold)):
            return BOUNDARY
        return SAME_TYPE if _sort(said[row]) in map(_sort, golds[row]) else NO_OVERLAP

    found = [RIGHT] * len(said)
    for row in wrong:
        found[row] = kind(row)
    return np.array(found, dtype=np.str_)


def _letters(texts: Sequence[str]) -> dict[str, str]:
    """Each text without case, punctuation and blanks."""
    distinct = list(dict.fromkeys(texts))
    return {text: "".join(words.split()) for text, words in zip(distinct, plain(distinct), strict=True)}


def _sort(text: str) -> str:
    """What an answer is by its looks: with a digit a number or a date, between capitals a name, else words."""
    if any(map(str.isdigit, text)):
        return "number"
    words = text.split()
    return "name" if words and words[0][0].isupper() and words[-1][0].isupper() else "words"
