"""The rows of a cell in buckets, by attributes of the examples or of a system's answers, and the score of each bucket.

Attributes of answers (error type, confidence, rank of the first hit, outcome of a reply) depend on the system, so they
only appear in single-system analyses; they correlate with the score by definition, so they get no findings.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from isogloss.explain.attributes.lengths import spaced
from isogloss.explain.attributes.lexicon import plain
from isogloss.explain.attributes.needs import applies
from isogloss.explain.attributes.registry import CONFIDENCE, ERROR_TYPE, RANK, REPLY
from isogloss.explain.buckets import NONE, Binning, bucket_text
from isogloss.explain.cell_table import UNKNOWN_REPLY, CellTable
from isogloss.explain.model import Attribute, Bucket, StrArray
from isogloss.explain.selection import AttributeSelection
from isogloss.metrics.estimate import Estimate, estimate
from isogloss.metrics.statistics import IntArray, Statistics
from isogloss.reply_outcomes import Outcome
from isogloss.tasks.kinds import kind_of

# Bucket names of attributes of answers, in order.
RANKS = ("1", "2-5", "6-20", NONE)
RIGHT, PUNCTUATION, BOUNDARY = "right", "punctuation only", "wrong boundary"
SAME_TYPE, NO_OVERLAP, NO_ANSWER = "wrong span, right type", "no overlap", "no answer"
ERROR_TYPES = (RIGHT, PUNCTUATION, BOUNDARY, SAME_TYPE, NO_OVERLAP, NO_ANSWER)
# (task, attribute) -> binning for all languages of the task
SharedBinnings = Mapping[tuple[str, str], Binning]


@dataclass(frozen=True)
class BucketedRows:
    """Rows of a cell cut along one attribute: the buckets, and the bucket of every row."""

    attribute: Attribute
    buckets: list[Bucket]
    codes: IntArray

    def rows(self, bucket: int) -> npt.NDArray[np.bool_]:
        """Return a mask of the rows in a bucket."""
        inside: npt.NDArray[np.bool_] = self.codes == bucket
        return inside

    def heading(self, table: CellTable, metric: str) -> dict[str, Any]:
        """Return the fields of `BucketedAttribute`."""
        cell = {"task": table.task.id, "language": table.examples.language, "metric": metric}
        attribute = self.attribute
        return cell | {"attribute": attribute.name, "title": attribute.title, "discrete": attribute.discrete}


def bucketed_rows(
    table: CellTable, selection: AttributeSelection, shared: SharedBinnings | None = None
) -> list[BucketedRows]:
    """Cut the cell along every selected attribute, skipping constant ones."""
    cell = (table.task.kind, table.examples)
    cuts = [_cut(table, selection, attribute, shared) for attribute in selection.of(*cell)]
    for pair in selection.crosses_of(*cell):
        sides = [_cut(table, selection, attribute, shared) for attribute in pair]
        cuts.append(_crossed(table, *(side for side in sides if side is not None)))
    return [bucketed for bucketed in cuts if bucketed is not None and len(bucketed.buckets) > 1]


def _cut(
    table: CellTable, selection: AttributeSelection, attribute: Attribute, shared: SharedBinnings | None
) -> BucketedRows | None:
    """Cut the cell along one attribute; return None if it cannot be computed."""
    column = table.column(attribute)
    if column is None or not len(column):
        return None
    counted = column if table.counted is None else column[table.counted]
    binning = (shared or {}).get((table.task.id, attribute.name)) or selection.binning(attribute, counted)
    return BucketedRows(table.described(attribute), *binning.apply(column, table.counted))


def _crossed(table: CellTable, *sides: BucketedRows) -> BucketedRows | None:
    """Cut the cell along two attributes, with one bucket per non-empty pair of buckets."""
    if len(sides) < 2:
        return None
    first, second = sides
    used, codes = np.unique(first.codes * len(second.buckets) + second.codes, return_inverse=True)
    codes = codes.reshape(-1)
    sizes = np.bincount(codes if table.counted is None else codes[table.counted], minlength=len(used))
    buckets = []
    for pair, size in zip(used.tolist(), sizes.tolist(), strict=True):
        row, column = divmod(pair, len(second.buckets))
        name = f"{bucket_text(first.buckets[row])} · {bucket_text(second.buckets[column])}"
        buckets.append(Bucket(name, None, None, size))
    names = (f"{first.attribute.name}+{second.attribute.name}", f"{first.attribute.title} × {second.attribute.title}")
    return BucketedRows(Attribute(*names, discrete=True), buckets, codes)


def bucket_estimates(table: CellTable, statistics: Statistics, bucketed: BucketedRows) -> list[Estimate]:
    """Return the score of every bucket of an attribute, over the cell's sources.

    Any two of them can be compared source by source, within or between systems, even if they share examples (entities
    of one sentence).
    """
    of_rows = table.by_source(statistics)
    inside = (bucketed.rows(bucket) for bucket in range(len(bucketed.buckets)))
    return [estimate(of_rows.select(rows), size=table.source_count) for rows in inside]


def rows_by_answer(table: CellTable, selection: AttributeSelection, system: int = 0) -> list[BucketedRows]:
    """Cut a cell by a system's answers: rank of the first hit, error type, confidence, outcome of reading a reply."""
    cuts: list[BucketedRows] = []

    def wanted(attribute: Attribute) -> bool:
        return selection.includes(attribute) and applies(attribute, kind_of(table.task), table.examples)

    if wanted(RANK):
        cuts.append(BucketedRows(RANK, *Binning(values=RANKS).apply(ranks(table, system))))
    if wanted(ERROR_TYPE) and (types := error_types(table, system)) is not None:
        cuts.append(BucketedRows(ERROR_TYPE, *Binning(values=ERROR_TYPES).apply(types)))
    confidence = table.confidences[system] if table.confidences else None
    if wanted(CONFIDENCE) and confidence is not None:
        binning = selection.binning(CONFIDENCE, confidence)
        cuts.append(BucketedRows(CONFIDENCE, *binning.apply(confidence[table.row_example], table.counted)))
    outcomes = table.outcomes[system] if table.outcomes else None
    if wanted(REPLY) and outcomes is not None:
        named = Binning(values=(*(outcome.value for outcome in Outcome), UNKNOWN_REPLY))
        cuts.append(BucketedRows(REPLY, *named.apply(outcomes[table.row_example], table.counted)))
    return [bucketed for bucketed in cuts if len(bucketed.buckets) > 1]


def ranks(table: CellTable, system: int = 0) -> StrArray:
    """Return the rank bucket (`RANKS`) of the first target for each row."""
    upto = (1, 5, 20)
    codes = np.full(len(table.examples), len(upto))
    for row, (ranked, targets) in enumerate(zip(table.values[system], table.examples["targets"], strict=True)):
        hits = (rank for rank, candidate in enumerate((ranked or ())[: upto[-1]], 1) if candidate in targets)
        codes[row] = np.searchsorted(upto, next(hits, upto[-1] + 1))
    names: StrArray = np.array(RANKS)[codes]
    return names[table.row_example]


def error_types(table: CellTable, system: int = 0) -> StrArray | None:
    """Return the error type (`ERROR_TYPES`) of each answer, or None if the task has no exact match.

    The first match applies: "right", an exact match by the scorer's rule; "no answer", empty or only punctuation;
    "punctuation only", the letters and digits of a gold answer with other signs or blanks; "wrong boundary", a word in
    common with a gold answer (in an unsegmented script, one contains the other); "wrong span, right type", no overlap
    but the form of a gold answer (see `_sort`); else "no overlap".
    """
    metrics = table.metrics[system]
    if not {"em", "f1"} <= metrics.keys() or len(table.row_example) != len(table.examples):
        return None
    exact, shared = (metrics[name].rows[:, 0] > 0 for name in ("em", "f1"))
    predicted = [value or "" for value in table.values[system]]
    golds: Sequence[Sequence[str]] = table.examples["answers"]
    wrong = np.flatnonzero(~exact).tolist()
    # Each text without case, punctuation and blanks.
    texts = list(dict.fromkeys(text for row in wrong for text in (predicted[row], *golds[row])))
    letters = {text: "".join(words.split()) for text, words in zip(texts, plain(texts), strict=True)}
    within = not spaced(table.examples.language)

    def kind(row: int) -> str:
        own, theirs = letters[predicted[row]], [letters[gold] for gold in golds[row]]
        if not own:
            return NO_ANSWER
        if own in theirs:
            return PUNCTUATION
        if shared[row] or (within and any(own in gold or gold in own for gold in theirs if gold)):
            return BOUNDARY
        return SAME_TYPE if _sort(predicted[row]) in map(_sort, golds[row]) else NO_OVERLAP

    types = [RIGHT] * len(predicted)
    for row in wrong:
        types[row] = kind(row)
    return np.array(types, dtype=np.str_)


def _sort(text: str) -> str:
    """Classify an answer by its form: number or date with a digit, name in capitals, otherwise words."""
    if any(map(str.isdigit, text)):
        return "number"
    words = text.split()
    return "name" if words and words[0][0].isupper() and words[-1][0].isupper() else "words"
